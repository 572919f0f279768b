"""The local engine, threads of this process, and the engines that plugins bring, by name."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from rag_cover.engines import Engine
from rag_cover.errors import InvalidValueError, nearest, refuse_unknown_options
from rag_cover.llm.deadline import Deadline
from rag_cover.processors import usable_processors
from rag_cover.registry import find_engines

__all__ = ["LocalEngine", "open_engine", "resolve_engine"]

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


def resolve_engine(engine: str | Engine, workers: int | None, clock: Deadline) -> Engine:
    """Return the engine of this name, or the engine itself; the local one is stopped by the run's clock.

    Raises:
        InvalidValueError: no engine has this name.
    """
    if not isinstance(engine, str):
        return engine
    if engine == "local":
        return LocalEngine(workers or max(1, usable_processors() // 2), clock.stop)
    return open_engine(engine) if workers is None else open_engine(engine, workers=workers)


def open_engine(name: str, **options: Any) -> Engine:
    """Open an engine that a plugin brings, by name; options go to it, such as ``workers=4`` and Ray's ``address="auto"``.

    Raises:
        InvalidValueError: no installed plugin brings an engine of this name.
        UnknownOptionError: the engine has no such option.
    """
    engines = find_engines()
    if name not in engines:
        known = ["local", *engines]
        message = f"No engine is called {name!r}.{nearest(name, known)} Installed: {', '.join(known)}."
        raise InvalidValueError(message)
    refuse_unknown_options(name, options, list(inspect.signature(engines[name]).parameters))
    return engines[name](**options)
