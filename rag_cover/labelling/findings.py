"""What the labels say so far: the corrected headline, how often the judge is right, how many more labels are needed.

Shares and the judge's accuracy rest on the random sample (`rag_cover.labelling.sampling`); the chosen verdicts are those that
the judge finds hard, and count beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_cover.evaluation import Evaluation
from rag_cover.importers import read_labels
from rag_cover.labelling.items import LabelItem, label_key
from rag_cover.labels import LabelledText
from rag_cover.stats.classification import accuracy, by_cluster, counts
from rag_cover.stats.intervals import Interval, jackknife_share
from rag_cover.stats.prediction_powered import count_labels_needed, half_width_of_all
from rag_cover.stores.labels import current_labels, read_label_file

__all__ = ["HALF_WIDTH", "LEAST_TO_PLAN", "Findings", "find_out"]

HALF_WIDTH = 0.05
"""The half-width of the interval that labels are counted for: 5 points."""
LEAST_TO_PLAN = 10
"""The random labels from which it is said how many more are needed."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What labels say of an evaluation.

    ``headline`` is the share of core sub-questions that people would find answered, None where nothing tells it; ``judged`` is
    what the judge says. ``accuracy`` is the share of the ``random`` labels of the random sample that the judge agrees with;
    ``chosen_agreed`` counts the same of the ``chosen`` ones. ``needed`` is how many random labels make the headline's interval
    ± 5 points, those at hand among them; None where that is not known yet, or where all ``population`` of them would not: these
    would make it ± ``reachable``. ``rests_on_labels`` tells that the headline follows from the labels, and not mainly from what
    is known of the judge from other sets, where ``has_other_sets`` says that this is known.
    """

    headline: Interval | None
    judged: float | None
    random: int
    accuracy: Interval | None
    chosen: int
    chosen_agreed: int
    needed: int | None
    reachable: float | None
    population: int
    rests_on_labels: bool = False
    has_other_sets: bool = True


def find_out(evaluation: Evaluation, items: Iterable[LabelItem], path: Path) -> Findings:
    """Read the labels of a file and say what they tell of an evaluation: the same as ``evaluate --labels`` does.

    Raises:
        InputError: the file cannot be read.
    """
    has_labels = path.exists() and any(label.label is not None for label in current_labels(read_label_file(path)))
    rows = read_labels(path) if has_labels else ()
    summary = evaluation.with_labels(rows).summary()
    metric = summary.metrics["core_coverage"]
    every = list(items)
    by_key = {label_key(row.question, row.text): row for row in rows}
    headline = [item for item in every if item.counts_in_headline]
    drawn = [(item, by_key[item.key]) for item in headline if item.key in by_key and not by_key[item.key].chosen]
    chosen = [(item, by_key[item.key]) for item in every if item.key in by_key and by_key[item.key].chosen]
    needed = _labels_needed(drawn, [item for item in headline if item.key not in {each.key for each, _ in drawn}])
    return Findings(
        headline=metric.with_judge_error,
        judged=metric.interval.estimate if metric.interval else None,
        random=len(drawn),
        accuracy=_accuracy(drawn),
        chosen=len(chosen),
        chosen_agreed=sum(item.covered == row.label for item, row in chosen),
        needed=needed,
        reachable=_reachable(drawn, len(headline)) if needed is None else None,
        population=len(headline),
        rests_on_labels=summary.judge_error is not None and summary.judge_error.rests_on_labels,
        has_other_sets="reply" in evaluation.shifts,
    )


def _accuracy(drawn: Sequence[tuple[LabelItem, LabelledText]]) -> Interval | None:
    if not drawn:
        return None
    said = counts([item.covered for item, _ in drawn], [bool(row.label) for _, row in drawn])
    return jackknife_share(by_cluster(said, [item.cluster for item, _ in drawn]), accuracy)


def _reachable(drawn: Sequence[tuple[LabelItem, LabelledText]], population: int) -> float | None:
    if len(drawn) < LEAST_TO_PLAN:
        return None
    return half_width_of_all([bool(row.label) for _, row in drawn], [item.cluster for item, _ in drawn], population)


def _labels_needed(drawn: Sequence[tuple[LabelItem, LabelledText]], others: Sequence[LabelItem]) -> int | None:
    if len(drawn) < LEAST_TO_PLAN:
        return None
    return count_labels_needed(
        [bool(row.label) for _, row in drawn],
        [item.probability for item, _ in drawn],
        [item.cluster for item, _ in drawn],
        [item.probability for item in others],
        [item.cluster for item in others],
        half_width=HALF_WIDTH,
    )
