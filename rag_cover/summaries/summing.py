"""One pass over the results of an evaluation: every metric with its interval, what was lost where, what was not measured."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Failure
from rag_cover.coverage import scenarios_of
from rag_cover.coverage.notes import notes_on
from rag_cover.intervals import Interval
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.summaries.complexities import ComplexitySums
from rag_cover.summaries.metrics import COVERAGE, SUMMARY_METRICS, SummaryMetric
from rag_cover.summaries.sums import Sums
from rag_cover.summaries.utilities import UtilitySums
from rag_cover.summaries.values import MetricValue, OutcomeCounts, Summary

__all__ = ["summarise"]

Floats = NDArray[np.float64]

_OF_RETRIEVAL = frozenset(
    ("core_retrieved", "background_retrieved", "follow_up_retrieved", "core_use", "retrieval_headroom", "frequency_gap")
)
_ONLY_WHERE_MEASURED = frozenset(("utility", "complexity"))


def summarise(results: Iterable[TraceResult], *, judge: str, query_type: str = "query_type", seed: int = 0) -> Summary:
    """Sum up results in one pass, with 95% bootstrap intervals clustered by question.

    ``query_type`` is the key of a trace's metadata that tells types of questions apart, for their utilities.
    """
    sums, utilities, complexities, traces = Sums(), UtilitySums(query_type), ComplexitySums(), 0
    pipelines: dict[str, None] = {}
    outcomes: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    notes: Counter[str] = Counter()
    retrieval = False
    for result in results:
        traces += 1
        retrieval = retrieval or _knows_retrieval(result)
        sums.add(result)
        utilities.add(result)
        complexities.add(result)
        if result.trace.pipeline:
            pipelines[result.trace.pipeline] = None
        for name, outcome in result.outcomes.items():
            outcomes[name][_state(outcome)] += 1
        notes.update(notes_on(result.coverage) if result.coverage else ())
    rows = sums.rows.matrix()
    counts = {name: _counts(states) for name, states in outcomes.items()}
    drawn: dict[bytes, Floats] = {}
    return Summary(
        traces=traces,
        questions=len(sums.rows),
        pipelines=tuple(pipelines),
        judge=judge,
        metrics={
            name: _value(metric, metric.interval(rows, seed=seed, drawn=drawn), counts, retrieval=retrieval)
            for name, metric in SUMMARY_METRICS.items()
            if metric.measure not in _ONLY_WHERE_MEASURED or metric.measure in counts
        },
        scenarios=scenarios_of(rows[:, COVERAGE].sum(axis=0)) if len(rows) else {},
        losses=sums.losses_of(sums.rows),
        outcomes=counts,
        notes=tuple(f"{note}: {count} of {traces} traces" for note, count in sorted(notes.items())),
        utility=utilities.summary(seed=seed),
        complexity=complexities.summary(seed=seed),
    )


def _state(outcome: object) -> tuple[str, str]:
    match outcome:
        case NotApplicable(reason):
            return "not applicable", reason
        case Failure(kind, message):
            return "failed", f"{kind}: {message}"
        case _:
            return "measured", ""


def _counts(states: Counter[tuple[str, str]]) -> OutcomeCounts:
    totals: Counter[str] = Counter()
    for (state, _), number in states.items():
        totals[state] += number
    reasons = {reason: number for (state, reason), number in states.most_common() if state != "measured"}
    return OutcomeCounts(totals["measured"], totals["not applicable"], totals["failed"], reasons)


def _knows_retrieval(result: TraceResult) -> bool:
    return result.coverage is not None and any(each.chunks is not None for each in result.coverage.sub_questions)


def _value(
    metric: SummaryMetric, interval: Interval | None, counts: Mapping[str, OutcomeCounts], *, retrieval: bool
) -> MetricValue:
    reason = None if interval else _reason(metric, counts, retrieval=retrieval)
    return MetricValue(metric.name, metric.label, metric.explanation, interval, reason, metric.higher_is_better)


def _reason(metric: SummaryMetric, counts: Mapping[str, OutcomeCounts], *, retrieval: bool) -> str:
    if metric.measure not in counts:
        return f"{metric.measure} was not measured"
    if not counts[metric.measure].measured:
        return next(iter(counts[metric.measure].reasons), "no traces")
    if metric.name in _OF_RETRIEVAL and not retrieval:
        return "not applicable: no trace has retrieval steps"
    if metric.measure == "complexity":
        return "the judge offers no token relevance"
    if metric.measure == "utility":
        return "the traces that were measured have no steps"
    return "no sub-question of the traces counts in it"
