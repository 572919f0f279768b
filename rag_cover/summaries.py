"""Many results summed up: every metric with its interval, where core sub-questions were lost, what was not measured and why.

Questions are the clusters: a question asked of several pipelines, or several times, is resampled as a whole.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Failure
from rag_cover.coverage import METRICS, CoverageTable, Scenarios, scenarios_of, statistics_as_rated, statistics_of, table_of
from rag_cover.coverage.notes import notes_on
from rag_cover.intervals import Interval, Statistic, bootstrap
from rag_cover.questions import Question, Role
from rag_cover.results import Loss, NotApplicable, TraceResult

__all__ = [
    "SUMMARY_METRICS",
    "ChangedQuestion",
    "Comparison",
    "MetricComparison",
    "MetricValue",
    "OutcomeCounts",
    "Summary",
    "SummaryMetric",
    "Sums",
    "question_key",
    "summarise",
]

Floats = NDArray[np.float64]

_OF_RETRIEVAL = frozenset(
    ("core_retrieved", "background_retrieved", "follow_up_retrieved", "core_use", "retrieval_headroom", "frequency_gap")
)
_GROUNDED = 2  # the last two columns of the sums: supported sentences, sentences


@dataclass(frozen=True, slots=True)
class SummaryMetric:
    """A metric of a whole evaluation: its words, and its statistic of the clusters' sums."""

    name: str
    label: str
    explanation: str
    statistic: Statistic
    higher_is_better: bool | None

    def interval(self, rows: Floats, *, seed: int = 0) -> Interval | None:
        """Give the metric its interval over questions (rows of `Sums`), of which those not measured do not count."""
        columns = slice(-_GROUNDED, None) if self.name == "groundedness" else slice(None, -_GROUNDED)
        measured = rows[rows[:, columns].any(axis=1)] if len(rows) else rows
        return bootstrap(measured, self.statistic, seed=seed)


def _grounded_share(sums: Floats) -> Floats:
    supported, sentences = sums[..., -2], sums[..., -1]
    share: Floats = np.divide(supported, sentences, out=np.full(sentences.shape, np.nan), where=sentences > 0)
    return share


def _on_coverage(statistic: Statistic) -> Statistic:
    return lambda sums: statistic(sums[..., :-_GROUNDED])


SUMMARY_METRICS: Mapping[str, SummaryMetric] = {
    metric.name: SummaryMetric(
        metric.name, metric.label, metric.formula, _on_coverage(metric.statistic), metric.higher_is_better
    )
    for metric in METRICS.values()
} | {
    "groundedness": SummaryMetric(
        "groundedness",
        "answer sentences supported by the prompt",
        "sentences entailed by a passage of the prompt / sentences of the answer",
        _grounded_share,
        higher_is_better=True,
    )
}
"""Every metric of a summary by its stable name: those of coverage, then groundedness."""


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One metric of one evaluation; where ``interval`` is None, ``undefined_because`` says why."""

    name: str
    label: str
    explanation: str
    interval: Interval | None
    undefined_because: str | None
    higher_is_better: bool | None


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """How many traces a measure measured, could not apply to, and failed on; ``reasons`` counts the last two."""

    measured: int
    not_applicable: int
    failed: int
    reasons: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """An evaluation in numbers. ``losses`` are of core sub-questions that the answer does not cover."""

    traces: int
    questions: int
    pipelines: tuple[str, ...]
    judge: str
    metrics: Mapping[str, MetricValue]
    scenarios: Mapping[Role, Scenarios]
    losses: Mapping[Loss, int]
    outcomes: Mapping[str, OutcomeCounts]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One metric on both sides: ``difference`` is b - a, ``p_value`` of the paired permutation test over the questions."""

    name: str
    label: str
    a: Interval | None
    b: Interval | None
    difference: float | None
    p_value: float | None
    questions: int
    higher_is_better: bool | None


@dataclass(frozen=True, slots=True)
class ChangedQuestion:
    """A question whose core sub-questions fare differently: shares answered, those only b answers, those only a does."""

    question: str
    key: str
    a: float | None
    b: float | None
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two pipelines side by side on the questions they share."""

    name_a: str
    name_b: str
    questions: int
    only_a: int
    only_b: int
    metrics: Mapping[str, MetricComparison]
    losses_a: Mapping[Loss, int]
    losses_b: Mapping[Loss, int]
    changed: tuple[ChangedQuestion, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class Sums:
    """What a summary or a comparison needs of the results, by question: a row of additive quantities, and core losses."""

    rows: dict[str, Floats] = field(default_factory=dict)
    losses: dict[str, Counter[Loss]] = field(default_factory=dict)

    def add(self, result: TraceResult) -> None:
        """Add one trace's result to its question's row."""
        key = question_key(result.trace.question)
        row = _row(result)
        self.rows[key] = self.rows[key] + row if key in self.rows else row
        if result.coverage:
            core = [each for each in result.coverage.sub_questions if each.role == Role.CORE]
            self.losses.setdefault(key, Counter()).update(each.loss for each in core if each.loss is not None)

    def losses_of(self, questions: Iterable[str]) -> dict[Loss, int]:
        """Count where these questions' core sub-questions were lost."""
        total = sum((self.losses.get(key, Counter()) for key in questions), Counter[Loss]())
        return {loss: total[loss] for loss in Loss}


def question_key(question: Question) -> str:
    """Tell questions apart: by id where there is one, else by text up to case, width and white space.

    >>> question_key(Question("Why  is the sky blue?")) == question_key(Question("why is the sky BLUE?"))
    True
    """
    if question.id is not None:
        return f"id:{question.id}"
    return "text:" + " ".join(unicodedata.normalize("NFKC", question.text).casefold().split())


def summarise(results: Iterable[TraceResult], *, judge: str, seed: int = 0) -> Summary:
    """Sum up results in one pass, with 95% bootstrap intervals clustered by question."""
    sums, traces = Sums(), 0
    pipelines: dict[str, None] = {}
    outcomes: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    notes: Counter[str] = Counter()
    retrieval = False
    for result in results:
        traces += 1
        retrieval = retrieval or _knows_retrieval(result)
        sums.add(result)
        if result.trace.pipeline:
            pipelines[result.trace.pipeline] = None
        for name, outcome in result.outcomes.items():
            outcomes[name][_state(outcome)] += 1
        notes.update(notes_on(result.coverage) if result.coverage else ())
    rows = np.array(list(sums.rows.values()))
    counts = {name: _counts(states) for name, states in outcomes.items()}
    return Summary(
        traces=traces,
        questions=len(sums.rows),
        pipelines=tuple(pipelines),
        judge=judge,
        metrics={
            name: _value(metric, rows, counts, retrieval=retrieval, seed=seed) for name, metric in SUMMARY_METRICS.items()
        },
        scenarios=scenarios_of(rows[:, :-_GROUNDED].sum(axis=0)) if len(rows) else {},
        losses=sums.losses_of(sums.rows),
        outcomes=counts,
        notes=tuple(f"{note}: {count} of {traces} traces" for note, count in sorted(notes.items())),
    )


def _row(result: TraceResult) -> Floats:
    coverage = statistics_as_rated(table_of(result.coverage), result.coverage.rating) if result.coverage else _NO_COVERAGE
    grounded = result.groundedness
    supported = sum(sentence.supported for sentence in grounded.sentences) if grounded else 0
    return np.concatenate([coverage, [supported, len(grounded.sentences) if grounded else 0]])


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
    metric: SummaryMetric, rows: Floats, counts: Mapping[str, OutcomeCounts], *, retrieval: bool, seed: int
) -> MetricValue:
    interval = metric.interval(rows, seed=seed)
    reason = None if interval else _reason(metric, counts, retrieval=retrieval)
    return MetricValue(metric.name, metric.label, metric.explanation, interval, reason, metric.higher_is_better)


def _reason(metric: SummaryMetric, counts: Mapping[str, OutcomeCounts], *, retrieval: bool) -> str:
    measure = "groundedness" if metric.name == "groundedness" else "coverage"
    if measure not in counts:
        return f"{measure} was not measured"
    if not counts[measure].measured:
        return next(iter(counts[measure].reasons), "no traces")
    if metric.name in _OF_RETRIEVAL and not retrieval:
        return "not applicable: no trace has retrieval steps"
    return "no sub-question of the traces counts in it"


_NO_COVERAGE = statistics_of(CoverageTable())
