"""What happens while a pipeline answers: its calls, noted in microseconds where they happen, read later elsewhere."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rag_cover.questions import SubQuestion, json_value, legible
from rag_cover.spans.model import CallSpan, SpanKind

__all__ = ["Call", "QuestionContext", "TraceDraft"]

_UNENDED = "it was not over when its question was"

Records = Sequence[Mapping[str, Any]]
"""Passages as JSON objects with id, text, title, score and metadata: copies, since the pipeline may change what it holds."""


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """What somebody who knows it said of the question that is asked next; None and empty are not said."""

    text: str | None = None
    id: str | None = None
    references: tuple[str, ...] = ()
    sub_questions: tuple[SubQuestion, ...] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Call:
    """One call of a pipeline that is under way or over.

    ``parent`` is the nearest call around it that is noted too. ``prompt`` is all that a language model was shown.
    ``asked`` is what a user said, where ``query`` is the standalone question that was made of it.
    ``remembered`` is what an outermost call still has from earlier questions. ``place`` is where it stands in a distributed
    trace.
    """

    id: str
    kind: SpanKind
    name: str = ""
    parent: str | None = None
    query: str | None = None
    asked: str | None = None
    answer: str | None = None
    prompt: str | None = None
    passages: Records = ()
    consumed: Records = ()
    remembered: Records = ()
    sub_questions: Records | None = None
    error: str | None = None
    place: tuple[str, str, str] | None = None
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended_at: datetime | None = None
    begun_s: float = field(
        default_factory=time.monotonic, compare=False, repr=False
    )  # no setting of the clock makes a call old or young

    def span(self, trace_id: str, names: Mapping[str, str]) -> CallSpan:
        """Return the call as a span of a trace; ``names`` are the spans' ids, by those of their calls."""
        return CallSpan(
            id=names[self.id],
            trace_id=trace_id,
            parent_id=names.get(self.parent or ""),
            kind=self.kind,
            name=self.name,
            query=None if self.query is None else legible(self.query),
            answer=None if self.answer is None else legible(self.answer),
            prompt=self.prompt,
            passages=_plain(self.passages),
            consumed=_plain(self.consumed),
            remembered=_plain(self.remembered),
            sub_questions=self.sub_questions,
            started_at=self.started_at,
            ended_at=self.ended_at,
            error=self.error if self.ended_at is not None else self.error or _UNENDED,
        )


@dataclass(slots=True)
class TraceDraft:
    """All the calls of one question, the outermost first.

    ``routes`` are what routers decided on it, as JSON data. ``unfinished`` is what was read of a streamed answer that was left,
    or broke, before its end.

    ``awaited`` counts the answers that are still being written after their call ended. It is ``over`` with its outermost call,
    ``taken`` once nothing more is to come, and ``broken`` where it made more calls than are kept.
    """

    root: Call
    asked: QuestionContext | None = None
    calls: list[Call] = field(default_factory=list)
    routes: list[Mapping[str, Any]] = field(default_factory=list)
    unfinished: str | None = None
    awaited: int = 0
    over: bool = False
    taken: bool = False
    broken: bool = False


def _plain(records: Records) -> list[dict[str, Any]]:
    return [{**_legible(record), "metadata": _metadata(record.get("metadata") or {})} for record in records]


def _metadata(metadata: Mapping[str, Any]) -> Any:
    return metadata and json.loads(legible(json.dumps(json_value(metadata), ensure_ascii=False)))


def _legible(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: legible(value) if isinstance(value, str) else value for name, value in record.items()}
