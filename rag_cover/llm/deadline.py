"""How long a run may go on: the one clock that all its waiting goes by."""

from __future__ import annotations

import threading
import time
from typing import Self

from rag_cover.errors import ModelFailedError

__all__ = ["LATE", "Deadline"]

LATE = "deadline"
"""The kind of a failure for which there was no time left."""


class Deadline:
    """Ends a run at its deadline, or at once when it is stopped: whoever waits by it then waits no longer.

    As a context it stops at the end, however that comes: an interrupted run's threads do not go on asking.
    """

    def __init__(self, deadline_s: float | None = None) -> None:
        self._deadline_s = deadline_s
        self._ends = None if deadline_s is None else self.now() + deadline_s
        self._stopped = threading.Event()

    def now(self) -> float:
        """Return the seconds since some moment in the past."""
        return time.monotonic()

    def stop(self) -> None:
        """End the run: every wait ends, and nothing is begun any more."""
        self._stopped.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def remaining_s(self) -> float | None:
        """Return the seconds left until the deadline, None where there is none."""
        return None if self._ends is None else max(0.0, self._ends - self.now())

    def check(self) -> None:
        """Raise where the run has ended.

        Raises:
            ModelFailedError: it was stopped, or its deadline has passed.
        """
        if self._stopped.is_set():
            message = "the run was stopped before this was asked"
            raise ModelFailedError(message, kind="stopped")
        if self.remaining_s() == 0:
            raise self._late()

    def sleep(self, seconds: float) -> None:
        """Wait; a wait that would outlast the run is not begun.

        Raises:
            ModelFailedError: the run has ended, or would end first.
        """
        self.check()
        remaining = self.remaining_s()
        if remaining is not None and seconds >= remaining:
            raise self._late()
        self._wait(seconds)
        self.check()

    def _wait(self, seconds: float) -> None:
        self._stopped.wait(seconds)

    def _late(self) -> ModelFailedError:
        message = f"the run's deadline of {self._deadline_s:g} s leaves no time for this; give it more, or resume it later"
        return ModelFailedError(message, kind=LATE)
