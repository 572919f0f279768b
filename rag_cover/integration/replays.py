"""Finished calls replayed through the recording code, which makes one trace of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NoReturn

from rag_cover.recording.calls import QuestionContext, TraceDraft
from rag_cover.recording.collector import CallCollector
from rag_cover.recording.trace_builder import TraceBuilder
from rag_cover.traces import Trace

__all__ = ["Replay"]


class Replay:
    """Takes the calls of one question in place of a recording: outermost first, each followed by those inside it.

    Nothing is measured, and what cannot be noted is raised.
    """

    def __init__(self) -> None:
        self._drafts: list[TraceDraft] = []
        self.gathering = CallCollector(self._drafts.append)
        self.asked: QuestionContext | None = None

    def fail(self, error: BaseException, where: str) -> NoReturn:
        """Raise what went wrong while a call was noted."""
        del where
        raise error

    def trace(self, times: Mapping[str, tuple[datetime | None, datetime | None]]) -> Trace | None:
        """Put the calls together, with the times at which they really began and ended; None where no question was noted.

        Raises:
            InputError: too many calls, or no question in any of them.
        """
        if not self._drafts:
            return None
        draft = self._drafts[0]
        for call in draft.calls:
            began, ended = times.get(call.id, (None, None))
            call.started_at, call.ended_at = began or call.started_at, ended or call.ended_at
        return TraceBuilder(references={}).trace(draft)
