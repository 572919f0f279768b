"""A process that measures beside its host (``measuring="process"``): begun, watched, and begun again where it dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess  # nosec B404  # this interpreter again
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.spawn import get_executable  # now: a process that is forked off amid an import never finishes it
from pathlib import Path
from typing import Any
from weakref import WeakMethod, WeakValueDictionary

from rag_cover.errors import EngineError, InvalidValueError
from rag_cover.forks import reset_after_fork
from rag_cover.recording.journal_evaluation import JournalProgress, Orders, Suspect
from rag_cover.recording.sinks import PartWriter
from rag_cover.stores.journals import JournalWriter
from rag_cover.traces import Trace

__all__ = ["WorkerProcess"]

_MOST_DEATHS = 5
_PAUSE_S = 0.2
_READ_BYTES = 65_536
_BOTH = 2
_NAME = "rag-cover-process"
_BOOT = (
    "import json, os, sys; getattr(os, 'nice', int)(5); sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "from rag_cover.recording.journal_evaluation import measure_for_host; measure_for_host()"
)
"""What the process runs: it gives way to its host, finds modules where that does, and does not run the host's program again."""


@dataclass(slots=True)
class _Deaths:
    """When the process died: how often, how often in a row without having measured anything, and on which trace."""

    count: int = 0
    in_a_row: int = 0
    begun: tuple[str, int] | None = None
    suspect: Suspect = field(default_factory=lambda: Suspect("", 0, 0))

    def add(self) -> None:
        """Note that the process died."""
        self.count += 1
        self.in_a_row += 1
        if self.begun is not None:
            known = (self.suspect.segment, self.suspect.traces) == self.begun
            self.suspect = Suspect(*self.begun, deaths=self.suspect.deaths + 1 if known else 1)
        self.begun = None

    def note_progress(self) -> None:
        """Note that what was begun is measured."""
        if self.begun is not None:
            self.in_a_row, self.begun = 0, None


class WorkerProcess:
    """Takes traces by writing them to a journal beside a store, and has a process of its own measure them into the store.

    A trace that was taken survives the host and the process: it is measured once, whoever dies when. A process that dies is
    begun again, unless it died five times in a row without having measured anything: then what is taken waits in the journal
    for the next recording with the same store. In a process that is forked off, a journal and a process are begun anew.

    Args:
        plan: what is measured, pickled (`rag_cover.recording.sendable`).
        measures: the names of the measures.
        store: the path of the store.
        seed: of the evaluation.
        capacity: how many traces may wait.
        failed: a method that is called with what went wrong, and where; its object is not kept alive.

    Raises:
        InvalidValueError: another recording of this process measures into the store by a process already.
        StoreError: the store or its folder cannot be written, or the store holds results of other measures.
    """

    is_closed: bool

    def __init__(
        self,
        plan: bytes,
        measures: tuple[str, ...],
        store: Path,
        *,
        seed: int,
        capacity: int,
        failed: Callable[[BaseException, str], object],
    ) -> None:
        self._plan, self._store, self._seed, self._capacity = plan, store.absolute(), seed, capacity
        self._failed = WeakMethod(failed)
        if (other := _workers.get(self._store.resolve())) is not None and not other.is_closed:
            message = (
                f"this process records into {store} with measuring='process' already: attach once, and use that recording, or "
                "close it before"
            )
            raise InvalidValueError(message)
        PartWriter(self._store, measures=measures, seed=seed).close()  # what is refused is refused now, and here
        self.is_closed = False
        self._pipes: list[int] = []
        self._journal: JournalWriter | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._reset()
        reset_after_fork(self._reset)
        _workers[self._store.resolve()] = self

    def _reset(self) -> None:
        """Begin without a journal and a process; those of a process that this one was forked off are not ours."""
        if self._process is not None:
            self._process.returncode = 0  # somebody else's child
        self._close_pipes()  # or the process would not notice that its host is over
        if self._journal is not None:
            self._journal.close()
        self._changed = threading.Condition()  # over a lock that may be taken twice: a stream that is collected offers, too
        self._journal = self._process = None
        self._watcher: threading.Thread | None = None
        self._is_sent = self._is_ready = self._is_given_up = False
        self._deaths = _Deaths()
        self._written = 0
        self._segment = ""
        self._earlier, self._current = JournalProgress(), JournalProgress()

    def begin(self) -> None:
        """Begin the process now, unless it runs.

        Raises:
            StoreError: the folder of parts cannot be made or written.
        """
        with self._changed:
            if self._journal is None:
                self._journal = JournalWriter(self._store)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, args=(self._journal.name,), name=_NAME, daemon=True)
                self._watcher.start()

    def offer(self, trace: Trace) -> bool:
        """Take a trace: it is in the journal when this returns True, and too many wait already where it returns False.

        Raises:
            OSError, ValueError: it cannot be written.
        """
        line = trace.to_json().encode() + b"\n"
        with self._changed:
            if self.is_closed or self.pending >= self._capacity:
                return False
            self.begin()
            if self._journal is not None:
                self._journal.append(line)
                self._written += 1
        return True

    @property
    def pending(self) -> int:
        """Count what was taken and is not measured."""
        return self._written - self._earlier.traces - self._current.traces

    @property
    def counts(self) -> Mapping[str, int]:
        """Count what is measured of this recording, and how often the process died."""
        with self._changed:
            parts = (self._earlier, self._current)
            unreadable = sum(each.unreadable for each in parts)
            return {
                "waiting": self.pending,
                "measured": sum(each.traces for each in parts) - unreadable,
                "failed": sum(each.failed for each in parts),
                "unreadable": unreadable,
                "process_deaths": self._deaths.count,
            }

    def wait_until_ready(self, timeout_s: float | None = None) -> None:
        """Wait until the process has opened its models.

        Raises:
            EngineError: it cannot.
        """
        self.begin()
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_ready or self._is_given_up, timeout_s) or self._is_given_up:
                message = "The process that measures has not opened its models; the log and recording.errors say why"
                raise EngineError(message)

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until all that was taken is measured; tell whether it is. Where the process is given up, do not wait."""
        with self._changed:
            self._changed.wait_for(lambda: not self.pending or self._is_given_up, timeout_s)
            return not self.pending

    def close(self, timeout_s: float | None = None) -> int:
        """Take no more, wait until the process has ended, and return how many traces it left.

        Where there is no time left, the process goes on by itself for a while.
        """
        with self._changed:
            if self.is_closed:
                return 0
            self.is_closed = True
            journal, watcher = self._journal, self._watcher
            if journal is not None:
                journal.close()
            self._end_process()
            self._changed.notify_all()
        if watcher is not None and watcher is not threading.current_thread():
            watcher.join(timeout_s)
        if journal is not None:
            journal.release()
        return self.pending

    def _watch(self, journal: str) -> None:
        """Begin the process, and again where it dies, until this is closed or it died too often."""
        while not self._is_given_up:
            try:
                ended = self._listen(self._spawn(), journal)
            except Exception as error:  # noqa: BLE001  # whatever it is, what was taken is not waited for in vain
                ended = f"cannot be begun: {error}"
            if self.is_closed:
                return
            self._note_death(ended)

    def _note_death(self, ended: str) -> None:
        with self._changed:
            self._is_ready = False
            self._deaths.add()
            self._is_given_up = self._deaths.in_a_row >= _MOST_DEATHS
            self._changed.notify_all()
        if self._is_given_up:
            message = (
                f"the process that measures {ended}, {_MOST_DEATHS} times by now without having measured anything: it is not "
                f"begun again. Traces wait at {self._store}, and the next recording with this store measures them"
            )
            self._fail(message, "giving up measuring")
            return
        self._fail(f"the process that measures {ended}; it is begun again, and goes on where it was", "measuring")
        with self._changed:
            self._changed.wait_for(lambda: self.is_closed, _PAUSE_S * 2 ** (self._deaths.in_a_row - 1))

    def _spawn(self) -> subprocess.Popen[bytes]:
        """Begin the process; its pipes are ours to read the second and to write the first."""
        with self._changed:
            read_by_it, written_by_us = os.pipe()
            read_by_us, written_by_it = os.pipe()
            self._pipes[:] = [read_by_us, written_by_us, read_by_it, written_by_it]  # a fork now closes them all
            try:
                self._process = subprocess.Popen(  # noqa: S603  # nosec B603  # this interpreter
                    [get_executable(), "-P", "-c", _BOOT], stdin=read_by_it, stdout=written_by_it
                )
            except BaseException:
                self._close_pipes()
                raise
            while len(self._pipes) > _BOTH:
                os.close(self._pipes.pop())
            return self._process

    def _listen(self, process: subprocess.Popen[bytes], journal: str) -> str:
        """Send the process its orders, hear it until it ends, and return how it did, "" where it was to."""
        read, written = self._pipes
        orders = Orders(str(self._store), journal, self._seed, self._deaths.suspect).write()
        with suppress(OSError):  # it has died at once
            _write(written, json.dumps(sys.path).encode() + b"\n" + orders + self._plan)
        with self._changed:
            self._is_sent = True
            if self.is_closed:
                self._end_process()
        rest = b""
        while heard := os.read(read, _READ_BYTES):
            *lines, rest = (rest + heard).split(b"\n")
            for line in lines:
                with suppress(ValueError, KeyError, TypeError):  # what else was printed there before it was heard
                    self._hear(json.loads(line), journal)
        code = process.wait()
        with self._changed:
            self._is_sent = False
            self._close_pipes()
        return _describe_end(code)

    def _close_pipes(self) -> None:
        while self._pipes:
            os.close(self._pipes.pop())

    def _end_process(self) -> None:
        """Close the pipe by which the process knows that its host is there, once it has its orders."""
        if self._is_sent and len(self._pipes) == _BOTH:
            os.close(self._pipes.pop())

    def _hear(self, said: dict[str, Any], journal: str) -> None:
        """Take in what the process says (`rag_cover.recording.journal_evaluation`)."""
        kind = said.pop("say")
        if kind == "failed":
            self._fail(f"{said['kind']}: {said['message']}", said["where"])
            return
        with self._changed:
            match kind:
                case "ready":
                    self._is_ready = True
                case "begun":
                    self._deaths.begun = (said["segment"], said["traces"])
                case "measured":
                    self._note_progress(said.pop("segment"), JournalProgress(**said), journal)
            self._changed.notify_all()

    def _note_progress(self, segment: str, progress: JournalProgress, journal: str) -> None:
        self._deaths.note_progress()
        if not segment.startswith(f"{journal}-"):
            return  # of a host that is gone
        if segment != self._segment:
            self._segment, self._earlier = segment, self._earlier + self._current
        self._current = progress

    def _fail(self, message: str, where: str) -> None:
        if (failed := self._failed()) is not None:
            failed(EngineError(message), where)


_workers: WeakValueDictionary[Path, WorkerProcess] = WeakValueDictionary()
"""The latest worker of each store: there is one at most that is not closed."""


def _write(pipe: int, content: bytes) -> None:
    while content:
        content = content[os.write(pipe, content) :]


def _describe_end(code: int) -> str:
    """Say how a process ended, as what it did.

    >>> _describe_end(-9), _describe_end(1), _describe_end(0)
    ('was ended by SIGKILL', 'ended with status 1', 'ended by itself')
    """
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with status {code}" if code else "ended by itself"
