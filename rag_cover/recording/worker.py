"""Threads behind bounded queues: offering never blocks; it returns False where the queue is full."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, Generic, TypeVar
from weakref import WeakSet, WeakValueDictionary

from rag_cover.forks import reset_after_fork

__all__ = ["Worker", "WorkerThread"]

T = TypeVar("T")

_BLOCK = 16
_REST_S = 0.05
_IDLE_S = 10.0


class WorkerThread:
    """A thread that several workers share: it works for each in turn, and holds those alone that something waits for.

    It is begun when it is needed, and ends when its last worker stops, or when nothing was offered for ten seconds.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._users: WeakSet[Worker[Any]] = WeakSet()
        self._reset()
        reset_after_fork(self._reset)

    def _reset(self) -> None:
        """Begin without anything to do; in a process that is forked off, what waits is the parent's to work off."""
        self.changed = threading.Condition()  # over a lock that may be taken twice: a stream that is collected offers, too
        self.enough = threading.Event()
        self.flushing = 0
        self.thread: threading.Thread | None = None
        self._ready: deque[Worker[Any]] = deque()
        self._jobs: deque[Callable[[], object]] = deque()
        self._is_running = False

    @classmethod
    def share(cls, name: str, key: Hashable) -> WorkerThread:
        """Return the process's thread for this name and key; it runs as long as somebody uses it."""
        with _threads_lock:
            return _threads.setdefault((name, key), cls(name))

    def join(self, worker: Worker[Any]) -> None:
        """Work for one more."""
        with self.changed:
            self._users.add(worker)

    def leave(self, worker: Worker[Any]) -> None:
        """Work for one less."""
        with self.changed:
            self._users.discard(worker)
            self.enough.set()
            self.changed.notify_all()

    def submit(self, worker: Worker[Any]) -> None:
        """Give a worker its turn, after those that wait for theirs."""
        with self.changed:
            if worker not in self._ready:
                self._ready.append(worker)
            self._start()

    def run_later(self, job: Callable[[], object]) -> None:
        """Run a function on this thread; its exceptions are ignored."""
        with self.changed:
            self._jobs.append(job)
            self._start()

    @property
    def has_others(self) -> bool:
        """Tell whether somebody waits for a turn."""
        return bool(self._ready)

    def _start(self) -> None:
        self.changed.notify_all()
        if not self._is_running or self.thread is None or not self.thread.is_alive():  # a forked process has no threads
            self._is_running = True
            self.thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self.thread.start()

    def _run(self) -> None:
        while (turn := self._next()) is not None:
            with suppress(Exception):
                turn()
            del turn  # it holds whoever is worked for

    def _next(self) -> Callable[[], object] | None:
        """Wait for something to do; None: it is time to end."""
        with self.changed:
            self.changed.wait_for(lambda: self._jobs or self._ready or not self._users, _IDLE_S)
            if self._jobs:
                return self._jobs.popleft()
            if self._ready:
                return self._ready.popleft().take_turn
            self._is_running = False
            return None


_threads: WeakValueDictionary[Hashable, WorkerThread] = WeakValueDictionary()
_threads_lock = threading.RLock()


class Worker(Generic[T]):
    """Hands what it is offered to ``work``, in order, as many at a time as wait, and at most 16.

    Between blocks it rests for 50 ms, in which items collect: to be woken for every one would cost the host's threads more than
    the work does. Where a block's worth waits already, it rests for no longer than it worked; where somebody waits for it, or
    half of the capacity is taken, it does not rest.

    The thread is begun with the first offer, or by `begin`; workers of one name and ``key`` share it. What ``work`` raises
    costs its block alone, and goes to ``failed``.

    Args:
        work: called with each block.
        failed: called with what ``work`` raised.
        capacity: how many may wait.
        name: of the thread.
        key: what workers that share a thread have in common; None: this one has a thread of its own.
    """

    def __init__(
        self,
        work: Callable[[list[T]], object],
        failed: Callable[[Exception], object],
        *,
        capacity: int,
        name: str,
        key: Hashable | None = None,
    ) -> None:
        self._work, self._failed, self._capacity = work, failed, capacity
        self.shared = WorkerThread(name) if key is None else WorkerThread.share(name, key)
        self._stopping = self._is_begun = False
        self._first: Callable[[], object] | None = None
        self._reset()
        reset_after_fork(self._reset)
        self.shared.join(self)

    def _reset(self) -> None:
        """Begin with an empty queue; after a fork, with the condition and the event that the thread has made anew."""
        self._waiting: deque[T] = deque()
        self._changed, self._enough = self.shared.changed, self.shared.enough
        self._pending = self._most = 0

    def begin(self, first: Callable[[], object]) -> None:
        """Begin now, once, with something to do before anything is offered, such as to open what ``work`` needs.

        What that raises is not told: it is for ``work`` to try again.
        """
        with self._changed:
            if not self._is_begun:
                self._is_begun, self._first = True, first
                self.shared.submit(self)

    def offer(self, item: T) -> bool:
        """Take an item if there is room, without waiting; return whether it was taken."""
        with self._changed:
            if self._stopping or len(self._waiting) >= self._capacity:
                return False
            self._waiting.append(item)
            self._pending += 1
            self._most = max(self._most, len(self._waiting))
            if len(self._waiting) >= self._many:
                self._enough.set()
            self._is_begun = True
            self.shared.submit(self)
        return True

    @property
    def pending(self) -> int:
        """Count what was taken and is not worked off."""
        with self._changed:
            return self._pending

    @property
    def most_waiting(self) -> int:
        """Return how many waited at once, at most."""
        return self._most

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until all that was taken is worked off; tell whether it is. From its own thread: no, without waiting."""
        if threading.current_thread() is self.shared.thread:
            return False
        with self._changed:
            self.shared.flushing += 1
            self._enough.set()
            try:
                return self._changed.wait_for(lambda: not self._pending, timeout_s)
            finally:
                self.shared.flushing -= 1

    def stop(self) -> list[T]:
        """Take no more, and return what still waits; what is being worked on is finished by itself."""
        with self._changed:
            self._stopping = True
            left = list(self._waiting)
            self._waiting.clear()
            self._pending -= len(left)
            self.shared.leave(self)
        return left

    def take_turn(self) -> None:
        """Work off what waits, at most a block of it; on its thread."""
        first, self._first = self._first, None
        if first is not None:
            with suppress(Exception):
                first()
        if not (block := self._take()):
            return
        began = time.perf_counter()
        try:
            self._work(block)
        except Exception as error:  # noqa: BLE001  # the boundary of a thread that nobody watches: recorded
            self._failed(error)
        with self._changed:
            self._pending -= len(block)
            self._changed.notify_all()
            if self._waiting:
                self.shared.submit(self)
        self._rest(time.perf_counter() - began)

    @property
    def _many(self) -> int:
        """Return how many are worth being woken for."""
        return min(_BLOCK, max(1, self._capacity // 2))

    def _rest(self, worked_s: float) -> None:
        """Leave the interpreter to the host's threads, unless somebody waits or the queue is filling up."""
        with self._changed:
            if self._stopping or self.shared.flushing or 2 * len(self._waiting) >= self._capacity:
                return
            is_busy = len(self._waiting) >= self._many or self.shared.has_others
            if not is_busy:
                self._enough.clear()
        if is_busy:
            time.sleep(min(worked_s, _REST_S))
        else:
            self._enough.wait(_REST_S)

    def _take(self) -> list[T]:
        with self._changed:
            return [self._waiting.popleft() for _ in range(min(_BLOCK, len(self._waiting)))]
