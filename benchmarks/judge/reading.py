"""Does the judge know when a passage does not answer, and where it does? SQuAD 2.0.

    python -m benchmarks.judge.reading

Test articles (title in buckets 80-99) of ``reading/squad2_dev_part.json``, each question against its own paragraph: half of
them look answerable and are not.

1. Answerable or not: balanced accuracy at the shipped threshold and with a threshold fitted on the other half of the
   paragraphs (averaged over 20 ways to halve them), and ROC-AUC; 50 is what guessing gives. Beside it the share of the
   question's words that the paragraph repeats.
2. Where: the share of answerable questions whose located fragment holds a gold answer; a question without a fragment counts as
   a miss in the first column and is left out in the second. Against the sentence that shares most words with the question,
   and a random one.

Intervals are bootstraps over paragraphs.

Data: shared folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import sample, squad_articles
from benchmarks.support.judges import overlap
from benchmarks.support.scores import accuracy, auc, balanced_accuracy, counts, cross_fitted, estimate, ratio
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover import open_locator, open_scorer
from rag_cover.backends import Locator, Scorer, ScoringItem, Span
from rag_cover.texts import sentences

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reading:
    """A question with its paragraph, and where its gold answers stand; none where it cannot be answered."""

    item: ScoringItem
    answers: tuple[Span, ...]


def readings(data: Path) -> list[Reading]:
    """Read the questions of the test articles."""
    return [
        Reading(
            ScoringItem(question["question"].strip(), paragraph["context"]),
            ()
            if question["is_impossible"]
            else tuple(Span(each["answer_start"], each["answer_start"] + len(each["text"])) for each in question["answers"]),
        )
        for article in squad_articles(data, "test")
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]


def show_answerable(found: Sequence[Reading], judge: Scorer, seed: int) -> None:
    """Print how well the judge tells answerable questions from the others."""
    truth, keys = np.array([bool(each.answers) for each in found]), [each.item.text for each in found]
    probabilities = judge.correctness([each.item for each in found]).astype(np.float64)
    words = np.array([overlap(each.item.question, each.item.text) for each in found])
    verdicts = {
        f"judge, shipped threshold {judge.threshold:g}": (probabilities, probabilities >= judge.threshold),
        "judge, cross-fitted threshold": (probabilities, cross_fitted(probabilities, truth, keys, seed=seed)),
        "share of words found, cross-fitted": (words, cross_fitted(words, truth, keys, seed=seed)),
        "always answerable": (np.ones(len(found)), np.ones(len(found))),
    }
    rows = []
    for name, (scores, said) in verdicts.items():
        right = [percent(estimate(counts(said, truth), keys, each, seed=seed)) for each in (balanced_accuracy, accuracy)]
        rows.append([name, *right, plain(auc(scores, truth, keys, seed=seed))])
    title = f"Answerable: n = {len(found)} questions of {len(set(keys))} paragraphs, {truth.mean():.1%} answerable"
    show(title, ["judge", "balanced accuracy %", "accuracy %", "ROC-AUC"], rows)


def show_places(found: Sequence[Reading], locator: Locator, seed: int) -> None:
    """Print how often the located fragment holds the answer."""
    answerable = [each for each in found if each.answers]
    located = locator.locate([each.item for each in answerable])
    cut = [sentences(each.item.text) for each in answerable]
    chosen = {
        "located by the judge": [[span] if span else [] for span in located],
        "sentence with most shared words": [[_likest(each, spans)] for each, spans in zip(answerable, cut, strict=True)],
        "sentence at random": cut,
    }
    keys = [each.item.text for each in answerable]
    rows = []
    for name, fragments in chosen.items():
        right = np.array([_share_holding(spans, each.answers) for each, spans in zip(answerable, fragments, strict=True)])
        there = np.array([bool(spans) for spans in fragments], dtype=np.float64)
        everywhere, where_located = (np.stack([right, n], axis=1) for n in (np.ones_like(right), there))
        shares = [percent(estimate(sums, keys, _mean, seed=seed)) for sums in (everywhere, where_located)]
        texts = [span.of(each.item.text) for each, spans in zip(answerable, fragments, strict=True) for span in spans]
        words = np.mean([len(text.split()) for text in texts])
        rows.append([name, *shares, f"{words:.0f}"])
    title = f"Where: n = {len(answerable)} answerable questions of {len(set(keys))} paragraphs"
    show(title, ["fragment", "holds a gold answer %", "of those with a fragment %", "mean words"], rows)


def _share_holding(spans: Sequence[Span], answers: Sequence[Span]) -> float:
    held = [any(span.start <= each.start and each.end <= span.end for each in answers) for span in spans]
    return float(np.mean(held)) if held else 0.0


def _likest(reading: Reading, spans: Sequence[Span]) -> Span:
    return max(spans, key=lambda span: overlap(reading.item.question, span.of(reading.item.text)))


def _mean(sums: Floats) -> Floats:
    return ratio(sums[..., 0], sums[..., 1])


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    found = sample(readings(options.data), options.limit, options.seed)
    show_answerable(found, open_scorer(options.judge), options.seed)
    show_places(found, open_locator(options.judge), options.seed)


if __name__ == "__main__":
    main()
