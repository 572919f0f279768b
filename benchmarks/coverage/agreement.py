"""Does the judge find covered what people find covered? Sub-questions against answers and passages.

    python -m benchmarks.coverage.agreement

1. The published human judgments of two answer engines (Xie et al., NAACL 2025): does the answer answer the sub-question, and
   which fragment does? At the shipped threshold; with a threshold fitted on the other half of the sub-questions (averaged
   over 20 ways to halve them); against the majority and the highest cosine of the embedding over two-sentence windows.
   Published for GPT-4 on the whole set: 83% agreement.
2. Where: does the located fragment overlap the one that people marked, against a random two-sentence window and the one that
   shares most words with the sub-question?
3. The demo's labels: every sub-question against every passage of the demo's corpus and against both answers. Written for
   this project; where judge.json says that the judge's last numbers were fitted on them, so does the table.

Intervals are bootstraps over sub-questions (1, 2) and over questions (3).

Data: shared folder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import lines, sample
from benchmarks.support.judges import about_judge, highest_cosines, overlap, two_sentence_windows
from benchmarks.support.scores import accuracy, auc, counts, cross_fitted, estimate, f1, kappa, precision, ratio, recall
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover import demo, open_locator, open_scorer
from rag_cover.backends import Embedder, Locator, Scorer, ScoringItem, Span, reply_threshold_of
from rag_cover.stores import read_traces

ENGINES = ("You.com", "Perplexity.ai")
_BRACKET = re.compile(r"[\[\]]")


@dataclass(frozen=True, slots=True)
class Case:
    """One judgment made by people: ``marked`` is where they saw the answer, ``key`` what is resampled as one."""

    item: ScoringItem
    covered: bool
    key: str
    marked: tuple[Span, ...] = ()


def unmarked(text: str) -> tuple[str, tuple[Span, ...]]:
    """Take the brackets out of a text and tell where they stood.

    >>> unmarked("Yes. [It is.] So [it] goes")
    ('Yes. It is. So it goes', (Span(start=5, end=11), Span(start=15, end=17)))
    """
    places = [match.start() - before for before, match in enumerate(_BRACKET.finditer(text))]
    return _BRACKET.sub("", text), tuple(Span(a, b) for a, b in zip(places[::2], places[1::2], strict=True))


def published_cases(data: Path) -> list[Case]:
    """Read the published judgments."""
    found = []
    for row in lines(data / "coverage/answerability_part.jsonl"):
        for engine in ENGINES:
            text, marked = unmarked(row[engine])
            item = ScoringItem(row["sub_question"], text, user_question=row["sub_question"])
            found.append(Case(item, row[f"{engine}-judgment"] == "answered", row["sub_question"], marked))
    return found


def demo_cases(limit: int | None, seed: int) -> dict[str, list[Case]]:
    """Read the demo's labels: of passages and of answers."""
    labels = sample(list(lines(demo.labels_path())), limit, seed)
    corpus = {row["id"]: row["text"] for row in lines(demo.corpus_path())}
    answers = {(t.pipeline, t.question.id): t.answer for path in demo.trace_paths() for t in read_traces(path)}
    asked = {t.question.id: t.question.text for path in demo.trace_paths() for t in read_traces(path)}
    passages = [
        Case(ScoringItem(row["sub_question"], text), name in row["passages"], row["question_id"])
        for row in labels
        for name, text in corpus.items()
    ]
    answered = [
        Case(
            ScoringItem(
                row["sub_question"], answers[pipeline, row["question_id"]] or "", user_question=asked[row["question_id"]]
            ),
            covered,
            row["question_id"],
        )
        for row in labels
        for pipeline, covered in row["answers"].items()
    ]
    return {"passages": passages, "answers": answered}


def show_published(cases: Sequence[Case], judge: Scorer, embedder: Embedder, seed: int) -> None:
    """Print how well verdicts agree with the published ones."""
    truth, keys = np.array([case.covered for case in cases]), [case.key for case in cases]
    probabilities = judge.correctness([case.item for case in cases]).astype(np.float64)
    cosines = highest_cosines(embedder, [(case.item.question, case.item.text) for case in cases])
    shares = np.array([overlap(case.item.question, case.item.text) for case in cases])
    majority = np.full(len(cases), float(truth.mean() >= 0.5))  # noqa: PLR2004  # a half
    verdicts = {
        f"judge, shipped threshold {reply_threshold_of(judge):g}": (probabilities, probabilities >= reply_threshold_of(judge)),
        "judge, cross-fitted threshold": (probabilities, cross_fitted(probabilities, truth, keys, seed=seed)),
        "cosine of two sentences, cross-fitted": (cosines, cross_fitted(cosines, truth, keys, seed=seed)),
        "share of words found, cross-fitted": (shares, cross_fitted(shares, truth, keys, seed=seed)),
        "majority": (majority, majority),
    }
    rows = []
    for name, (scores, said) in verdicts.items():
        found = counts(said, truth)
        agreement, agreed = (estimate(found, keys, each, seed=seed) for each in (accuracy, kappa))
        area = auc(scores, truth, keys, seed=seed)
        rows.append([name, percent(agreement), plain(agreed), plain(area), f"{np.mean(said):.1%}"])
    title = f"Published judgments: n = {len(cases)} of {len(set(keys))} sub-questions, {truth.mean():.1%} answered"
    show(title, ["judge", "accuracy %", "kappa", "ROC-AUC", "says answered"], rows)


def show_fragments(cases: Sequence[Case], locator: Locator, seed: int) -> None:
    """Print how often the located fragment is the one that people marked."""
    marked = [case for case in cases if case.marked]
    located = locator.locate([case.item for case in marked])
    both = [(case, [span]) for case, span in zip(marked, located, strict=True) if span is not None]
    keys = [case.key for case, _ in both]
    windows = [(case, two_sentence_windows(case.item.text)) for case, _ in both]
    chosen = {
        "located by the judge": both,
        "two sentences with most shared words": [(case, [_likest(case, found)]) for case, found in windows],
        "two sentences at random": windows,
    }
    rows = []
    for name, found in chosen.items():
        hits = np.array([np.mean([_meets(span, case.marked) for span in spans]) for case, spans in found])
        length = np.mean([np.mean([len(span.of(case.item.text).split()) for span in spans]) for case, spans in found])
        rows.append([name, percent(estimate(_shares(hits), keys, _mean, seed=seed)), f"{length:.0f}"])
    title = f"Fragments: n = {len(both)} answers where both people ({len(marked)}) and the judge found one"
    show(title, ["fragment", "overlaps the marked one %", "mean words"], rows)


def show_demo(name: str, cases: Sequence[Case], judge: Scorer, note: str, seed: int) -> None:
    """Print how well verdicts agree with the demo's labels."""
    truth, keys = np.array([case.covered for case in cases]), [case.key for case in cases]
    probabilities = judge.correctness([case.item for case in cases]).astype(np.float64)
    found = counts(probabilities >= judge.threshold, truth)
    scores = [percent(estimate(found, keys, each, seed=seed)) for each in (precision, recall, f1, accuracy)]
    kappas, area = plain(estimate(found, keys, kappa, seed=seed)), plain(auc(probabilities, truth, keys, seed=seed))
    sizes = f"n = {len(cases)} of {len(set(keys))} questions, {truth.mean():.1%} covered"
    title = f"Demo {name}: {sizes}, threshold {judge.threshold:g}{note}"
    show(title, ["precision %", "recall %", "F1 %", "agreement %", "kappa", "ROC-AUC"], [[*scores, kappas, area]])


def _likest(case: Case, windows: Sequence[Span]) -> Span:
    return max(windows, key=lambda span: overlap(case.item.question, span.of(case.item.text)))


def _meets(span: Span, marked: Sequence[Span]) -> bool:
    return any(span.start < each.end and each.start < span.end for each in marked)


def _shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([values, np.ones_like(values)], axis=1)


def _mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return ratio(sums[..., 0], sums[..., 1])


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    judge, locator = open_scorer(options.judge), open_locator(options.judge)
    cases = sample(published_cases(options.data), options.limit, options.seed)
    if isinstance(judge, Embedder):
        show_published(cases, judge, judge, options.seed)
    show_fragments(cases, locator, options.seed)
    note = " (used to fit the judge)" if "demo" in str(about_judge(options.judge)) else ""
    for name, found in demo_cases(options.limit, options.seed).items():
        show_demo(name, found, judge, note, options.seed)


if __name__ == "__main__":
    main()
