"""What a dashboard holds of several evaluations: figures by store and pipeline, what was lost by cause, the worst questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from rag_cover.dashboards.causes import Cause, PartEvidence
from rag_cover.stats.intervals import Interval
from rag_cover.summaries import Summary
from rag_cover.traces import Trace

__all__ = [
    "CauseFigures",
    "Dashboard",
    "PipelineFigures",
    "RefusedStore",
    "Spread",
    "StoreFigures",
    "TimeSource",
    "WorstTrace",
]

TimeSource = Literal["traces", "file"]
"""What tells when an evaluation's answers were given: the traces' own times, or the time at which the file was written."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How values of single traces are spread; ``n`` is the number of traces that tell one."""

    median: float
    upper: float
    mean: float
    n: int


@dataclass(frozen=True, slots=True)
class PipelineFigures:
    """One pipeline in one store, or all traces of the store; ``name`` is empty where traces name none.

    ``latency_s`` is from the beginning of a trace's first step or call to the end of its last, ``tokens`` and ``cost`` are
    those of the pipeline's calls of models for one trace; None where no trace tells.
    """

    name: str
    summary: Summary
    latency_s: Spread | None
    tokens: Spread | None
    cost: Spread | None


@dataclass(frozen=True, slots=True)
class StoreFigures:
    """One store: ``traces`` of those that it holds were selected.

    ``units`` says what coverage was measured on for most of its traces, who made that, and at which thresholds; stores of
    another ``judge`` or other ``units`` are not compared. ``agreement`` is the share of labels of its answers to core
    sub-questions with which the judge agrees; its ``n`` counts questions, ``labels`` labels. ``pipelines_left_out`` counts
    pipelines beyond those that are told apart.
    """

    name: str
    time: datetime
    time_source: TimeSource
    judge: str
    measures: tuple[str, ...]
    units: str
    held: int
    all: PipelineFigures
    pipelines: tuple[PipelineFigures, ...]
    pipelines_left_out: int
    agreement: Interval | None
    labels: int
    causes: Mapping[Cause, int]

    @property
    def traces(self) -> int:
        """Count the selected traces."""
        return self.all.summary.traces

    @property
    def basis(self) -> tuple[str, str]:
        """Return what has to be the same where figures are compared."""
        return self.judge, self.units


@dataclass(frozen=True, slots=True)
class RefusedStore:
    """A store that could not be read, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class WorstTrace:
    """One trace whose answer leaves out much, by its main cause; ``test_question`` is the trace without what the pipeline did.

    ``covered`` of ``core`` core sub-questions are answered. ``test_question`` is None where the texts are redacted.
    """

    store: str
    time: datetime
    trace_id: str | None
    question: str
    pipeline: str | None
    answer: str | None
    covered: int
    core: int
    cause: Cause
    lost: tuple[str, ...]
    lost_count: int
    test_question: Trace | None

    @property
    def order(self) -> tuple[float, int]:
        """Return what the worst are sorted by: the share that is answered, then the most lost first."""
        return self.covered / self.core, -self.lost_count


@dataclass(frozen=True, slots=True)
class CauseFigures:
    """Core sub-questions lost by one cause: how many, in how many traces, in the latest store, and what is known of them.

    ``evidence`` counts equal evidence. ``worst`` are traces of which it is the main cause: of each question the latest.
    """

    cause: Cause
    lost: int
    traces: int
    in_latest: int
    evidence: Mapping[PartEvidence, int]
    worst: tuple[WorstTrace, ...]


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Several evaluations.

    ``stores`` are in order of time; ``causes`` those of most lost sub-questions first, and last what is unclear.
    """

    stores: tuple[StoreFigures, ...]
    refused: tuple[RefusedStore, ...]
    causes: tuple[CauseFigures, ...]
    selection: str

    @property
    def traces(self) -> int:
        """Count the selected traces of all stores."""
        return sum(store.traces for store in self.stores)

    @property
    def held(self) -> int:
        """Count the traces that the stores hold."""
        return sum(store.held for store in self.stores)

    @property
    def worst(self) -> tuple[WorstTrace, ...]:
        """Return the worst questions of all causes, the worst first."""
        every = (each for cause in self.causes for each in cause.worst)
        return tuple(sorted(every, key=lambda each: each.order))
