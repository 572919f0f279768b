"""Conversations as they are shown: the turns of each, in the order in which they were asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from rag_cover.measures import TraceResult
from rag_cover.reports.question_page import QuestionView
from rag_cover.reports.sanitise import one_line
from rag_cover.traces import Trace

__all__ = ["ConversationView", "TurnView", "conversation_views"]

_WIDTH = 80
_FEW = 2


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn: its question as it is shown, and what was said where the question was made of it."""

    question: QuestionView
    said: str


@dataclass(frozen=True, slots=True)
class ConversationView:
    """A conversation; ``name`` is its anchor in the page, ``thread`` the name that the traces gave it."""

    name: str
    thread: str
    turns: tuple[TurnView, ...]

    @property
    def lost(self) -> int:
        """Count the turns that lost a core sub-question."""
        return sum(turn.question.lost_core for turn in self.turns)


def conversation_views(shown: Iterable[tuple[TraceResult, QuestionView]]) -> list[ConversationView]:
    """Group what is shown by conversation, those of several turns, in the order of their first ones.

    Turns whose times are not known stand last.
    """
    threads: dict[str, list[tuple[Trace, QuestionView]]] = {}
    for result, view in shown:
        if result.trace.thread_id is not None:
            threads.setdefault(result.trace.thread_id, []).append((result.trace, view))
    several = {thread: sorted(turns, key=_start_of_turn) for thread, turns in threads.items() if len(turns) >= _FEW}
    ordered = sorted(several.items(), key=lambda each: _start_of_turn(each[1][0]))
    return [
        ConversationView(f"c{number}", one_line(thread, limit=_WIDTH), tuple(_turn(*turn) for turn in turns))
        for number, (thread, turns) in enumerate(ordered, 1)
    ]


def _turn(trace: Trace, view: QuestionView) -> TurnView:
    asked = trace.metadata.get("asked")
    return TurnView(view, one_line(asked, limit=_WIDTH) if isinstance(asked, str) else "")


def _start_of_turn(turn: tuple[Trace, QuestionView]) -> datetime:
    trace, _ = turn
    began = chain((step.started_at for step in trace.steps), (call.started_at for call in trace.calls or ()))
    times = [time for time in began if time is not None]
    known = [time if time.tzinfo else time.replace(tzinfo=UTC) for time in times]
    return min(known, default=datetime.max.replace(tzinfo=UTC))
