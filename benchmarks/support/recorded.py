"""Pipelines whose recording is timed: what each framework's must offer."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from rag_cover.recording import Recording

__all__ = ["QUOTED", "Pipeline", "Timings"]

QUOTED = 200
"""How many characters of what they are shown the stand-ins for language models answer with."""


class Pipeline(Protocol):
    """Answers questions, and can be recorded."""

    def ask(self, question: str) -> object:
        """Answer a question."""
        ...

    async def aask(self, question: str) -> object:
        """Answer a question, awaited."""
        ...

    def recorded(self, *, measuring: bool) -> AbstractContextManager[Recording]:
        """Record what is asked within."""
        ...

    def timed(self, recording: Recording) -> AbstractContextManager[Timings]:
        """Time the recording's handlers within."""
        ...


@dataclass
class Timings:
    """How long the calls of a recording's handlers took, in milliseconds; ``noted`` are those that added to it."""

    recording: Recording
    noted: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)

    def timed(self, method: Callable[..., Any], id_of: Callable[..., str]) -> Callable[..., Any]:
        """Time the calls of a method; ``id_of`` names the call that one is about, by what the method is given."""
        find = self.recording.gathering.find

        def timed(*given: Any, **named: Any) -> Any:
            id_ = id_of(*given, **named)
            is_noted = find(id_) is not None
            began = time.perf_counter()
            made = method(*given, **named)
            took = 1000 * (time.perf_counter() - began)
            (self.noted if is_noted or find(id_) is not None else self.others).append(took)
            return made

        return timed
