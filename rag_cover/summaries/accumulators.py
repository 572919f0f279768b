"""What a summary or a comparison needs of the results, gathered by question in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_cover.coverage import CoverageTable, Loss, statistics_of
from rag_cover.coverage.measure import coverage_sums
from rag_cover.known_measures import measure_named, measure_names
from rag_cover.label_matches import HeldTexts, LabelMatches, LabelPlace, match_labels
from rag_cover.measures import (
    Measure,
    MeasureResult,
    NumberResult,
    SummaryMetric,
    TraceResult,
    UnknownResult,
    number_metric,
)
from rag_cover.question_keys import question_key
from rag_cover.stats.question_rows import QuestionRows
from rag_cover.summaries.judge_error import JudgeKnowledge, VerdictCollector
from rag_cover.summaries.metrics import OwnedMetric, SumsOf

__all__ = ["Sums"]

Floats = NDArray[np.float64]

_WIDTH_OF_COVERAGE = len(statistics_of(CoverageTable()))


class Sums:
    """By question: for each measure rows of what its metrics add up, and core losses.

    Args:
        measures: measures given as values; those of other names are the installed ones.
        known_of_judge: what is known of the judge's errors.
    """

    def __init__(self, measures: Iterable[Measure] = (), known_of_judge: JudgeKnowledge = JudgeKnowledge()) -> None:  # noqa: B008  # frozen
        self._measures = {measure.name: measure for measure in measures}
        self._metrics: dict[str, tuple[SummaryMetric[Any], ...]] = {}
        self._rows: dict[tuple[str, SumsOf], QuestionRows] = {}
        self.places: dict[str, int] = {}
        self.verdicts = VerdictCollector(known_of_judge)
        self._labels, self._held = known_of_judge.rows, HeldTexts(map(LabelPlace.of_row, known_of_judge.rows))
        self.losses = QuestionRows(len(Loss) + 1, places=self.places)

    def add(self, result: TraceResult, labelled: TraceResult | None = None) -> None:
        """Add one trace's result to its question's rows.

        What was lost follows from ``labelled``, the result with people's labels in it (`put_labels`), where it is given.
        """
        key = question_key(result.trace.question)
        self.places.setdefault(key, len(self.places))
        for name in result.outcomes:
            if name in self._measures:  # one that fails on every trace has metrics, too
                self._metrics.setdefault(name, self._measures[name].metrics)
        for name, measured in result.measured.items():
            for sums_of in dict.fromkeys(metric.sums for metric in self._metrics_for(name, measured)):
                self._add((name, sums_of), key, np.asarray(sums_of(measured), dtype=np.float64))
            for metric in self._metrics_for(name, measured):
                if metric.units is not None:
                    self.verdicts.add(metric.name, metric.units(measured), key, result.trace.answer or "")
        self._note_held(result)
        if coverage := (labelled or result).coverage:
            named = [each.loss for each in coverage.lost if each.is_loss_clear]
            self.verdicts.add_losses(coverage, key)
            self.losses.add(key, [*(named.count(loss) for loss in Loss), len(coverage.lost) - len(named)])

    @property
    def labels(self) -> LabelMatches | None:
        """Return what became of people's labels; None where none were given."""
        return match_labels(self._labels, self._held) if self._labels else None

    @property
    def metrics(self) -> dict[str, OwnedMetric]:
        """Return the metrics of the results that were added, and of given measures that measured nothing, by name."""
        return {each.name: OwnedMetric(measure, each) for measure, several in self._metrics.items() for each in several}

    def matrix(self, owned: OwnedMetric) -> Floats:
        """Return what a metric is a statistic of: (questions, k), in the order in which questions came."""
        rows = self._rows.get((owned.measure, owned.metric.sums))
        return np.zeros((len(self.places), 2)) if rows is None else rows.matrix()

    def rows_of(self, owned: OwnedMetric, questions: Sequence[str]) -> Floats:
        """Return what a metric is a statistic of, for some questions."""
        return self.matrix(owned)[[self.places[question] for question in questions]]

    @property
    def coverage(self) -> Floats:
        """Return the sums of coverage over all questions, (k,)."""
        rows = self._rows.get(("coverage", coverage_sums))
        return np.zeros(_WIDTH_OF_COVERAGE) if rows is None else rows.matrix().sum(axis=0)

    def _note_held(self, result: TraceResult) -> None:
        """Note which labelled texts the results hold."""
        if not self._labels:
            return
        self._held.add_question(result.trace.question, result.trace.id)
        for each in result.coverage.sub_questions if result.coverage else ():
            if each.answer is not None:
                self._held.add_text(each.text, result.trace.answer or "")

    def _metrics_for(self, name: str, measured: MeasureResult) -> tuple[SummaryMetric[Any], ...]:
        if isinstance(measured, UnknownResult):
            return ()
        if name not in self._metrics:
            self._metrics[name] = self._metrics_known(name, measured)
        return self._metrics[name]

    def _metrics_known(self, name: str, measured: MeasureResult) -> tuple[SummaryMetric[Any], ...]:
        if name in self._measures:
            return self._measures[name].metrics
        if name in measure_names():
            return measure_named(name).metrics
        return (number_metric(name),) if isinstance(measured, NumberResult) else ()

    def _add(self, which: tuple[str, SumsOf], question: str, row: Floats) -> None:
        if which not in self._rows:
            self._rows[which] = QuestionRows(len(row), places=self.places)
        self._rows[which].add(question, row)

    def losses_of(self, questions: Iterable[str]) -> tuple[dict[Loss, int], int]:
        """Count where these questions' core sub-questions were clearly lost, and those of which that is unclear."""
        *named, unclear = map(int, self.losses.sums_of(questions))
        return dict(zip(Loss, named, strict=True)), unclear
