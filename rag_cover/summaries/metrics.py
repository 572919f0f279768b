"""The metrics of a summary: each a statistic of the sums over a question's traces.

A question's row holds what can be added up: the sums of coverage, then supported sentences and sentences, then the utilities
of traces, traces, steps that hurt and steps, then complex ones, answerable ones and completenesses, each with their number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_cover.coverage import METRICS
from rag_cover.intervals import Interval, Statistic, bootstrap, bootstrap_share, resampled

__all__ = ["COVERAGE", "SUMMARY_METRICS", "SummaryMetric"]

Floats = NDArray[np.float64]

COVERAGE = slice(None, -12)
"""The columns of a row that hold the sums of coverage."""

_NO_SHARES = frozenset({"frequency_gap", "order_alignment", "rating", "utility"})
"""The metrics that are no share of anything, in [0, 1]."""

_GROUNDED, _UTILITIES, _STEPS = slice(-12, -10), slice(-10, -8), slice(-8, -6)
_COMPLEX, _ANSWERABLE, _COMPLETENESS = slice(-6, -4), slice(-4, -2), slice(-2, None)


@dataclass(frozen=True, slots=True)
class SummaryMetric:
    """A metric of a whole evaluation: its words, the measure it is of, and its statistic of its columns of the rows."""

    name: str
    label: str
    explanation: str
    measure: str
    columns: slice
    of_columns: Statistic
    higher_is_better: bool | None

    def statistic(self, rows: Floats) -> Floats:
        """Map sums of rows (..., k) to values (...); NaN where undefined."""
        return self.of_columns(rows[..., self.columns])

    def interval(self, rows: Floats, *, seed: int = 0, drawn: dict[bytes, Floats] | None = None) -> Interval | None:
        """Give the metric its interval over questions (rows of `Sums`), of which those not measured do not count.

        Metrics of the same rows and seed may share what was ``drawn`` of them: they differ in what they make of it.
        """
        counts = rows[:, self.columns].any(axis=1) if len(rows) else np.zeros(0, dtype=bool)
        measured = rows if counts.all() else rows[counts]
        interval_of = bootstrap if self.name in _NO_SHARES else bootstrap_share
        if drawn is None or len(measured) <= 1:
            return interval_of(measured, self.statistic, seed=seed)
        if (which := np.packbits(counts).tobytes()) not in drawn:
            drawn[which] = resampled(measured, seed=seed)
        return interval_of(measured, self.statistic, seed=seed, drawn=drawn[which])


def _ratio(sums: Floats) -> Floats:
    share: Floats = np.divide(sums[..., 0], sums[..., 1], out=np.full(sums.shape[:-1], np.nan), where=sums[..., 1] > 0)
    return share


_OF_COVERAGE = [
    SummaryMetric(metric.name, metric.label, metric.formula, "coverage", COVERAGE, metric.statistic, metric.higher_is_better)
    for metric in METRICS.values()
]
_OTHERS = [
    SummaryMetric(
        "groundedness",
        "answer sentences supported by the prompt",
        "sentences entailed by a passage of the prompt / sentences of the answer",
        "groundedness",
        _GROUNDED,
        _ratio,
        higher_is_better=True,
    ),
    SummaryMetric(
        "utility",
        "utility of retrieval (ΔSePer)",
        "belief in the references with the last context - belief without passages, mean over traces",
        "utility",
        _UTILITIES,
        _ratio,
        higher_is_better=True,
    ),
    SummaryMetric(
        "hurting_steps",
        "steps that hurt",
        "steps after which belief in the references is lower than before / steps",
        "utility",
        _STEPS,
        _ratio,
        higher_is_better=False,
    ),
    SummaryMetric(
        "complex_questions",
        "complex questions",
        "traces whose passages are about all of the question, though none of them answers it alone / traces with retrieval",
        "complexity",
        _COMPLEX,
        _ratio,
        higher_is_better=None,
    ),
    SummaryMetric(
        "answerable_questions",
        "questions a single passage answers",
        "traces of which one retrieved passage answers the question by itself / traces with retrieval",
        "complexity",
        _ANSWERABLE,
        _ratio,
        higher_is_better=True,
    ),
    SummaryMetric(
        "completeness",
        "completeness of what was retrieved",
        "how far the retrieved passages are about all of the question's words, mean over traces",
        "complexity",
        _COMPLETENESS,
        _ratio,
        higher_is_better=None,
    ),
]
SUMMARY_METRICS: Mapping[str, SummaryMetric] = {metric.name: metric for metric in [*_OF_COVERAGE, *_OTHERS]}
"""Every metric of a summary by its stable name: those of coverage, groundedness, then those of utility and complexity."""
