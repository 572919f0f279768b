"""What happens while a pipeline answers: its calls, noted in microseconds where they happen, read later elsewhere."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rag_cover.errors import InvalidValueError
from rag_cover.nuggets import Nugget
from rag_cover.questions import SubQuestion, json_value, legible
from rag_cover.spans.model import CallSpan, SpanKind

__all__ = ["Call", "OpenTrace", "QuestionContext", "TraceDraft"]

_ANSWERING = ("question", "synthesis")
_UNENDED = "it was not over when its question was"

Records = Sequence[Mapping[str, Any]]
"""Passages as JSON objects with id, text, title, score and metadata: copies, since the pipeline may change what it holds."""


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """What somebody who knows it said of the question that is asked next; None and empty are not said.

    ``drafts`` are those that were begun where it held.
    """

    text: str | None = None
    id: str | None = None
    references: tuple[str, ...] = ()
    sub_questions: tuple[SubQuestion, ...] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    thread_id: str | None = None
    user_id: str | None = None
    nuggets: tuple[Nugget, ...] | None = None
    drafts: list[TraceDraft] = field(default_factory=list, compare=False, repr=False)


@dataclass(slots=True)
class Call:
    """One call of a pipeline that is under way or over.

    ``parent`` is the nearest call around it that is noted too. ``prompt`` is all that a language model was shown, and ``llm``
    what is known of its call, as fields of `rag_cover.llm_calls.LLMCall`; None where the call is not one of a model.
    ``llm_readers`` tell more of it, a later one before an earlier one: they are called on the recording's own thread.
    An outermost call may say its ``tags``, ``thread_id``, ``user_id`` and ``metadata``.
    ``asked`` is what a user said, where ``query`` is the standalone question that was made of it.
    A call ``joins`` where it was given several lists of passages.
    ``citations`` are the sources that a structured answer lists, as JSON data.
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
    joins: bool = False
    sub_questions: Records | None = None
    citations: Sequence[Any] = ()
    error: str | None = None
    place: tuple[str, str, str] | None = None
    llm: Mapping[str, Any] | None = None
    llm_readers: Sequence[Callable[[], Mapping[str, Any]]] = ()
    tags: Sequence[str] = ()
    thread_id: str | None = None
    user_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
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
            joins=self.joins,
            sub_questions=self.sub_questions,
            call=None if self.llm is None else {**self._texts(), **self.llm, **self._read_llm()},
            started_at=self.started_at,
            ended_at=self.ended_at,
            error=self.error if self.ended_at is not None else self.error or _UNENDED,
        )

    def _read_llm(self) -> dict[str, Any]:
        """Read what a model's reply tells of itself; what cannot be read is not known."""
        told: dict[str, Any] = {}
        for read in self.llm_readers:
            with suppress(Exception):  # objects of any framework and server, which may refuse
                told |= read()
        return told

    def _texts(self) -> dict[str, str]:
        """Return what a language model was shown and what it wrote, as fields of an `LLMCall`."""
        texts = {"input": self.prompt, "output": self.answer}
        return {name: legible(text) for name, text in texts.items() if text is not None}


class OpenTrace:
    """A trace that is being recorded by `Recording.trace`."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def answer(self, text: str) -> None:
        """Say what was answered; the last time counts.

        Raises:
            InvalidValueError: it is no text.
        """
        if not isinstance(text, str):
            message = f"the answer is a {type(text).__name__}; give its text, such as str(response)"
            raise InvalidValueError(message)
        self._call.answer = text


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

    def part(self, root: Call) -> TraceDraft:
        """Return a call inside and those inside it as the draft of a question of its own."""
        calls, inside = [root], {root.id}
        for call in self.calls:  # those around come before those inside
            if call.parent in inside:
                calls.append(call)
                inside.add(call.id)
        root.parent, root.kind = None, "question"
        root.tags, root.metadata = self.root.tags, self.root.metadata
        root.thread_id, root.user_id = self.root.thread_id, self.root.user_id
        return TraceDraft(root, self.asked, calls, over=True, taken=True)

    @property
    def last_answer(self) -> str | None:
        """Return what the last of the parts answered that the outermost call itself called, and that answer questions."""
        answers = (call.answer for call in reversed(self.calls) if call.parent == self.root.id and call.kind in _ANSWERING)
        return next(filter(None, answers), None)


def _plain(records: Records) -> list[dict[str, Any]]:
    return [{**_legible(record), "metadata": _metadata(record.get("metadata") or {})} for record in records]


def _metadata(metadata: Mapping[str, Any]) -> Any:
    """Make metadata JSON data without halves of characters, in names as in values."""
    if all(type(name) is str and name.isascii() and _is_plain(value) for name, value in metadata.items()):
        return _legible(metadata)
    return json.loads(legible(json.dumps(json_value(metadata), ensure_ascii=False)))


def _is_plain(value: object) -> bool:
    """Return whether a value is JSON data as it stands, as most are: every passage of every call is looked at."""
    return value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value))


def _legible(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: legible(value) if isinstance(value, str) else value for name, value in record.items()}
