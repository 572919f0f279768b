"""Whether an event loop goes on while something is awaited: counted, not timed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import TypeVar

__all__ = ["Gate"]

T = TypeVar("T")

_TICKS = 3
_PATIENCE_S = 10


class Gate:
    """Where work waits until the loop has gone on; work that runs on the loop itself waits in vain, and fails."""

    def __init__(self) -> None:
        self._reached, self._open = threading.Event(), threading.Event()

    def wait(self) -> None:
        """Wait at the gate."""
        self._reached.set()
        assert self._open.wait(_PATIENCE_S), "the event loop is blocked"

    def run(self, awaited: Awaitable[T]) -> T:
        """Await something that waits at the gate, which opens once the loop has gone round a few times meanwhile."""

        async def both() -> T:
            made, _ = await asyncio.gather(awaited, self._tick())
            return made

        return asyncio.run(both())

    async def _tick(self) -> None:
        ticks = 0
        while ticks < _TICKS or not self._reached.is_set():
            await asyncio.sleep(0)
            ticks += 1
        self._open.set()
