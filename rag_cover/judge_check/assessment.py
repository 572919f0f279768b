"""A judge held against labels: every figure of one block of rows, which all have references or all have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem
from rag_cover.judge_check.result import Agreement, Disagreement, JudgeThreshold, SharesCovered
from rag_cover.labels import LabelledText
from rag_cover.stats.classification import accuracy, area_under_roc, by_cluster, counts, kappa_interval, precision, recall
from rag_cover.stats.intervals import Interval, jackknife, jackknife_share
from rag_cover.stats.prediction_powered import (
    LEAST_LABELS,
    LEAST_QUESTIONS,
    estimate_labelled_share,
    estimate_powered_share,
)
from rag_cover.stats.reliability import calibration_error, reliability_bins
from rag_cover.stats.thresholds import best_cut, cross_fitted

__all__ = ["assess", "notes_on_labels"]

Floats = NDArray[np.float64]

_DISAGREEMENTS = 10
_CLEAR_GAP = 3.0  # half-widths: beyond any chance, so that a note is worth reading


def assess(
    rows: Sequence[LabelledText], probabilities: Mapping[ScoringItem, float], *, cut: float, seed: int = 0
) -> Agreement | None:
    """Hold the judge's probabilities against the labels of rows of one kind; None without rows.

    Rows that were chosen for what their labels teach (`LabelledText.chosen`) help to fit the threshold. Where there are other
    labelled rows, every other figure rests on these alone.
    """
    if not rows:
        return None
    threshold = _fit_on([row for row in rows if row.label is not None], probabilities, cut, seed)
    rows = _without_chosen(rows)
    labelled = [row for row in rows if row.label is not None]
    judged = np.array([probabilities[row.item] for row in labelled])
    labels = np.array([bool(row.label) for row in labelled], dtype=bool)
    keys = [row.cluster for row in labelled]
    found = by_cluster(counts(judged >= cut, labels), keys)

    bins = reliability_bins(judged, labels)
    wrong = [i for i in range(len(labelled)) if (judged[i] >= cut) != labels[i]]
    worst = sorted(wrong, key=lambda i: -abs(judged[i] - labels[i]))[:_DISAGREEMENTS]
    share = float(labels.mean()) if labelled else None
    return Agreement(
        cut=cut,
        labelled=len(labelled),
        positives=int(labels.sum()),
        unlabelled=len(rows) - len(labelled),
        questions=len(set(keys)),
        agreement=jackknife_share(found, accuracy),
        kappa=kappa_interval(found),
        precision=jackknife_share(found, precision),
        recall=jackknife_share(found, recall),
        area_under_roc=area_under_roc(judged, labels, keys),
        majority=None if share is None else max(share, 1 - share),
        threshold=threshold,
        calibration_error=calibration_error(bins),
        reliability=bins,
        disagreeing=len(wrong),
        disagreements=tuple(_disagreement(labelled[i], float(judged[i])) for i in worst),
        shares=tuple(_shares(rows, probabilities, cut)),
    )


def notes_on_labels(rows: Sequence[LabelledText], probabilities: Mapping[ScoringItem, float]) -> list[str]:
    """Return warnings for a reader of the figures: contradicting labels, a sample that is not random."""
    labels: dict[ScoringItem, set[bool]] = {}
    for row in rows:
        if row.label is not None:
            labels.setdefault(row.item, set()).add(row.label)
    notes = []
    if both := sum(len(found) == 2 for found in labels.values()):  # noqa: PLR2004  # covered and not covered
        notes.append(f"{both} of {len(labels)} labelled texts are labelled both ways; no judge can agree with both")
    notes += _chosen_note(rows)
    for kind in (False, True):
        notes += _gap_note(_without_chosen([row for row in rows if bool(row.references) is kind]), probabilities)
    return notes


def _chosen_note(rows: Sequence[LabelledText]) -> list[str]:
    chosen = sum(row.chosen and row.label is not None for row in rows)
    if not chosen:
        return []
    if chosen == sum(row.label is not None for row in rows):
        return ["every label is of a text that was chosen because the judge is unsure of it: it does better on others"]
    return [f"{chosen} labels of texts that were chosen because the judge is unsure of them count for the threshold alone"]


def _without_chosen(rows: Sequence[LabelledText]) -> Sequence[LabelledText]:
    """Leave out rows that are no random sample, unless there is no other label."""
    if not any(row.label is not None and not row.chosen for row in rows):
        return rows
    return [row for row in rows if not row.chosen]


def _fit_on(
    labelled: Sequence[LabelledText], probabilities: Mapping[ScoringItem, float], cut: float, seed: int
) -> JudgeThreshold:
    judged = np.array([probabilities[row.item] for row in labelled])
    labels = np.array([bool(row.label) for row in labelled], dtype=bool)
    return _fit(judged, labels, [row.cluster for row in labelled], cut, seed)


def _gap_note(rows: Sequence[LabelledText], probabilities: Mapping[ScoringItem, float]) -> list[str]:
    labelled, unlabelled = ([row for row in rows if (row.label is None) is missing] for missing in (False, True))
    if not labelled or not unlabelled:
        return []
    gap = estimate_powered_share(*_numbers(labelled, probabilities), *_judgments_of(unlabelled, probabilities)).gap
    if gap is None or gap.upper is None or abs(gap.estimate) <= _CLEAR_GAP / 2 * (gap.upper - gap.estimate):
        return []
    differs = f"{abs(gap.estimate):.2f} {'higher' if gap.estimate > 0 else 'lower'}"
    note = (
        f"the judge's probabilities are {differs} on labelled than on unlabelled rows: the labelled rows are no random sample, "
        "and shares covered from both do not hold"
    )
    return [note]


def _fit(judged: Floats, labels: NDArray[np.bool_], keys: Sequence[str], cut: float, seed: int) -> JudgeThreshold:
    verdicts = cross_fitted(judged, labels, keys, seed=seed)
    if verdicts is None or labels.all() or not labels.any():
        return JudgeThreshold(cut, None, None, None)
    honest, own = (accuracy(counts(said, labels)) for said in (verdicts, judged >= cut))

    def mean(values: Floats) -> Interval | None:
        rows = by_cluster(np.stack([values, np.ones_like(values)], axis=1), keys)
        return jackknife(rows, lambda sums: sums[..., 0] / sums[..., 1], low=-1.0, high=1.0)

    return JudgeThreshold(cut, best_cut(judged, labels), mean(honest), mean(honest - own))


def _disagreement(row: LabelledText, probability: float) -> Disagreement:
    return Disagreement(row.question, row.text, bool(row.label), probability, row.key)


def _shares(rows: Sequence[LabelledText], probabilities: Mapping[ScoringItem, float], cut: float) -> list[SharesCovered]:
    groups = sorted({row.group for row in rows if row.group is not None})
    parts: list[tuple[str | None, Sequence[LabelledText]]] = [(None, rows)]
    parts += [(group, [row for row in rows if row.group == group]) for group in groups]
    return [_share(group, part, probabilities, cut) for group, part in parts]


def _share(
    group: str | None, rows: Sequence[LabelledText], probabilities: Mapping[ScoringItem, float], cut: float
) -> SharesCovered:
    labelled, unlabelled = ([row for row in rows if (row.label is None) is missing] for missing in (False, True))
    judged = float(np.mean([probabilities[row.item] >= cut for row in rows]))
    if any(row.chosen for row in labelled):
        chosen = "the labelled rows were chosen, and are no random sample"
        return SharesCovered(group, len(labelled), len(unlabelled), judged, None, None, None, chosen)
    if reason := _too_little(labelled):
        return SharesCovered(group, len(labelled), len(unlabelled), judged, None, None, None, reason)
    labels, own, keys = _numbers(labelled, probabilities)
    by_labels = estimate_labelled_share(labels, keys)
    if not unlabelled:
        reason = "there are no unlabelled rows, which the judge could stand in for"
        return SharesCovered(group, len(labelled), 0, judged, by_labels, None, None, reason)
    found = estimate_powered_share(labels, own, keys, *_judgments_of(unlabelled, probabilities))
    return SharesCovered(group, len(labelled), len(unlabelled), judged, by_labels, found.share, found.weight, None)


def _too_little(labelled: Sequence[LabelledText]) -> str | None:
    if len(labelled) < LEAST_LABELS:
        return f"{len(labelled)} labels; an interval needs {LEAST_LABELS}"
    if (questions := len({row.cluster for row in labelled})) < LEAST_QUESTIONS:
        return f"{questions} labelled question{'s' * (questions > 1)}; an interval needs {LEAST_QUESTIONS}"
    if len({row.label for row in labelled}) == 1:
        return "all labels say the same, so nothing tells how they spread"
    return None


def _numbers(
    rows: Sequence[LabelledText], probabilities: Mapping[ScoringItem, float]
) -> tuple[list[bool], list[float], list[str]]:
    return ([bool(row.label) for row in rows], *_judgments_of(rows, probabilities))


def _judgments_of(rows: Sequence[LabelledText], probabilities: Mapping[ScoringItem, float]) -> tuple[list[float], list[str]]:
    return [probabilities[row.item] for row in rows], [row.cluster for row in rows]
