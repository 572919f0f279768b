"""The metrics of a summary: those of each measure, over rows of sums by question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_cover.known_measures import measure_named, measure_names
from rag_cover.measures import Measure, SummaryMetric
from rag_cover.stats.intervals import Interval, bootstrap, bootstrap_share, resample_clusters

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

    def interval(self, rows: Floats, *, seed: int = 0, drawn: dict[bytes, Floats] | None = None) -> Interval | None:
        """Give the metric its interval over questions (rows of its sums), of which those not measured do not count.

        Metrics of the same rows and seed may share what was ``drawn`` of them: they differ in what they make of it.
        """
        counts = rows.any(axis=1) if len(rows) else np.zeros(0, dtype=bool)
        measured = rows if counts.all() else rows[counts]
        interval_of = bootstrap_share if self.metric.is_share else bootstrap
        if drawn is None or len(measured) <= 1:
            return interval_of(measured, self.metric.statistic, seed=seed)
        if (which := np.packbits(counts).tobytes()) not in drawn:
            drawn[which] = resample_clusters(measured, seed=seed)
        return interval_of(measured, self.metric.statistic, seed=seed, drawn=drawn[which])


def metrics_of(measures: Iterable[Measure]) -> dict[str, OwnedMetric]:
    """Return the metrics of measures by name."""
    return {metric.name: OwnedMetric(measure.name, metric) for measure in measures for metric in measure.metrics}


def metrics_of_installed() -> dict[str, OwnedMetric]:
    """Return the metrics of every installed measure by name, in the order of the measures."""
    return metrics_of(map(measure_named, measure_names()))
