"""The local engine: threads of this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["LocalEngine"]

Item = TypeVar("Item")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Applies a function in threads, a few items ahead of the one that is waited for.

    ``interrupted`` is called before waiting for the threads of a run that ends early.
    """

    workers: int
    interrupted: Callable[[], object] = lambda: None

    def run(self, function: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        """Yield what is made of each item, in order; at most ``workers`` + 1 items are in memory."""
        waiting: deque[Future[Made]] = deque()
        with ThreadPoolExecutor(self.workers, thread_name_prefix="rag-cover") as pool:
            try:
                for item in items:
                    waiting.append(pool.submit(function, item))
                    if len(waiting) > self.workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BaseException:
                self.interrupted()
                raise
            finally:
                for future in waiting:
                    future.cancel()
