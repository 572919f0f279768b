"""Whole cases of retrieval-augmented generation: does a text answer a sub-question, and do the passages support a sentence?

    python -m benchmarks.judge.case_sets                                                   # the held-out cases, in two files
    python -m benchmarks.judge.case_sets --cases benchmarks/judge/probes/fourth/cases.jsonl

The form of a case stands in ``plugins/rag_cover_embedded/training/texts/README.md``. Every passage and every reply is asked
every sub-question of its case; passages of at most 45 words and replies of more than 100 are counted apart. Every sentence of a
reply is judged as groundedness judges an answer of that one sentence; sentences that claim nothing are left out. Beside the
judge stand shared words. Held-out cases have no part in the weights, but calibrations are fitted on them: shares of right
verdicts flatter, areas under curves do not. Intervals are bootstraps over cases.

Data: none (texts written for training, probes).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.support.datasets import lines
from benchmarks.support.judges import overlap
from benchmarks.support.scores import accuracy, auc, counts, estimate
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover import Passage, Question, Trace, open_entailer, open_scorer
from rag_cover.backends import Entailer, Scorer, ScoringItem, reply_threshold_of
from rag_cover.grounding import groundedness
from rag_cover_embedded.training.crossed import TEXTS, is_held_out

HELD = ("cases.jsonl", "near_cases.jsonl")
SHORT_PASSAGE, LONG_REPLY = 45, 100
"""Words."""


class Asked(NamedTuple):
    """A text asked a sub-question of its case."""

    kind: str
    item: ScoringItem
    covered: bool
    case: str


def main() -> None:
    """Measure."""
    parser = arguments(__doc__)
    parser.add_argument("--cases", type=Path, nargs="+", help="files of cases (default: the held-out training cases)")
    options = parser.parse_args()
    found = {str(path): list(lines(path)) for path in options.cases or ()} or {
        name: [case for case in lines(TEXTS / name) if is_held_out(case["domain"])] for name in HELD
    }
    for name, cases in found.items():
        show_texts(name, cases, open_scorer(options.judge), options.seed)
        show_claims(name, cases, open_entailer(options.judge), options.seed)


def show_texts(name: str, cases: Sequence[Mapping[str, Any]], scorer: Scorer, seed: int) -> None:
    """Print how well texts that answer are told from others."""
    kinds: dict[str, list[Asked]] = defaultdict(list)
    for each in (each for case in cases for each in ask_texts(case)):
        kinds[each.kind].append(each)
    table = []
    for kind, asked in sorted(kinds.items()):
        items, keys = [each.item for each in asked], [each.case for each in asked]
        truth = np.array([each.covered for each in asked])
        scores = scorer.correctness(items).astype(np.float64)
        cut = reply_threshold_of(scorer) if items[0].user_question else scorer.threshold
        said = scores >= cut
        words = np.array([overlap(item.question, item.text) for item in items])
        table.append(
            [
                kind,
                f"{len(items):,}",
                f"{truth.mean():.0%}",
                plain(auc(scores, truth, keys, seed=seed)),
                plain(auc(words, truth, keys, seed=seed)),
                percent(estimate(counts(said, truth), keys, accuracy, seed=seed)),
                f"{said[truth].mean():.1%}",
                f"{(~said)[~truth].mean():.1%}",
            ]
        )
    header = ["texts", "n", "that answer", "ROC-AUC", "of shared words", "right %", "recall", "specificity"]
    show(f"{name}: does the text answer? {len(cases)} cases", header, table)


def ask_texts(case: Mapping[str, Any]) -> Iterator[Asked]:
    """Ask every text of a case every sub-question."""
    for part in ("passages", "answers"):
        for text in case[part]:
            length = len(text["text"].split())
            if part == "passages":
                kind, user_question = ("short passages" if length <= SHORT_PASSAGE else "passages"), ""
            else:
                kind, user_question = ("long replies" if length > LONG_REPLY else "replies"), case["question"]
            for name, question in case["subs"].items():
                item = ScoringItem(question, text["text"], user_question=user_question)
                yield Asked(kind, item, name in text["covers"], case["question"])


def show_claims(name: str, cases: Sequence[Mapping[str, Any]], entailer: Entailer, seed: int) -> None:
    """Print how well supported sentences are told from others."""
    stated = [(case, sentence) for case in cases for reply in case["answers"] for sentence in reply["sentences"]]
    results = groundedness([_as_trace(case, sentence["text"]) for case, sentence in stated], entailer)
    found = [(*each, result.sentences) for each, result in zip(stated, results, strict=True) if result.sentences]
    scores = np.array([min(part.probability for part in parts) for _, _, parts in found])
    truth = np.array([sentence["label"] == "supported" for _, sentence, _ in found])
    keys = [case["question"] for case, _, _ in found]
    words = np.array([overlap(sentence["text"], _joined(case)) for case, sentence, _ in found])
    said = scores >= 0.5  # noqa: PLR2004  # the default threshold of groundedness
    table = [
        [
            f"{len(found):,}",
            f"{truth.mean():.0%}",
            plain(auc(scores, truth, keys, seed=seed)),
            plain(auc(words, truth, keys, seed=seed)),
            f"{said[truth].mean():.1%}",
            f"{said[~truth].mean():.1%}",
        ]
    ]
    header = ["sentences", "supported", "ROC-AUC", "of shared words", "supported, passed", "others, passed"]
    show(f"{name}: do the passages support the sentences of replies?", header, table)


def _as_trace(case: Mapping[str, Any], answer: str) -> Trace:
    prompt = tuple(Passage(each["text"]) for each in case["passages"])
    return Trace(question=Question(case["question"]), answer=answer, prompt=prompt)


def _joined(case: Mapping[str, Any]) -> str:
    return "\n".join(passage["text"] for passage in case["passages"])


if __name__ == "__main__":
    main()
