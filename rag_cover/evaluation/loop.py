"""The loop of every evaluation: what a sink lacks through an engine, and the results into the sink as they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol, TypeVar

from rag_cover.engines import Accountable, Block, Engine
from rag_cover.errors import StoreError
from rag_cover.evaluation.blocks import blocks_of
from rag_cover.llm.usage import UsageReport
from rag_cover.measures import TraceResult
from rag_cover.plugin_manager import notify_plugins
from rag_cover.stores import Store
from rag_cover.traces import Trace

__all__ = ["MemorySink", "Progress", "ResultSink", "StoreSink", "Watcher", "fill"]

_LOT = 32  # traces looked up at once

Unit = TypeVar("Unit")
Measured = TypeVar("Measured")
Unit_co = TypeVar("Unit_co", covariant=True)
Measured_co = TypeVar("Measured_co", covariant=True)
Unit_contra = TypeVar("Unit_contra", contravariant=True)
Measured_contra = TypeVar("Measured_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an evaluation is: traces done, of how many (None: not known), how many failed, how many were done before."""

    done: int
    total: int | None
    failed: int
    resumed: int


Watcher = Callable[[Progress], None]


class ResultSink(Protocol[Unit_co, Measured_contra]):
    """Where the results of an evaluation go; it knows which are there already.

    A unit is what an engine measures at once: a block of traces, a slice of a file.
    """

    def missing(self) -> Iterator[Unit_co]:
        """Yield the units whose results are not there, in order."""
        ...

    def write(self, measured: Measured_contra, spent: UsageReport) -> None:
        """Keep the results of the first unit that was yielded and has none yet, and what was spent since the last call.

        Raises:
            StoreError: they cannot be written.
        """
        ...

    def break_off(self, spent: UsageReport) -> None:
        """Keep what was spent on units that come to nothing."""
        ...

    def finish(self, spent: UsageReport) -> None:
        """Mark the evaluation as whole, and keep what else was spent."""
        ...


class MeasureUnit(Accountable, Protocol[Unit_contra, Measured_co]):
    """Measures a unit, and counts what remote models are asked for it."""

    def __call__(self, unit: Unit_contra, /) -> Measured_co:
        """Measure a unit."""
        ...


def fill(sink: ResultSink[Unit, Measured], engine: Engine, measure: MeasureUnit[Unit, Measured]) -> None:
    """Measure what a sink lacks, and hand over each unit's results, and what they cost, as they come.

    Raises:
        StoreError: the sink cannot be written.
        RagCoverError: what measuring raises; what was spent by then is kept.
    """
    try:
        for measured in engine.run(measure, sink.missing()):
            sink.write(measured, measure.ledger.drain())
        sink.finish(measure.ledger.drain())
    except BaseException:
        with suppress(StoreError):  # the error that broke it off is told
            sink.break_off(measure.ledger.drain())
        raise


@dataclass(slots=True)
class MemorySink:
    """Holds the results of a stream of traces in memory."""

    stream: Iterable[Trace]
    total: int | None = None
    watcher: Watcher | None = None
    results: list[TraceResult] = field(default_factory=list)
    spent: UsageReport = field(default_factory=UsageReport)
    failed: int = 0

    def missing(self) -> Iterator[Block]:
        """Yield all traces, in blocks."""
        return blocks_of(self.stream)

    def write(self, measured: Sequence[TraceResult], spent: UsageReport) -> None:
        """Hold the results of a block."""
        self.results += measured
        self.spent += spent
        self.failed += _explain(measured)
        if self.watcher:
            self.watcher(Progress(len(self.results), self.total, self.failed, 0))

    def break_off(self, spent: UsageReport) -> None:
        """Add what was spent."""
        self.spent += spent

    def finish(self, spent: UsageReport) -> None:
        """Add what was spent."""
        self.spent += spent


@dataclass(slots=True)
class StoreSink:
    """Keeps the results of a stream of traces in a store, which holds those of an earlier run under the same keys."""

    store: Store
    stream: Iterator[tuple[int, Trace]]
    key_of: Callable[[Trace], str]
    total: int | None = None
    watcher: Watcher | None = None
    out: deque[tuple[int, str]] = field(default_factory=deque)
    seen: int = 0
    done: int = 0
    resumed: int = 0
    failed: int = 0

    def missing(self) -> Iterator[Block]:
        """Yield the traces that have no result, or a failure, or a damaged one, in blocks."""
        return blocks_of(self._missing_traces())

    def write(self, measured: Sequence[TraceResult], spent: UsageReport) -> None:
        """Keep the results of a block in one transaction."""
        failed = _explain(measured)
        self.store.keep([(*self.out.popleft(), result) for result in measured], spent)
        self.done += len(measured)
        self.failed += failed
        self._tell(self.total)

    def break_off(self, spent: UsageReport) -> None:
        """Keep what was spent."""
        self.store.keep([], spent)

    def finish(self, spent: UsageReport) -> None:
        """Mark the evaluation as whole, without the results of traces that are no longer there."""
        self.store.keep([], spent)
        self.store.finish(self.seen)
        self._tell(self.seen if self.total is None else self.total)

    def _missing_traces(self) -> Iterator[Trace]:
        while lot := [(ordinal, self.key_of(trace), trace) for ordinal, trace in islice(self.stream, _LOT)]:
            present = self.store.present({ordinal: key for ordinal, key, _ in lot})
            self.seen += len(lot)
            self.resumed += len(present)
            for ordinal, key, trace in lot:
                if ordinal not in present:
                    self.out.append((ordinal, key))
                    yield trace

    def _tell(self, total: int | None) -> None:
        if self.watcher:
            self.watcher(Progress(self.done + self.resumed, total, self.failed, self.resumed))


def _explain(results: Sequence[TraceResult]) -> int:
    """Pass every result to the plugins' hook ``on_result``; return how many results have a failure."""
    for result in results:
        notify_plugins(result)
    return sum(bool(result.failures) for result in results)
