"""The metrics of a summary: those of each measure, over rows of sums by question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_cover.known_measures import measure_named, measure_names
from rag_cover.measures import Measure, SummaryMetric
from rag_cover.stats.intervals import Interval, jackknife, jackknife_share

__all__ = ["OwnedMetric", "SumsOf", "metrics_of", "metrics_of_installed"]

Floats = NDArray[np.float64]
SumsOf = Callable[[Any], Sequence[float] | Floats]


@dataclass(frozen=True, slots=True)
class OwnedMetric:
    """A metric and the name of the measure it is of."""

    measure: str
    metric: SummaryMetric[Any]

    @property
    def name(self) -> str:
        """Return the metric's name."""
        return self.metric.name

    def interval(self, rows: Floats) -> Interval | None:
        """Give the metric its interval over questions (rows of its sums), of which those not measured do not count.

        Nor do those of a share that have nothing to divide by: they say nothing of it, and would make it look surer.
        """
        measured = rows[rows.any(axis=1)] if len(rows) else rows
        if self.metric.is_share:
            defined = measured[~np.isnan(self.metric.statistic(measured))] if len(measured) else measured
            return jackknife_share(defined, self.metric.statistic)
        return jackknife(measured, self.metric.statistic, low=self.metric.low, high=self.metric.high)


def metrics_of(measures: Iterable[Measure]) -> dict[str, OwnedMetric]:
    """Return the metrics of measures by name."""
    return {metric.name: OwnedMetric(measure.name, metric) for measure in measures for metric in measure.metrics}


def metrics_of_installed() -> dict[str, OwnedMetric]:
    """Return the metrics of every installed measure by name, in the order of the measures."""
    return metrics_of(map(measure_named, measure_names()))
