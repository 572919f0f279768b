"""The loops of an evaluation: blocks of traces through an engine, results into a store or a tuple as they come.

Several processes may fill one store: what another has claimed is put aside, and looked at again when all else is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from rag_cover.engines import BlockFunction, Engine
from rag_cover.errors import StoreError
from rag_cover.evaluation.blocks import blocks_of
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.measures import TraceResult
from rag_cover.plugin_manager import notify_plugins
from rag_cover.questions import Question
from rag_cover.stores import Store
from rag_cover.stores.leases import Claimable, Worker, join_store
from rag_cover.traces import Trace

__all__ = ["Progress", "Watcher", "evaluate_in_memory", "evaluate_into_store"]

_LOT = 32  # traces claimed at once

Wanted = Claimable[Trace]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an evaluation is: traces done, of how many (None: not known), how many failed, how many others have done.

    ``resumed`` counts the traces that were done before, and those that another process does meanwhile.
    """

    done: int
    total: int | None
    failed: int
    resumed: int


Watcher = Callable[[Progress], None]


def evaluate_in_memory(
    runner: Engine, measure: BlockFunction, stream: Iterable[Trace], *, total: int | None, watcher: Watcher | None
) -> tuple[TraceResult, ...]:
    """Measure every trace, and hold the results in memory."""
    kept: list[TraceResult] = []
    failed = 0
    for results in _observed(runner.run(measure, blocks_of(stream))):
        kept += results
        failed += _failures(results)
        if watcher:
            watcher(Progress(len(kept), total, failed, 0))
    return tuple(kept)


def evaluate_into_store(  # what is measured, by whom, into what
    store: Store,
    stream: Iterable[Trace],
    *,
    runner: Engine,
    measuring: EvaluationPlan,
    about: Mapping[str, Any],
    resume: bool,
    total: int | None,
    watcher: Watcher | None,
) -> None:
    """Measure what the store does not hold yet under the same key, and keep each block, and what it cost, as it comes.

    Raises:
        StoreError: the store cannot be used, or is filled with something else.
    """
    any_trace = Trace(question=Question(text="?"))  # keys differ where measures or models do, whatever the trace
    same = {**about, "key": measuring.key_of(any_trace)}
    with join_store(store, same, resume=resume) as share:
        if measuring.redaction and not resume:
            store.scrub()  # of what an earlier evaluation kept there, which may not have been redacted
        work = _Work(share, enumerate(stream), measuring.key_of)
        filling = _Filling(work, runner, measuring, total, watcher or (lambda _: None))
        with filling.paid():
            filling.measure(work.fresh())
            while work.aside:
                filling.measure_again()
        share.finish(work.seen)
        filling.tell(work.seen, total if total is not None else work.seen)


@dataclass(slots=True)
class _Work:
    """The traces of a stream that this run has claimed, and those put aside because another run has."""

    share: Worker
    stream: Iterator[tuple[int, Trace]]
    key_of: Callable[[Trace], str]
    claimed: deque[tuple[int, str]] = field(default_factory=deque)
    aside: deque[Wanted] = field(default_factory=deque)
    seen: int = 0
    resumed: int = 0
    failed: int = 0

    def fresh(self) -> Iterator[Trace]:
        """Yield what is to be measured of the stream; what is put aside is looked at again as it goes, so that it stays few."""
        while lot := [Claimable(ordinal, self.key_of(trace), trace) for ordinal, trace in islice(self.stream, _LOT)]:
            self.seen = lot[-1].ordinal + 1
            yield from self._taken([*self._oldest(), *lot])

    def again(self) -> Iterator[Trace]:
        """Yield deferred traces whose claim is now free; stop when a full pass over the deferred queue claims none."""
        before = len(self.aside) + 1
        while 0 < len(self.aside) < before:
            before = len(self.aside)
            yield from self._taken(self._oldest())

    def items(self, results: Sequence[TraceResult]) -> list[tuple[int, str, TraceResult]]:
        """Pair the results of a block with the places and keys of its traces."""
        return [(*self.claimed.popleft(), result) for result in results]

    def _oldest(self) -> list[Wanted]:
        return [self.aside.popleft() for _ in range(min(_LOT, len(self.aside)))]

    def _taken(self, wanted: Sequence[Wanted]) -> Iterator[Trace]:
        lot = self.share.take(wanted)
        self.aside += lot.theirs
        self.resumed += lot.done
        self.failed += lot.failed
        for each in lot.mine:
            self.claimed.append((each.ordinal, each.key))
            yield each.carried


@dataclass(slots=True)
class _Filling:
    """Runs claimed traces through the engine, keeps their results, and tells how far it is."""

    work: _Work
    runner: Engine
    measuring: EvaluationPlan
    total: int | None
    watcher: Watcher
    done: int = 0

    def measure(self, traces: Iterable[Trace]) -> None:
        """Measure traces that this run has claimed."""
        for results in _observed(self.runner.run(self.measuring, blocks_of(traces))):
            self.work.share.keep(self.work.items(results), self.measuring.ledger.drain())
            self.done += len(results)
            self.work.failed += _failures(results)
            self.tell(self.done + self.work.resumed, self.total)

    def measure_again(self) -> None:
        """Retry traces that another process had claimed; if all are still claimed, wait before the caller tries again."""
        again = self.work.again()
        if first := next(again, None):
            self.measure(chain([first], again))
        elif self.work.aside:
            self.tell(self.done + self.work.resumed, self.total)
            self.work.share.pause()

    @contextmanager
    def paid(self) -> Iterator[None]:
        """Write the usage of language models to the store on exit, after an exception, too."""
        try:
            yield
        except StoreError:
            raise
        except BaseException:
            with suppress(StoreError):  # the error that broke it off is told
                self.work.share.keep([], self.measuring.ledger.drain())
            raise
        self.work.share.keep([], self.measuring.ledger.drain())

    def tell(self, done: int, total: int | None) -> None:
        """Tell how far the evaluation is."""
        self.watcher(Progress(done, total, self.work.failed, self.work.resumed))


def _failures(results: Sequence[TraceResult]) -> int:
    return sum(bool(result.failures) for result in results)


def _observed(batches: Iterable[Sequence[TraceResult]]) -> Iterator[Sequence[TraceResult]]:
    """Tell the plugins that watch about every result, as it passes."""
    for results in batches:
        for result in results:
            notify_plugins(result)
        yield results
