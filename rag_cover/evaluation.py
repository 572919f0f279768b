"""Traces in, results out: the one place that runs work in parallel.

Traces are read in blocks; a block is measured by `measure_block`, which any engine may run; results come back in order and
go to the store as each block finishes, so that an interrupted evaluation loses at most the blocks in flight.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_cover.accounting import Spending
from rag_cover.caching import cache_for
from rag_cover.clocks import RunClock
from rag_cover.engines import BlockFunction, Engine
from rag_cover.errors import InvalidValueError, StoreError, nearest, needs_extra
from rag_cover.frames import rows_of
from rag_cover.measuring import OnError, blocks_of
from rag_cover.registry import Models, installed_engines, tell_plugins
from rag_cover.remote import RemoteRun
from rag_cover.results import Measure, TraceResult
from rag_cover.stores import Store, read_traces
from rag_cover.summaries import Summary, summarise
from rag_cover.threads import LocalEngine
from rag_cover.traces import Trace, identified
from rag_cover.working import Measuring

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Evaluation", "LocalEngine", "Progress", "evaluate"]

_SPENDING = "spending"
_FAILED = ":failed"  # ends the key of a result with a failure: no trace has such a key, so a resumed run measures it again


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an evaluation is: traces done, of how many (None: not known), how many failed, how many were done before."""

    done: int
    total: int | None
    failed: int
    resumed: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results of one evaluation, in trace order; read from its store where it has one.

    ``judge`` names the scorer, or the entailer where none scores, by its fingerprint, ``measures`` what was measured,
    ``spending`` what remote models were asked for it, over all the runs it took.
    """

    results: Sequence[TraceResult]
    judge: str
    measures: tuple[str, ...]
    seed: int = 0
    spending: Spending = field(default_factory=Spending)

    @classmethod
    def open(cls, path: Path | str) -> Evaluation:
        """Open the evaluation kept in a store.

        Raises:
            StoreError: there is no such store, or it holds no evaluation.
        """
        store = Store.open(Path(path), create=False)
        about = store.meta.get("evaluation")
        if about is None:
            message = f"{path} holds no evaluation yet; make one with 'rag-cover evaluate … --store {path}'"
            raise StoreError(message)
        return cls(store.results(), about["judge"], tuple(about["measures"]), about["seed"], _spent(store))

    def summary(self) -> Summary:
        """Sum up the results, with 95% bootstrap intervals clustered by question."""
        return summarise(self.results, judge=self.judge, seed=self.seed)

    def to_dataframe(self) -> pd.DataFrame:
        """Tabulate the results, one row per trace and sub-question (needs pandas)."""
        with needs_extra("all", "pandas"):
            import pandas as pd
        return pd.DataFrame.from_records([row for result in self.results for row in rows_of(result)])

    def to_html(self, path: Path | str) -> None:
        """Write the report: one self-contained HTML file."""
        from rag_cover.reports.html import write_report

        write_report(Path(path), self.results, self.summary())


def evaluate(  # noqa: PLR0913  # the public interface: all but the traces by name
    traces: Iterable[Trace] | Path,
    *,
    measures: Sequence[str | Measure] | None = None,
    models: Models = Models(),  # noqa: B008  # frozen
    store: Store | Path | None = None,
    resume: bool = False,
    engine: str | Engine = "local",
    workers: int | None = None,
    on_error: OnError = "record",
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    cache: Path | bool = True,
    deadline_s: float | None = None,
) -> Evaluation:
    """Measure every trace.

    Args:
        traces: trace values, or the path of a trace file.
        measures: names or measure values; None: every measure whose inputs and models are there.
        models: the models to ask; the embedded judge by default.
        store: where results are kept as they come; None keeps them in memory.
        resume: go on with what the store holds; otherwise it is begun anew. What it holds is kept and not asked for again,
            but for traces with a `Failure`: these are measured again, whatever its kind.
        engine: ``"local"``, the name of an installed engine, or an engine.
        workers: threads of the local engine; None: one per two cores, since judges use several.
        on_error: ``"record"`` keeps a `Failure` for each item that failed, ``"raise"`` stops at the first.
        seed: of everything drawn at random.
        progress: called after every block.
        cache: whether the answers of remote models are kept beside the store, where there is one; or the file to keep them in.
        deadline_s: after so many seconds remote models are no longer asked; what is left fails, and says so.

    Raises:
        InputError: a trace that cannot be read.
        StoreError: a store that cannot be used, or that holds an unfinished evaluation and ``resume`` is False.
        EvaluationError: the first failure, with ``on_error="raise"``.
    """
    run = RemoteRun(cache_for(cache, store.path if isinstance(store, Store) else store), clock=RunClock(deadline_s))
    measuring = Measuring.of(measures, models, run, on_error=on_error)
    total = len(traces) if isinstance(traces, Sized) else None
    stream = identified(read_traces(traces) if isinstance(traces, Path) else traces)
    runner = _engine(engine, workers, run.clock)
    if store is None:
        with run.clock:
            results = _in_memory(runner, measuring, stream, total, progress)
        return Evaluation(results, measuring.judge, measuring.names, seed, run.ledger.spending)
    kept = store if isinstance(store, Store) else Store.open(store, create=True)
    _begin(kept, {"judge": measuring.judge, "measures": measuring.names, "seed": seed}, resume=resume)
    with run.clock:
        _into_store(kept, runner, measuring, stream, total, progress)
    kept.finished = True
    return Evaluation(kept.results(), measuring.judge, measuring.names, seed, _spent(kept))


def _spent(store: Store) -> Spending:
    return Spending.from_dict(store.meta.get(_SPENDING, Spending().to_dict()))


def _engine(engine: str | Engine, workers: int | None, clock: RunClock) -> Engine:
    if not isinstance(engine, str):
        return engine
    if engine == "local":
        return LocalEngine(workers or max(1, (os.cpu_count() or 2) // 2), clock.stop)
    engines = installed_engines()
    if engine not in engines:
        known = ["local", *engines]
        message = f"No engine is called {engine!r}.{nearest(engine, known)} Installed: {', '.join(known)}."
        raise InvalidValueError(message)
    return engines[engine]()


def _begin(store: Store, about: dict[str, Any], *, resume: bool) -> None:
    if not resume:
        if len(store) and not store.finished:
            message = (
                f"{store.path} holds an unfinished evaluation ({len(store)} traces done); "
                "go on with it (resume=True, --resume) or delete the file to begin anew"
            )
            raise StoreError(message)
        store.clear()
    store.finished = False
    store.meta["evaluation"] = about


def _into_store(
    store: Store,
    runner: Engine,
    measuring: Measuring,
    stream: Iterable[Trace],
    total: int | None,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Measure what the store does not hold yet under the same key, and keep each block, and what it cost, as it comes."""
    known, before, key_of = dict(store.keys()), _spent(store), measuring.key_of
    pending: deque[tuple[int, str]] = deque()
    resumed = failed = seen = 0

    def unmeasured() -> Iterator[Trace]:
        nonlocal resumed, seen
        for ordinal, trace in enumerate(stream):
            seen = ordinal + 1
            key = key_of(trace)
            if known.get(ordinal) == key:
                resumed += 1
            else:
                pending.append((ordinal, key))
                yield trace

    done = 0
    for results in _observed(runner.run(measuring, blocks_of(unmeasured()))):
        store.append([_item(*pending.popleft(), result) for result in results])
        if spending := measuring.ledger.spending:
            store.meta[_SPENDING] = (before + spending).to_dict()
        done += len(results)
        failed += sum(bool(result.failures) for result in results)
        if progress:
            progress(Progress(done + resumed, total, failed, resumed))
    store.truncate(seen)
    if progress:
        progress(Progress(seen, total if total is not None else seen, failed, resumed))


def _item(ordinal: int, key: str, result: TraceResult) -> tuple[int, str, TraceResult]:
    return ordinal, f"{key}{_FAILED}" if result.failures else key, result


def _in_memory(
    runner: Engine,
    measure: BlockFunction,
    stream: Iterable[Trace],
    total: int | None,
    progress: Callable[[Progress], None] | None,
) -> tuple[TraceResult, ...]:
    kept: list[TraceResult] = []
    failed = 0
    for results in _observed(runner.run(measure, blocks_of(stream))):
        kept += results
        failed += sum(bool(result.failures) for result in results)
        if progress:
            progress(Progress(len(kept), total, failed, 0))
    return tuple(kept)


def _observed(batches: Iterable[Sequence[TraceResult]]) -> Iterator[Sequence[TraceResult]]:
    """Tell the plugins that watch about every result, as it passes."""
    for results in batches:
        for result in results:
            tell_plugins(result)
        yield results
