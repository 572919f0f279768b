"""The process that measures what another one records (``measuring="process"``): journals in, results out, into the store.

It is begun by `rag_cover.recording.worker_process`, which sends it on its standard input how to measure, and hears from it on
what was its standard output, one JSON object a line. It ends with its host: once its standard input is closed, it measures what
is written for ten seconds at most, and leaves the rest to the next recording with the same store.
"""

from __future__ import annotations

import json
import os
import pickle  # nosec B403  # what the host itself sends
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from rag_cover.backends import Failure
from rag_cover.errors import RagCoverError
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.measures import TraceResult
from rag_cover.recording.notifications import notify
from rag_cover.recording.sinks import PartWriter
from rag_cover.stores.journals import JournalReader, clear_journal, find_segments, is_abandoned, lock_abandoned, part_of
from rag_cover.stores.locks import HeldLock, acquire, lock_beside
from rag_cover.traces import Trace

__all__ = ["BLOCK", "DIED", "JournalEvaluation", "JournalProgress", "Orders", "Suspect", "measure_for_host"]

BLOCK = 16
"""How many traces are measured at a time."""
DIED = "WorkerDied"
"""The kind of the failure of a trace on which the process died again and again."""
_MOST_DEATHS = 3
_PATIENCE_S = 10.0
_REST_S = 0.05
_SCAN_S = 1.0
_PROGRESS = "progress"

Tell = Callable[[str, Mapping[str, Any]], object]
"""Tells the host something of a kind."""


@dataclass(frozen=True, slots=True)
class JournalProgress:
    """How far a segment is measured: in bytes and in traces, of which some failed on a measure, or could not be read."""

    position: int = 0
    traces: int = 0
    failed: int = 0
    unreadable: int = 0

    def __add__(self, other: JournalProgress) -> JournalProgress:
        return JournalProgress(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True, slots=True)
class Suspect:
    """The trace of a segment before which the process died, so many times."""

    segment: str
    traces: int
    deaths: int

    def block_size(self, segment: str, traces: int) -> int:
        """Return how many traces are measured at a time: one by one where one of them may be what kills the process.

        >>> Suspect("s", 32, 1).block_size("s", 40), Suspect("s", 32, 1).block_size("s", 48)
        (1, 16)
        """
        return 1 if segment == self.segment and self.traces <= traces < self.traces + BLOCK else BLOCK

    def is_deadly(self, segment: str, traces: int) -> bool:
        """Tell whether the process died on one trace so often that it is left unmeasured."""
        return (segment, traces) == (self.segment, self.traces) and self.deaths >= _MOST_DEATHS


@dataclass(frozen=True, slots=True)
class Orders:
    """What the host sends: the store, the name of its journal, and on which trace the process died before."""

    store: str
    journal: str
    seed: int = 0
    suspect: Suspect = Suspect("", 0, 0)

    @classmethod
    def read(cls, line: bytes) -> Self:
        """Read what `write` wrote."""
        data = json.loads(line)
        return cls(**{**data, "suspect": Suspect(**data["suspect"])})

    def write(self) -> bytes:
        """Write one line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"


class JournalEvaluation:
    """Measures the journal of a host as it grows, and those of hosts that are gone."""

    def __init__(self, plan: EvaluationPlan, orders: Orders, tell: Tell) -> None:
        self._plan, self._orders, self._tell = plan, orders, tell
        self._store = Path(orders.store)
        self._own: _OpenSegment | None = None
        self._abandoned: tuple[_OpenSegment, HeldLock] | None = None
        self._scanned_s = self._looked_s = -_SCAN_S

    def run(self, over: threading.Event, patience_s: float = _PATIENCE_S) -> int:
        """Measure until the host is over and nothing is left, or no time; return how many traces of its journal are left."""
        until: float | None = None
        while True:
            is_over = over.is_set() or self._is_orphan()  # before looking: what was written until then is seen
            if is_over and until is None:
                until = time.monotonic() + patience_s
            try:
                is_busy = self._measure_own(is_over=is_over) or self._measure_abandoned(is_over=is_over)
            except (RagCoverError, OSError) as error:  # such as on a full disk: what is not kept is measured again
                self.fail(error, "keeping results")
                self._release()
                is_busy = False
                time.sleep(_REST_S if is_over else _SCAN_S)
            if until is not None and (time.monotonic() >= until or not (is_busy or self._count_left())):
                break
            if not is_busy:
                over.wait(_REST_S) if not is_over else time.sleep(_REST_S)
        left = self._count_left()
        self._release()
        if not left:
            clear_journal(self._store, self._orders.journal)
        return left

    def fail(self, error: Exception, where: str) -> None:
        """Tell the host what went wrong."""
        self._tell("failed", {"kind": type(error).__name__, "message": str(error), "where": where})

    def _measure_own(self, *, is_over: bool) -> bool:
        """Measure a block of the host's journal; tell whether there was one."""
        segments = find_segments(self._store, self._orders.journal)
        if self._own is None and segments:
            self._own = self._open(segments[0])
        if self._own is None:
            return False
        is_whole = is_over or self._own.path != segments[-1]  # nothing is added where the next segment is begun
        if self._measure_block(self._own):
            return True
        if is_whole:
            own, self._own = self._own, None
            own.finish()
        return is_whole

    def _measure_abandoned(self, *, is_over: bool) -> bool:
        """Measure a block of the journal of a host that is gone; tell whether there was one."""
        if self._abandoned is None and (is_over or time.monotonic() - self._scanned_s >= _SCAN_S):
            self._scanned_s = time.monotonic()
            self._abandoned = self._take_over()
        if self._abandoned is None:
            return False
        segment, lock = self._abandoned
        if not self._measure_block(segment):
            self._abandoned, self._scanned_s = None, -_SCAN_S
            segment.finish()
            lock.release()
        return True

    def _take_over(self) -> tuple[_OpenSegment, HeldLock] | None:
        """Open the first segment of a host that is gone which nobody else measures."""
        for path, lock in lock_abandoned(self._store, besides=self._orders.journal):
            try:
                if (segment := self._open(path)) is not None:
                    return segment, lock
            except BaseException:
                lock.release()
                raise
            lock.release()
        return None

    def _is_orphan(self) -> bool:
        """Tell whether the host is over, by its lock: a process that was forked off it may keep the pipe open."""
        if time.monotonic() - self._looked_s < _SCAN_S:
            return False
        self._looked_s = time.monotonic()
        return is_abandoned(self._store, self._orders.journal)

    def _open(self, path: Path) -> _OpenSegment | None:
        segment = _OpenSegment.claim(path, self._store, self._plan, self._orders.seed)
        if segment is not None:
            self._tell_progress(segment)
        return segment

    def _measure_block(self, segment: _OpenSegment) -> bool:
        """Measure the next lines of a segment, and keep the results; tell whether there were any."""
        suspect, at = self._orders.suspect, (segment.path.name, segment.progress.traces)
        if not (lines := segment.reader.read(suspect.block_size(*at))):
            return False
        traces = [trace for line in lines if (trace := self._read(line)) is not None]
        if suspect.is_deadly(*at):
            message = f"the process that measures ended {suspect.deaths} times when it measured this trace"
            results = self._results_that_failed(traces, Failure(DIED, message))
        else:
            self._tell("begun", {"segment": at[0], "traces": at[1]})
            results = self._measure(traces)
        keyed = list(zip(map(self._plan.key_of, traces), results, strict=True))
        segment.keep(lines, keyed, self._plan.judged_by)
        self._tell_progress(segment)
        for result in results:
            notify(result, None, self.fail)
        return True

    def _read(self, line: bytes) -> Trace | None:
        try:
            return Trace.model_validate_json(line)
        except ValueError as damaged:
            self.fail(damaged, "reading a trace that waited")
            return None

    def _measure(self, traces: Sequence[Trace]) -> Sequence[TraceResult]:
        try:
            return self._plan(traces) if traces else []
        except Exception as error:  # noqa: BLE001  # nobody watches this process: recorded
            self.fail(error, "measuring")
            return self._results_that_failed(traces, Failure(type(error).__name__, str(error)))

    def _results_that_failed(self, traces: Sequence[Trace], failure: Failure) -> Sequence[TraceResult]:
        return [TraceResult(trace, dict.fromkeys(self._plan.names, failure)) for trace in traces]

    def _tell_progress(self, segment: _OpenSegment) -> None:
        self._tell("measured", {"segment": segment.path.name, **asdict(segment.progress)})

    def _count_left(self) -> int:
        """Count the traces of the host's journal that are not measured."""
        segments = find_segments(self._store, self._orders.journal)
        done = self._own.progress.traces if self._own is not None else 0
        lines = sum(content.count(b"\n") for content in map(_content_of, segments))
        return max(0, lines - done)

    def _release(self) -> None:
        """Let go of what is open; it is gone on with from where its results were kept last."""
        opened = [self._own, *([] if self._abandoned is None else [self._abandoned[0]])]
        locks = [] if self._abandoned is None else [self._abandoned[1]]
        self._own = self._abandoned = None
        for segment in opened:
            if segment is not None:
                with suppress(RagCoverError, OSError):
                    segment.close()
        for lock in locks:
            lock.release()


def _content_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


@dataclass(slots=True)
class _OpenSegment:
    """A segment that this process measures into its part."""

    path: Path
    reader: JournalReader
    writer: PartWriter
    progress: JournalProgress

    @classmethod
    def claim(cls, path: Path, store: Path, plan: EvaluationPlan, seed: int) -> Self | None:
        """Open a segment where it was left; None where another process has it, or has measured it."""
        part = part_of(path)
        if (lock := acquire(lock_beside(part))) is None:
            return None
        if not path.exists():
            lock.release()
            return None
        try:
            writer = PartWriter(store, measures=plan.names, seed=seed, place=(part, lock))
            progress = JournalProgress(**writer.part_meta.get(_PROGRESS, {}))
        except BaseException:
            lock.release()
            raise
        return cls(path, JournalReader(path, progress.position), writer, progress)

    def keep(self, lines: Sequence[bytes], results: Sequence[tuple[str, TraceResult]], judged_by: Mapping[str, Any]) -> None:
        """Add the results of lines to the part, together with how far the segment is measured by then."""
        after = replace(
            self.progress,
            position=self.reader.position + sum(map(len, lines)),
            traces=self.progress.traces + len(lines),
            failed=self.progress.failed + sum(bool(result.failures) for _, result in results),
            unreadable=self.progress.unreadable + len(lines) - len(results),
        )
        self.writer.add(results, judged_by=judged_by, meta={_PROGRESS: asdict(after)})
        self.reader.skip(lines)
        self.progress = after

    def finish(self) -> None:
        """Remove a segment that is measured and will not grow; its part is merged like any other then."""
        self.reader.close()
        with suppress(OSError):  # such as on Windows, while the host has it open: removed another time
            self.path.unlink()
        self.writer.close()

    def close(self) -> None:
        """Leave the segment as it is."""
        self.reader.close()
        self.writer.close()


def measure_for_host() -> None:
    """Measure for the process that began this one, until that closes the standard input of this one, or ends."""
    for name in ("SIGINT", "SIGTERM"):  # meant for the host, which ends this process
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    tell = _Telling(_take_output())
    orders = Orders.read(sys.stdin.buffer.readline())
    plan: EvaluationPlan = pickle.load(sys.stdin.buffer)  # noqa: S301  # nosec B301  # what the host itself sends
    evaluation = JournalEvaluation(plan, orders, tell)
    over = threading.Event()
    threading.Thread(target=_wait_for_end, args=(over, orders.store), daemon=True).start()
    try:
        plan.open()
    except Exception as error:  # noqa: BLE001  # told, and the exit status says it too
        evaluation.fail(error, "opening the models")
        sys.exit(1)
    tell("ready", {})
    if left := evaluation.run(over):
        _say(f"{left} traces", orders.store)


def _say(left: str, store: str) -> None:
    """Say what is left to whoever reads the errors of this process: its host may be gone."""
    rest = "not measured; the next recording with this store and measuring='process' measures them"
    print(f"rag_cover: {left} that wait at {store} are {rest}", file=sys.stderr, flush=True)  # noqa: T201


class _Telling:
    """Writes to the host, as long as it listens."""

    def __init__(self, output: int) -> None:
        self._output = output
        self._lock = threading.Lock()

    def __call__(self, kind: str, facts: Mapping[str, Any]) -> None:
        line = json.dumps({"say": kind, **facts}).encode() + b"\n"
        with self._lock, suppress(OSError):  # the host is gone
            os.write(self._output, line)


def _take_output() -> int:
    """Return the pipe to the host; what models print goes where errors go."""
    taken = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return taken


def _wait_for_end(over: threading.Event, store: str) -> None:
    """Note when the host closes the pipe or ends; a model that does not answer for long after that is not waited for."""
    with suppress(OSError):
        while os.read(sys.stdin.fileno(), 1):  # not by way of its buffer, which would be locked when this process ends
            pass
    over.set()
    time.sleep(3 * _PATIENCE_S)
    _say("traces", store)
    os._exit(1)
