"""One pass over the results of an evaluation: every metric with its interval, what was lost where, what was not measured."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Failure
from rag_cover.belief.summary import UtilitySums
from rag_cover.complexity.summary import ComplexitySums
from rag_cover.coverage import scenarios_of
from rag_cover.coverage.notes import notes_on_sub_questions
from rag_cover.coverage.summary import AnswerSums, CascadeSums, CorpusSums, NuggetSums
from rag_cover.known_measures import measure_named, measure_names
from rag_cover.measures import Measure, NotApplicable, TraceResult, UnknownResult
from rag_cover.stats.intervals import Interval
from rag_cover.summaries.accumulators import Sums
from rag_cover.summaries.judge_error import JudgeError, JudgeKnowledge, VerdictCollector
from rag_cover.summaries.labelled_results import put_labels
from rag_cover.summaries.metrics import OwnedMetric, metrics_of
from rag_cover.summaries.result import MetricValue, OutcomeCounts, Summary
from rag_cover.traces import Trace, describe_pipeline_failure

__all__ = ["SummaryBuilder", "summarise"]

Floats = NDArray[np.float64]

_OF_RETRIEVAL = frozenset(
    ("core_retrieved", "background_retrieved", "follow_up_retrieved", "core_use", "retrieval_headroom", "frequency_gap")
)
_ALWAYS = ("coverage", "groundedness")
"""The measures whose metrics stand in every summary, undefined where they were not measured."""


def summarise(
    results: Iterable[TraceResult],
    *,
    judge: str,
    query_type: str = "query_type",
    seed: int = 0,
    measures: Iterable[Measure] = (),
    known_of_judge: JudgeKnowledge = JudgeKnowledge(),  # noqa: B008  # frozen
) -> Summary:
    """Sum up results in one pass, with 95% intervals clustered by question.

    Args:
        results: are read once.
        judge: who judged, for the summary to name.
        query_type: the key of a trace's metadata that tells types of questions apart, for their utilities.
        seed: seed of the random generator.
        measures: measures of your own whose metrics are wanted; those of installed measures are known.
        known_of_judge: what is known of the judge's errors.
    """
    builder = SummaryBuilder(query_type=query_type, measures=measures, known_of_judge=known_of_judge)
    for result in results:
        builder.add(result)
    return builder.build(judge=judge, seed=seed)


class SummaryBuilder:
    """Sums up results that are added one by one; several of them, fed in one pass, tell parts of an evaluation apart.

    Args:
        query_type: the key of a trace's metadata that tells types of questions apart, for their utilities.
        measures: measures of your own whose metrics are wanted; those of installed measures are known.
        known_of_judge: what is known of the judge's errors.
    """

    def __init__(
        self,
        *,
        query_type: str = "query_type",
        measures: Iterable[Measure] = (),
        known_of_judge: JudgeKnowledge = JudgeKnowledge(),  # noqa: B008  # frozen
    ) -> None:
        self._known = known_of_judge
        self._sums, self._traces, self._retrieval = Sums(measures, known_of_judge), 0, False
        self._utilities, self._complexities = UtilitySums(query_type), ComplexitySums()
        self._answers, self._nuggets, self._corpus, self._cascade = AnswerSums(), NuggetSums(), CorpusSums(), CascadeSums()
        self._pipelines: dict[str, None] = {}
        self._outcomes: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        self._notes: Counter[str] = Counter()

    def add(self, result: TraceResult) -> None:
        """Add one trace's result."""
        self._traces += 1
        self._retrieval = self._retrieval or _knows_retrieval(result)
        labelled = put_labels(result, self._known)
        self._sums.add(result, labelled)
        self._corpus.add(labelled)
        for each in (
            self._utilities,
            self._complexities,
            self._answers,
            self._nuggets,
            self._cascade,
        ):
            each.add(result)
        if result.trace.pipeline:
            self._pipelines[result.trace.pipeline] = None
        for name, outcome in result.outcomes.items():
            self._outcomes[name][_state(outcome)] += 1
        self._notes.update(notes_on_sub_questions(result.coverage) if result.coverage else ())
        self._notes.update(_unknown_in(result))
        self._notes.update(_count_unanswered(result.trace))

    def build(self, *, judge: str, seed: int = 0) -> Summary:
        """Sum up what was added, with 95% intervals clustered by question.

        Args:
            judge: who judged, for the summary to name.
            seed: seed of the random generator.
        """
        sums = self._sums
        counts = {name: _counts(states) for name, states in self._outcomes.items()}
        metrics = metrics_of(map(measure_named, _ALWAYS)) | _requested_metrics(counts) | sums.metrics
        intervals = {name: each.interval(sums.matrix(each)) for name, each in metrics.items()}
        losses, unclear = sums.losses_of(sums.places)
        judge_error = sums.verdicts.judge_error("core_coverage", seed=seed)
        return Summary(
            traces=self._traces,
            questions=len(sums.places),
            pipelines=tuple(self._pipelines),
            judge=judge,
            metrics={
                name: replace(
                    _value(metric, intervals[name], counts, retrieval=self._retrieval),
                    with_judge_error=_with_judge_error(name, sums.verdicts, intervals[name], seed),
                )
                for name, metric in metrics.items()
            },
            scenarios=scenarios_of(sums.coverage) if sums.places else {},
            losses=losses,
            unclear_losses=unclear,
            judge_error=judge_error,
            outcomes=counts,
            notes=tuple(self._describe_notes(judge_error)),
            utility=self._utilities.summary(),
            complexity=self._complexities.summary(),
            answers=self._answers.counts,
            single_sub_questions=self._answers.single,
            nuggets=self._nuggets.counts,
            corpus=self._corpus.counts,
            cascade=self._cascade.use,
            labels=sums.labels,
        )

    def _describe_notes(self, judge_error: JudgeError | None) -> Iterator[str]:
        yield from (f"{note}: {count} of {self._traces} traces" for note, count in sorted(self._notes.items()))
        if (pipelines := len(self._pipelines)) > 1:
            yield f"{pipelines} pipelines are summed up together; rag-cover compare tells them apart, from a file of each"
        if self._known.labels and not (judge_error and judge_error.own_labels):
            yield "no label is of a core sub-question of these answers; labels are matched by sub-question and answer"
        if (labels := self._sums.labels) and labels.used < labels.given:
            yield f"{labels.used:,} of {labels.given:,} labels of people are used; {labels.reasons}"
        if self._sums.verdicts.has_statements and self._known.shifts:
            yield (
                "no labelled set tells how often the judge errs on nuggets that are statements; the embedded judge recognises "
                "about half of those that an answer states in words of its own (docs/nuggets.md)"
            )
        if self._known.chosen:
            yield f"{self._known.chosen} labels are of chosen verdicts, no random sample: no figure rests on them"


def _with_judge_error(name: str, verdicts: VerdictCollector, sampling: Interval | None, seed: int) -> Interval | None:
    """Return a share with an interval that rests on labels, or that holds both the judge's errors and that of sampling.

    None where nothing is known of the errors, and where one question leaves nothing to sample. Labels move the share away from
    the judge's, and the interval of sampling with it.
    """
    if (powered := verdicts.prediction_powered(name)) is not None:
        return powered
    interval = verdicts.interval(name, seed=seed)
    if interval is None or sampling is None or sampling.lower is None or sampling.upper is None:
        return None
    ends = [each for each in (interval.lower, interval.upper) if each is not None]
    moved = interval.estimate - sampling.estimate if verdicts.has_labels(name) else 0.0
    lower, upper = min(sampling.lower + moved, *ends), max(sampling.upper + moved, *ends)
    return replace(interval, lower=max(0.0, lower), upper=min(1.0, upper))


def _requested_metrics(counts: Mapping[str, OutcomeCounts]) -> dict[str, OwnedMetric]:
    """Return the metrics of the installed measures that were asked for, whether they measured anything or not."""
    return metrics_of(measure_named(name) for name in measure_names() if name in counts)


def _unknown_in(result: TraceResult) -> Iterator[str]:
    """Say which results are not summed up, since their measure is not known here."""
    for name, measured in result.measured.items():
        if isinstance(measured, UnknownResult):
            whose = f" ({measured.made_by})" if measured.made_by else ""
            yield f"results of {name!r}{whose} are not summed up, since that measure is not installed here"


def _count_unanswered(trace: Trace) -> Iterator[str]:
    """Say of which traces there is no answer because the pipeline failed, as a recording notes it."""
    if (failure := describe_pipeline_failure(trace)) is not None:
        yield failure


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
    owned: OwnedMetric, interval: Interval | None, counts: Mapping[str, OutcomeCounts], *, retrieval: bool
) -> MetricValue:
    reason = None if interval else _reason(owned, counts, retrieval=retrieval)
    metric = owned.metric
    return MetricValue(
        metric.name,
        metric.label,
        metric.explanation,
        interval,
        reason,
        metric.higher_is_better,
        owned.measure,
        metric.low,
        metric.high,
        plain_words=metric.plain_words,
        known_as=metric.known_as,
    )


def _reason(metric: OwnedMetric, counts: Mapping[str, OutcomeCounts], *, retrieval: bool) -> str:
    if metric.measure not in counts:
        return f"{metric.measure} was not measured"
    if not counts[metric.measure].measured:
        return next(iter(counts[metric.measure].reasons), "no traces")
    if metric.name in _OF_RETRIEVAL and not retrieval:
        return "not applicable: no trace has retrieval steps"
    return metric.metric.undefined_because
