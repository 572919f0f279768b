"""Questions whose graph was interrupted: they go on with the next run of their thread that resumes it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rag_cover.recording import TraceDraft
from rag_cover_langchain.calls import Run

__all__ = ["InterruptedThreads", "is_interrupted", "is_resumption"]

_MOST = 1000
_MOST_S = 3600.0


class InterruptedThreads:
    """The drafts that wait for their thread to be resumed, the longest first.

    One that waits for more than an hour, or is one too many, is released, as is one whose thread is asked something else.

    Args:
        release: called with a draft that is waited for no longer.
    """

    def __init__(self, release: Callable[[TraceDraft], object]) -> None:
        self._release = release
        self._waiting: dict[str, tuple[float, TraceDraft]] = {}
        self._lock = threading.Lock()

    def add(self, thread: str, draft: TraceDraft) -> None:
        """Wait for a thread to be resumed."""
        with self._lock:
            released = [self._waiting.pop(thread, None)]
            self._waiting[thread] = (time.monotonic(), draft)
            released += self._pop_late()
        self._let_go([each for each in released if each is not None and each[1] is not draft])

    def resume(self, thread: str | None, run: Run) -> TraceDraft | None:
        """Return the draft that a run goes on with; one that its thread leaves behind is released."""
        if not self._waiting or thread is None:
            return None
        with self._lock:
            found = self._waiting.pop(thread, None)
            late = self._pop_late()
        self._let_go(late)
        if found is None:
            return None
        if not is_resumption(run.inputs):
            self._let_go([found])
            return None
        for call in found[1].calls:
            if isinstance(call, Run):
                call.is_interrupted = False
        return found[1]

    def _pop_late(self) -> list[tuple[float, TraceDraft]]:
        late = [name for name, (since, _) in self._waiting.items() if time.monotonic() - since > _MOST_S]
        late += list(self._waiting)[: max(0, len(self._waiting) - _MOST)]
        return [self._waiting.pop(name) for name in dict.fromkeys(late)]

    def _let_go(self, waiting: list[tuple[float, TraceDraft]]) -> None:
        for _, draft in waiting:
            self._release(draft)


def is_interrupted(draft: TraceDraft, run: Run) -> bool:
    """Return whether a graph that has a thread ended before it answered.

    A node of it was interrupted, or it stopped before one without an answer, as at a breakpoint.
    """
    if run.thread_id is None or run.error is not None or not (isinstance(draft.root, Run) and draft.root.is_graph):
        return False
    return run.answer is None or any(isinstance(call, Run) and call.is_interrupted for call in draft.calls)


def is_resumption(inputs: object) -> bool:
    """Return whether a graph is given nothing new: no input, or LangGraph's command to go on."""
    return inputs is None or (type(inputs).__name__ == "Command" and getattr(inputs, "resume", None) is not None)
