"""Threads that share the arithmetic of a query: as many as the process may keep processors busy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from rag_cover.forks import reset_after_fork
from rag_cover.processors import usable_processors

__all__ = ["Workers", "shared_workers"]

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """A pool of threads that survives a fork. What runs in it never waits for something else that does."""

    def __init__(self) -> None:
        self.count = usable_processors()
        self._start()
        reset_after_fork(self._start)

    def _start(self) -> None:
        self._pool = ThreadPoolExecutor(self.count, thread_name_prefix="rag-cover-search")

    def begin(self, work: Callable[[], R]) -> Future[R]:
        """Begin work beside what the calling thread does."""
        return self._pool.submit(work)

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Work on each item, and return the results in their order."""
        return list(self._pool.map(work, items))


@cache
def shared_workers() -> Workers:
    """Return the threads that all indexes share."""
    return Workers()
