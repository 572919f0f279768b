"""Calls put together as they begin and end, from many threads and tasks at once: one draft for each outermost question.

This runs on the thread of whoever answers the question: a few dictionary operations under a lock, and no more.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Protocol

from rag_cover.forks import reset_after_fork
from rag_cover.recording.calls import Call, QuestionContext, TraceDraft
from rag_cover.spans.model import SpanKind

__all__ = ["CallCollector", "Noting"]

_MOST_LEFT = 10_000
_STALE_S = 3600.0
_STARTS: frozenset[SpanKind] = frozenset({"question", "retriever", "reranker", "postprocessor", "tool"})


class CallCollector:
    """The drafts under way.

    A call belongs to the draft of the call around it. One that stands alone begins a draft if it asks or retrieves, and is
    left out otherwise. What one question's draft holds is bounded, and so is how many are under way: what goes beyond makes
    its draft broken, or is not begun, and is counted; one that is under way for more than an hour makes room.

    Args:
        finished: called with every draft that is over, from the thread that ended it.
        sampling: the share of questions that are recorded, in [0, 1].
        seed: seed of the random generator.
        most_drafts: how many questions may be under way.
        most_calls: how many calls one question may make.
    """

    def __init__(
        self,
        finished: Callable[[TraceDraft], object],
        *,
        sampling: float = 1.0,
        seed: int = 0,
        most_drafts: int = 10_000,
        most_calls: int = 10_000,
    ) -> None:
        self._finished, self._sampling = finished, sampling
        self._most_drafts, self._most_calls = most_drafts, most_calls
        self._draw = random.Random(seed)  # noqa: S311  # which questions are recorded is no secret
        self._around: ContextVar[str | None] = ContextVar("rag_cover_around", default=None)
        self.only_asked = False
        """Whether questions that nothing was said of (`Recording.question`) are left out: those of somebody else."""
        self._reset()
        reset_after_fork(self._reset)

    def _reset(self) -> None:
        """Begin without an open call; those of a process that this one was forked off are ended there."""
        self._lock = threading.RLock()  # taken twice where a stream is collected, and so settled, while it is held
        self._open: dict[str, tuple[TraceDraft | None, Call | None]] = {}
        self._drafts: dict[str, TraceDraft] = {}
        self._left: dict[str, None] = {}
        self.begun = self.unsampled = self.refused = self.skipped = 0

    def begin(self, call_id: str, parent: str | None, call: Call | None, asked: QuestionContext | None = None) -> Call | None:
        """Note that a call began; ``call`` is None for one that says nothing itself. Return it where it is recorded."""
        with self._lock:
            parent = self._enclosing(parent)
            draft, above = self._open.get(parent, (None, None)) if parent else (None, None)
            if parent in self._open and (draft is None or draft.taken):  # inside a question that is not, or no longer, recorded
                self._leave([call_id])
                return None
            if draft is None:
                return self._start(call_id, call, asked)
            if call is None:
                self._open[call_id] = (draft, above)
                return None
            call.parent = above.id if above else None
            return self._join(draft, call)

    def above(self, call_id: str | None) -> Call | None:
        """Return the nearest call that says something, from an open one outward; None where nothing is recorded."""
        with self._lock:
            around = self._enclosing(call_id)
            return self._open.get(around, (None, None))[1] if around else None

    @contextmanager
    def within(self, call: Call, asked: QuestionContext | None) -> Iterator[None]:
        """Put what stands alone in this context under a call of the host's own, which lasts as long as the context."""
        self.begin(call.id, None, call, asked)
        try:
            with self.inside(call.id):
                yield
        finally:
            if call.answer is None and (draft := self.draft_of(call.id)) is not None and draft.root is call:
                call.answer = draft.last_answer
            self.settle(call.id)

    def knows(self, call_id: str) -> bool:
        """Tell whether a call is open, recorded or not."""
        with self._lock:
            return call_id in self._open

    def is_root(self, call: Call) -> bool:
        """Tell whether a call is the outermost of its question."""
        with self._lock:
            draft, _ = self._open.get(call.id, (None, None))
            return draft is not None and draft.root is call

    def find(self, call_id: str) -> Call | None:
        """Return an open call that is recorded, to be filled in before it is settled."""
        with self._lock:
            draft, call = self._open.get(call_id, (None, None))
            return call if draft is not None and call is not None and call.id == call_id else None

    def mute(self, call_id: str) -> None:
        """Record nothing below a call, until it is settled: what happens there does not reach the answer."""
        with self._lock:
            self._leave([call_id])

    def skip(self, call_id: str) -> None:
        """Leave out the draft of an outermost call that turned out to ask nothing."""
        with self._lock:
            draft, _ = self._open.get(call_id, (None, None))
            if draft is not None and draft.root.id == call_id:
                draft.over, draft.awaited = True, 0
                self.skipped += self._take(draft)

    def split(self, call_id: str, parts: Sequence[Call]) -> None:
        """Make drafts of their own of calls inside an outermost one that only asked several questions."""
        with self._lock:
            draft = self.draft_of(call_id)
            if draft is None or draft.root.id != call_id:
                return
            draft.over, draft.awaited = True, 0
            if not self._take(draft):
                return
            self.begun += len(parts) - 1
        for part in parts:
            self._finished(draft.part(part))

    def await_answer(self, call_id: str) -> None:
        """Keep a draft waiting for an answer that is written after its call is over; `answered` ends that."""
        with self._lock:
            draft, _ = self._open.get(call_id, (None, None))
            if draft is not None:
                draft.awaited += 1

    def draft_of(self, call_id: str | None) -> TraceDraft | None:
        """Return the draft that an open call belongs to, where it is recorded; None is what stands alone in this context."""
        with self._lock:
            around = self._enclosing(call_id)
            return self._open.get(around, (None, None))[0] if around else None

    def settle(self, call_id: str) -> None:
        """Take a call that is over out of the open ones; its draft is over with its outermost call."""
        if call_id not in self._open:  # as are most that might be: no need to wait for the lock
            return
        with self._lock:
            draft, call = self._open.get(call_id, (None, None))
            outermost = draft is not None and draft.root is call and draft.root.id == call_id
            if not outermost:  # the outermost stays until its answer is there: what writes it hangs below it
                self._forget(call_id)
            if draft is None or call is None or call.id != call_id:
                return
            call.ended_at = datetime.now(UTC)
            if not outermost:
                return
            draft.over = True
            done = self._take(draft)
        if done:
            self._finished(draft)

    def set_answer(self, draft: TraceDraft, answer: str | None, *, whole: bool = True) -> None:
        """Give a draft the answer that it waited for, None where nobody read it; part of one is no answer."""
        with self._lock:
            draft.awaited -= 1
            if answer is not None and whole:
                draft.root.answer = answer
            elif answer:
                draft.unfinished = answer
            done = self._take(draft)
        if done:
            self._finished(draft)

    @property
    def under_way(self) -> tuple[TraceDraft, ...]:
        """Return the drafts that are not over, or wait for an answer."""
        with self._lock:
            return tuple(self._drafts.values())

    def abandon(self) -> list[TraceDraft]:
        """Forget all that is under way; return the drafts that only waited for their answer to be read."""
        with self._lock:
            waiting = [draft for draft in self._drafts.values() if draft.over]
            self.refused += len(self._drafts) - len(waiting)
            self._drafts.clear()
            self._open.clear()
            self._left.clear()
        return waiting

    @contextmanager
    def inside(self, call_id: str) -> Iterator[None]:
        """Take calls that stand alone in this context for part of one that is open."""
        token = self._around.set(call_id)
        try:
            yield
        finally:
            with suppress(ValueError):  # an asynchronous generator may be closed in another context
                self._around.reset(token)

    def _enclosing(self, call_id: str | None) -> str | None:
        """Return what a call is in: the open call that its framework names, else the one that this context is in."""
        return call_id if call_id in self._open else self._around.get()

    def _start(self, call_id: str, call: Call | None, asked: QuestionContext | None) -> Call | None:
        if call is None or call.kind not in _STARTS:
            return None
        if self.only_asked and asked is None:
            self._leave([call_id])
            return None
        self.begun += 1
        if self._sampling < 1 and self._draw.random() >= self._sampling:
            self.unsampled += 1
        elif len(self._drafts) >= self._most_drafts and not self._drop_stale():
            self.refused += 1
        else:
            draft = TraceDraft(call, asked, [call])
            self._drafts[call.id] = draft
            self._open[call_id] = (draft, call)
            if asked is not None:
                asked.drafts.append(draft)
            return call
        self._leave([call_id])
        return None

    def _drop_stale(self) -> bool:
        """Make room by dropping the question that is under way for longest, as one that was cancelled is for ever."""
        oldest = next(iter(self._drafts.values()))
        if time.monotonic() - oldest.root.begun_s < _STALE_S:
            return False
        self.refused += 1
        oldest.over, oldest.awaited = True, 0
        return self._take(oldest)

    def _join(self, draft: TraceDraft, call: Call) -> Call:
        if len(draft.calls) < self._most_calls:
            draft.calls.append(call)
        else:
            draft.broken = True
        self._open[call.id] = (draft, call)
        return call

    def _take(self, draft: TraceDraft) -> bool:
        """Take a draft out once nothing more is to come; a second time it is not there any more."""
        if not draft.over or draft.awaited > 0 or draft.taken:
            return False
        draft.taken = self._drafts.pop(draft.root.id, None) is not None
        self._open.pop(draft.root.id, None)
        self._leave(call.id for call in draft.calls if call.id in self._open)
        return draft.taken

    def _leave(self, call_ids: Iterable[str]) -> None:
        """Remember calls of which nothing is recorded, so that what they call is not either: the latest, as some never end."""
        left = dict.fromkeys(call_ids)
        self._open |= dict.fromkeys(left, (None, None))  # nothing of the draft is held
        self._left |= left
        while len(self._left) > _MOST_LEFT:
            self._forget(next(iter(self._left)))

    def _forget(self, call_id: str) -> None:
        self._open.pop(call_id, None)
        self._left.pop(call_id, None)


class Noting(Protocol):
    """Who has calls noted: a recording, or what stands in for one."""

    @property
    def gathering(self) -> CallCollector:
        """Return where calls are put together."""
        ...

    @property
    def asked(self) -> QuestionContext | None:
        """Return what was said of the question that is being asked."""
        ...

    def fail(self, error: BaseException, where: str) -> object:
        """Take what went wrong where a call was noted."""
        ...
