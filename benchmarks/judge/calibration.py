"""Do the judge's probabilities mean what they say? Expected calibration error of every head, on data it never saw.

    python -m benchmarks.judge.calibration

ECE: probabilities are put into ten bins of equal width; the mean distance between a bin's mean probability and its share of
positives, weighted by the bin's size (Naeini et al., 2015). Beside it the Brier score, and that of always saying the share of
positives.

- *correctness*: EVOUNA-NQ, test buckets, all systems; and SAS NQ without the middle label.
- *entailment*: P(entailment) of the 3-way rows of the NLI file, test buckets, each source counted alike.
- *answers*: NQ questions (QED, test buckets) with their own paragraph and another's; the answerability sheets; SQuAD 2.0's
  held-out articles, where half of the questions are made to look answerable.

Intervals are bootstraps over questions (premises, paragraphs).

Data: shared folder.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.agreement import published_cases
from benchmarks.judge.answer_equivalence import SYSTEMS, golden, scorable
from benchmarks.judge.nli import CLASSES, read_rows
from benchmarks.judge.reading import readings
from benchmarks.support.datasets import lines, part_of, sample
from benchmarks.support.scores import estimate, ratio
from benchmarks.support.tables import arguments, plain, show
from rag_cover import open_entailer, open_scorer
from rag_cover.backends import Entailer, Scorer, ScoringItem

Floats = NDArray[np.float64]

BINS = 10


@dataclass(frozen=True, slots=True)
class Said:
    """What a head said of one data set: probabilities, the truth, and the clusters that rows belong to."""

    probabilities: Floats
    truth: Floats
    keys: tuple[str, ...]


def gaps(probabilities: Floats, truth: Floats) -> Floats:
    """Return (n, 11): each verdict's surplus of confidence in its bin's column, and 1; `calibration_error` takes their sums.

    >>> float(calibration_error(gaps(np.array([0.75, 0.75, 0.25, 0.25]), np.array([1.0, 1.0, 0.0, 0.0])).sum(axis=0)))
    0.25
    """
    bins = np.eye(BINS)[np.minimum((probabilities * BINS).astype(int), BINS - 1)]
    return np.concatenate([bins * (probabilities - truth)[:, None], np.ones((len(truth), 1))], axis=1)


def calibration_error(sums: Floats) -> Floats:
    """Return the expected calibration error of summed gaps."""
    return ratio(np.abs(sums[..., :BINS]).sum(axis=-1), sums[..., BINS])


def correctness_said(data: Path, judge: Scorer, limit: int | None, seed: int) -> dict[str, Said]:
    """Judge answers of the test buckets."""
    rows = part_of([row for row in lines(data / "answers/evouna_nq.jsonl") if scorable(row)], "test", key=_question)
    rows = sample(rows, limit, seed)
    items = [ScoringItem(row["question"], row[f"answer_{system}"] or "", golden(row)) for row in rows for system in SYSTEMS]
    truth = [float(row[f"judge_{system}"]) for row in rows for system in SYSTEMS]
    pairs = part_of([row for row in lines(data / "answers/sas_nq.jsonl") if float(row["label"]) != 1], "test", key=_question)
    pairs = sample(pairs, limit, seed)
    alike = [ScoringItem(row["question"], row["answer2"], (row["answer1"],)) for row in pairs]
    return {
        "correctness, EVOUNA-NQ": _scored(judge, items, truth),
        "correctness, SAS NQ": _scored(judge, alike, [float(row["label"]) / 2 for row in pairs]),
    }


def entailment_said(data: Path, judge: Entailer, limit: int | None, seed: int) -> dict[str, Said]:
    """Judge the 3-way rows of the test buckets."""
    found = {}
    for source, parts in read_rows(data).items():
        rows = sample([row for row in parts[False] if row["scheme"] == "3way"], limit, seed)
        if rows:
            said = judge.entail([(row["premise"], row["hypothesis"]) for row in rows])[:, 0].astype(np.float64)
            truth = np.array([float(row["label"] == CLASSES[0]) for row in rows])
            found[f"entailment, {source}"] = Said(said, truth, tuple(row["premise"] for row in rows))
    return found


def answers_said(data: Path, judge: Scorer, limit: int | None, seed: int) -> dict[str, Said]:
    """Judge texts without references."""
    rng = random.Random(seed)  # noqa: S311  # pairs, not secrets
    qed = part_of(list(lines(data / "reading/qed_dev.jsonl")), "test", key=lambda row: str(row["question_text"]))
    qed = sample(qed, limit, seed)
    pairs = [(row["question_text"], row["paragraph_text"], 1.0) for row in qed]
    pairs += [(row["question_text"], rng.choice(qed)["paragraph_text"], 0.0) for row in qed]
    found = {"answers, QED": _scored(judge, [ScoringItem(q, text) for q, text, _ in pairs], [label for *_, label in pairs])}
    sheets = published_cases(data)
    found["answers, answerability sheets"] = _scored(judge, [c.item for c in sheets], [float(c.covered) for c in sheets])
    squad = sample(readings(data), limit, seed)
    found["answers, SQuAD 2.0"] = _scored(judge, [each.item for each in squad], [float(bool(each.answers)) for each in squad])
    return found


def _question(row: dict[str, object]) -> str:
    return str(row["question"])


def _scored(judge: Scorer, items: Sequence[ScoringItem], truth: Sequence[float]) -> Said:
    said = judge.correctness(items).astype(np.float64)
    return Said(said, np.array(truth), tuple(item.question for item in items))


def line_of(name: str, said: Said, seed: int) -> list[str]:
    """Write one line of the table."""
    error = estimate(gaps(said.probabilities, said.truth), said.keys, calibration_error, seed=seed)
    base = said.truth.mean()
    brier = np.mean((said.probabilities - said.truth) ** 2)
    return [name, str(len(said.truth)), f"{base:.3f}", plain(error), f"{brier:.3f}", f"{base * (1 - base):.3f}"]


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    scorer = open_scorer(options.judge)
    said = correctness_said(options.data, scorer, options.limit, options.seed)
    said |= entailment_said(options.data, open_entailer(options.judge), options.limit, options.seed)
    said |= answers_said(options.data, scorer, options.limit, options.seed)
    header = ["head and data", "n", "share positive", "ECE", "Brier", "Brier of the base rate"]
    show("Calibration", header, [line_of(name, found, options.seed) for name, found in said.items()])


if __name__ == "__main__":
    main()
