"""A thread behind a bounded queue: whoever offers something never waits, and is told when there was no room."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Worker"]

T = TypeVar("T")

_BLOCK = 16


class Worker(Generic[T]):
    """Hands what it is offered to ``work``, in order, as many at a time as wait, and at most 16.

    The thread is begun with the first offer. What ``work`` raises costs its block alone, and goes to ``failed``.

    Args:
        work: called with each block.
        failed: called with what ``work`` raised.
        capacity: how many may wait.
    """

    def __init__(
        self, work: Callable[[list[T]], object], failed: Callable[[Exception], object], *, capacity: int, name: str
    ) -> None:
        self._work, self._failed, self._name = work, failed, name
        self._waiting: queue.Queue[T | None] = queue.Queue(capacity)
        self._settled = threading.Condition()
        self._pending = 0
        self._stopping = False
        self._thread: threading.Thread | None = None

    def offer(self, item: T) -> bool:
        """Take an item if there is room, without waiting; tell whether it was taken."""
        with self._settled:
            if self._stopping or self._waiting.full():
                return False
            self._waiting.put_nowait(item)
            self._pending += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
        return True

    @property
    def pending(self) -> int:
        """Count what was taken and is not worked off."""
        with self._settled:
            return self._pending

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until all that was taken is worked off; tell whether it is. From ``work`` itself: no, without waiting."""
        if threading.current_thread() is self._thread:
            return False
        with self._settled:
            return self._settled.wait_for(lambda: not self._pending, timeout_s)

    def stop(self) -> list[T]:
        """Take no more, and return what still waits; what is being worked on is finished by itself."""
        left: list[T] = []
        with self._settled:
            if self._stopping:
                return left
            self._stopping = True
            while not self._waiting.empty():
                item = self._waiting.get_nowait()
                if item is not None:
                    left.append(item)
            self._pending -= len(left)
            self._waiting.put_nowait(None)
            self._settled.notify_all()
        return left

    def _run(self) -> None:
        while True:
            block = self._next()
            if block:
                try:
                    self._work(block)
                except Exception as error:  # noqa: BLE001  # the boundary of a thread that nobody watches: recorded
                    self._failed(error)
                with self._settled:
                    self._pending -= len(block)
                    self._settled.notify_all()
            else:
                return

    def _next(self) -> list[T]:
        """Wait for an item, and take those that wait behind it; none: it is time to stop."""
        first = self._waiting.get()
        block = [] if first is None else [first]
        while block and len(block) < _BLOCK and not self._waiting.empty():
            item = self._waiting.get_nowait()
            if item is None:  # put last, and seen again when this block is done
                self._waiting.put_nowait(None)
                break
            block.append(item)
        return block
