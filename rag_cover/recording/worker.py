"""A thread behind a bounded queue: whoever offers something never waits, and is told when there was no room."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

__all__ = ["Worker"]

T = TypeVar("T")

_BLOCK = 16
_REST_S = 0.05


class Worker(Generic[T]):
    """Hands what it is offered to ``work``, in order, as many at a time as wait, and at most 16.

    Between blocks it rests for 50 ms, in which items collect: to be woken for every one would cost the host's threads more than
    the work does. Where a block's worth waits already, it rests for no longer than it worked; where somebody waits for it, or
    half of the capacity is taken, it does not rest.

    The thread is begun with the first offer, or by `begin`. What ``work`` raises costs its block alone, and goes to ``failed``.

    Args:
        work: called with each block.
        failed: called with what ``work`` raised.
        capacity: how many may wait.
    """

    def __init__(
        self, work: Callable[[list[T]], object], failed: Callable[[Exception], object], *, capacity: int, name: str
    ) -> None:
        self._work, self._failed, self._name, self._capacity = work, failed, name, capacity
        self._waiting: deque[T] = deque()
        self._changed = threading.Condition()  # over a lock that may be taken twice: a stream that is collected offers, too
        self._enough = threading.Event()
        self._pending = self._most = self._flushing = 0
        self._stopping = False
        self._thread: threading.Thread | None = None

    def begin(self, first: Callable[[], object]) -> None:
        """Begin the thread now, with something to do before anything is offered, such as to open what ``work`` needs.

        What that raises is not told: it is for ``work`` to try again.
        """
        with self._changed:
            self._start(first)

    def offer(self, item: T) -> bool:
        """Take an item if there is room, without waiting; tell whether it was taken."""
        with self._changed:
            if self._stopping or len(self._waiting) >= self._capacity:
                return False
            self._waiting.append(item)
            self._pending += 1
            self._most = max(self._most, len(self._waiting))
            if len(self._waiting) >= self._many:
                self._enough.set()
            self._changed.notify_all()
            self._start()
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
        """Wait until all that was taken is worked off; tell whether it is. From ``work`` itself: no, without waiting."""
        if threading.current_thread() is self._thread:
            return False
        with self._changed:
            self._flushing += 1
            self._enough.set()
            try:
                return self._changed.wait_for(lambda: not self._pending, timeout_s)
            finally:
                self._flushing -= 1

    def stop(self) -> list[T]:
        """Take no more, and return what still waits; what is being worked on is finished by itself."""
        with self._changed:
            self._stopping = True
            self._enough.set()
            left = list(self._waiting)
            self._waiting.clear()
            self._pending -= len(left)
            self._changed.notify_all()
        return left

    def _start(self, first: Callable[[], object] = lambda: None) -> None:
        if self._thread is None or not self._thread.is_alive():  # a process that was forked has none of its parent's threads
            self._thread = threading.Thread(target=self._run, args=(first,), name=self._name, daemon=True)
            self._thread.start()

    def _run(self, first: Callable[[], object]) -> None:
        with suppress(Exception):
            first()
        while block := self._next():
            began = time.perf_counter()
            try:
                self._work(block)
            except Exception as error:  # noqa: BLE001  # the boundary of a thread that nobody watches: recorded
                self._failed(error)
            with self._changed:
                self._pending -= len(block)
                self._changed.notify_all()
            self._rest(time.perf_counter() - began)

    @property
    def _many(self) -> int:
        """Return how many are worth being woken for."""
        return min(_BLOCK, max(1, self._capacity // 2))

    def _rest(self, worked_s: float) -> None:
        """Leave the interpreter to the host's threads, unless somebody waits or the queue is filling up."""
        with self._changed:
            if self._stopping or self._flushing or 2 * len(self._waiting) >= self._capacity:
                return
            is_busy = len(self._waiting) >= self._many
            if not is_busy:
                self._enough.clear()
        if is_busy:
            time.sleep(min(worked_s, _REST_S))
        else:
            self._enough.wait(_REST_S)

    def _next(self) -> list[T]:
        """Wait for an item, and take those that wait behind it; none: it is time to stop."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping)
            return [self._waiting.popleft() for _ in range(min(_BLOCK, len(self._waiting)))]
