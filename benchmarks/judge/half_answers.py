"""Does an answer to one part of a question count as an answer to the other part?

    python -m benchmarks.judge.half_answers

Pairs of sub-questions of one domain from the crossed texts are put into one question ("Why …, and when …?"), with an answer to
the first of them in four forms: short, in the question's words, in other words, as a list. The first sub-question is answered,
the second is not. Their cells had part in training, one by one; the pairs had none. Beside the judge stand its reading with
the user's question alone, which counted before, and whether the answer has half of the sub-question's words.

*Answers of pipelines to sub-questions* are people's labels of real answers (the published sheet, the demo, and three trials).

Intervals: jackknife over domains, and over questions.

Data: shared folder.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.judge.cascade import Labelled, answers_in_parts
from benchmarks.support.datasets import lines
from benchmarks.support.scores import accuracy, by_cluster, counts, recall
from benchmarks.support.tables import arguments, percent, show
from rag_cover.backends import ScoringItem
from rag_cover.stats.intervals import jackknife_share
from rag_cover_embedded.judge import EmbeddedJudge

_FORMS = ("answer_short", "answer_shared", "answer_other", "answer_list")
_HALF = 0.5


def halves(data: Path, seed: int) -> Iterator[Labelled]:
    """Put sub-questions of one domain in pairs, each with an answer to the first."""
    domains: defaultdict[str, list[dict[str, str | dict[str, str]]]] = defaultdict(list)
    for row in lines(data / "judge/crossed_seed.jsonl"):
        domains[row["domain"]].append(row)
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    for domain, rows in domains.items():
        rng.shuffle(rows)
        for first, second in zip(rows[::2], rows[1::2], strict=False):
            one, other, cells = str(first["question"]), str(second["question"]), dict(first["cells"])
            asked = f"{one.rstrip('?')}, and {other[:1].lower()}{other[1:]}"
            for form in _FORMS:
                yield ScoringItem(one, cells[form], user_question=asked), True, domain
                yield ScoringItem(other, cells[form], user_question=asked), False, domain


def _read_once(items: Sequence[ScoringItem], judge: EmbeddedJudge) -> NDArray[np.float64]:
    asked = [(item.question, item.text, item.user_question) for item in items]
    return np.array([found.probability for found in judge._answers.judge_once(asked)])  # noqa: SLF001  # half of what it does


def _shares_words(item: ScoringItem) -> bool:
    asked, said = (set(re.findall(r"\w+", text.lower())) for text in (item.question, item.text))
    return len(asked & said) >= _HALF * len(asked)


def _scores(said: NDArray[np.bool_], truth: NDArray[np.bool_], owners: Sequence[str]) -> list[str]:
    found = counts(said, truth)
    right = jackknife_share(by_cluster(found, owners), accuracy)
    answered = jackknife_share(by_cluster(found, owners), recall)
    turned = jackknife_share(by_cluster(counts(~said, ~truth), owners), recall)
    return [percent(right), percent(answered), percent(turned)]


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    judge = EmbeddedJudge()
    sets = {
        "Half answers": list(halves(options.data, options.seed)),
        "Answers of pipelines": list(answers_in_parts(options.data)),
    }
    for title, cases in sets.items():
        items, truth = [item for item, *_ in cases], np.array([bool(label) for _, label, _ in cases])
        owners = [owner for *_, owner in cases]
        ways = {
            "the judge": judge.correctness(items) >= judge.reply_threshold,
            "with the user's question alone": _read_once(items, judge) >= judge.reply_threshold,
            "half of the words": np.array([_shares_words(item) for item in items]),
        }
        rows = [[way, *_scores(np.asarray(said), truth, owners)] for way, said in ways.items()]
        show(f"{title}: n = {len(items):,}", ["by", "right, %", "of the answered, %", "of the others, %"], rows)


if __name__ == "__main__":
    main()
