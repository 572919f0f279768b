"""What retrieval was worth over a data set: by the position of the step, by retriever, and by type of question.

A retriever is what the trace's metadata names under ``retriever``, once for all its retrieval steps or by their ids; else the
step's own id, where the trace gives one; else the kind of the step.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag_cover.belief.result import StepUtility, TraceUtility
from rag_cover.measures import TraceResult
from rag_cover.question_keys import question_key
from rag_cover.stats.intervals import Interval, jackknife
from rag_cover.stats.question_rows import QuestionRows
from rag_cover.traces import RetrievalStep, Trace

__all__ = ["BINS", "GOLD_STRING_NAMES", "UtilityGroup", "UtilitySummary", "UtilitySums", "own_name", "retriever_name"]

Floats = NDArray[np.float64]

BINS = 20
"""How many equal bins a distribution of utilities cuts [-1, 1] into."""

GOLD_STRING_NAMES: Mapping[bool, str] = {True: "there, word for word", False: "not there"}
"""What traces are grouped by: whether a reference stands in the last context."""

_GIVEN_BY_POSITION = re.compile(r"step-\d+'*")


@dataclass(frozen=True, slots=True)
class UtilityGroup:
    """Steps, or traces, of one kind: their mean utilities with intervals over questions, how many there are, how many hurt.

    ``alone`` is None for traces, and for steps of which none had passages. Of those that hurt (below 0), ``clearly_hurt``
    have a whole interval below 0.
    """

    name: str
    marginal: Interval
    alone: Interval | None
    n: int
    hurt: int
    clearly_hurt: int


@dataclass(frozen=True, slots=True)
class UtilitySummary:
    """The utilities of all measured traces. ``distribution`` counts the traces' totals in `BINS` equal bins of [-1, 1].

    ``by_gold_string`` groups traces by whether a reference stands word for word in the last context: the simple thing beside
    ΔSePer. It is empty where the pipelines' answers stood in for references, and for results of versions that did not note it.
    """

    traces: int
    questions: int
    receivers: tuple[str, ...]
    references: tuple[str, ...]
    prior: Interval
    posterior: Interval
    total: Interval
    distribution: tuple[int, ...]
    by_position: tuple[UtilityGroup, ...]
    by_retriever: tuple[UtilityGroup, ...]
    by_query_type: tuple[UtilityGroup, ...]
    by_gold_string: tuple[UtilityGroup, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Group:
    """Sums by question: marginal utilities and their number, utilities alone and their number; ``low`` bounds the former."""

    rows: QuestionRows = field(default_factory=lambda: QuestionRows(4))
    hurt: int = 0
    clearly_hurt: int = 0
    low: float = -1.0

    def add(self, question: str, marginal: float, interval: Interval | None, alone: float | None = None) -> None:
        row = np.array([marginal, 1.0, alone or 0.0, alone is not None], dtype=np.float64)
        self.rows.add(question, row)
        self.hurt += marginal < 0
        self.clearly_hurt += interval is not None and interval.upper is not None and interval.upper < 0

    def summary(self, name: str) -> UtilityGroup:
        rows = self.rows.matrix()
        marginal = jackknife(rows[:, :2], _mean, low=self.low, high=1.0)
        if marginal is None:  # a group begins with its first member
            message = f"the group {name!r} is empty"
            raise ValueError(message)
        with_passages = rows[rows[:, 3] > 0][:, 2:]
        alone = jackknife(with_passages, _mean, low=-1.0, high=1.0)
        return UtilityGroup(name, marginal, alone, int(rows[:, 1].sum()), self.hurt, self.clearly_hurt)


@dataclass(slots=True)
class UtilitySums:
    """The utilities of results, gathered in one pass. ``query_type`` is the key of metadata that tells questions apart."""

    query_type: str = "query_type"
    totals: _Group = field(default_factory=_Group)
    priors: _Group = field(default_factory=lambda: _Group(low=0.0))
    posteriors: _Group = field(default_factory=lambda: _Group(low=0.0))
    positions: dict[str, _Group] = field(default_factory=dict)
    retrievers: dict[str, _Group] = field(default_factory=dict)
    query_types: dict[str, _Group] = field(default_factory=dict)
    gold_strings: dict[str, _Group] = field(default_factory=dict)
    bins: Counter[int] = field(default_factory=Counter)
    about: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, result: TraceResult) -> None:
        """Add one trace's result; one without a utility adds nothing."""
        if (utility := result.utility) is None:
            return
        trace, question, total = result.trace, question_key(result.trace.question), utility.total
        self.totals.add(question, total.value, total.interval)
        self.priors.add(question, total.prior.score, None)
        self.posteriors.add(question, total.posterior.score, None)
        self.bins[min(BINS - 1, int((total.value + 1) / 2 * BINS))] += 1
        for about, names in (
            ("receiver", (utility.receiver,)),
            ("references", (utility.references,)),
            ("approximation", utility.approximations),
        ):
            self.about.setdefault(about, {}).update(dict.fromkeys(names))
        for position, (step, measured) in enumerate(_steps(trace, utility), 1):
            alone = measured.alone.value if measured.alone else None
            groups = [(self.positions, f"{position}. {step.kind}")]
            if not step.replaces:
                groups.append((self.retrievers, retriever_name(trace, step)))
            for group, name in groups:
                group.setdefault(name, _Group()).add(question, measured.marginal.value, measured.marginal.interval, alone)
        if (kind := trace.metadata.get(self.query_type)) is not None:
            self.query_types.setdefault(str(kind), _Group()).add(question, total.value, total.interval)
        if (holds := utility.holds_reference) is not None:
            self.gold_strings.setdefault(GOLD_STRING_NAMES[holds], _Group()).add(question, total.value, total.interval)

    def summary(self) -> UtilitySummary | None:
        """Sum up; None where no result has a utility."""
        if not self.totals.rows:
            return None
        total, prior, posterior = (group.summary("") for group in (self.totals, self.priors, self.posteriors))
        return UtilitySummary(
            traces=total.n,
            questions=len(self.totals.rows),
            receivers=tuple(self.about["receiver"]),
            references=tuple(self.about["references"]),
            prior=prior.marginal,
            posterior=posterior.marginal,
            total=total.marginal,
            distribution=tuple(self.bins[number] for number in range(BINS)),
            by_position=_summaries(dict(sorted(self.positions.items(), key=_by_number))),
            by_retriever=_summaries(self.retrievers),
            by_query_type=_summaries(self.query_types),
            by_gold_string=_summaries(dict(sorted(self.gold_strings.items(), reverse=True))),
            notes=tuple(f"Entailment was approximated: {name}." for name in self.about["approximation"]),
        )


def retriever_name(trace: Trace, step: RetrievalStep) -> str:
    """Name what retrieved the passages of a step.

    >>> step = RetrievalStep(id="bm25")
    >>> retriever_name(Trace(question="Why?", steps=(step,)), step)
    'bm25'
    """
    match trace.metadata.get("retriever"):
        case str(name):
            return name
        case Mapping() as by_step if step.id in by_step:
            return str(by_step[step.id])
    return own_name(step.id) or step.kind


def own_name(step_id: str) -> str:
    """Return the name that a trace gave its step; empty where the step was numbered by its position.

    >>> own_name("bm25"), own_name("step-2")
    ('bm25', '')
    """
    return "" if _GIVEN_BY_POSITION.fullmatch(step_id) else step_id


def _steps(trace: Trace, utility: TraceUtility) -> Iterator[tuple[RetrievalStep, StepUtility]]:
    return zip(trace.steps, utility.steps, strict=True)


def _summaries(groups: Mapping[str, _Group]) -> tuple[UtilityGroup, ...]:
    return tuple(group.summary(name) for name, group in groups.items())


def _by_number(item: tuple[str, _Group]) -> tuple[int, str]:
    number, _, kind = item[0].partition(".")
    return int(number), kind


def _mean(sums: Floats) -> Floats:
    mean: Floats = np.divide(sums[..., 0], sums[..., 1], out=np.full(sums.shape[:-1], np.nan), where=sums[..., 1] > 0)
    return mean
