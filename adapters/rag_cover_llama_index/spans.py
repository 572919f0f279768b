"""LlamaIndex's span and event handlers: they note what happens, on the thread of whoever answers the question.

They copy what may be changed later and leave the rest to the recording's own thread. Nothing that goes wrong here reaches the
pipeline.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.instrumentation.events.chat_engine import StreamChatDeltaReceivedEvent
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import PrivateAttr

from rag_cover.recording import Call, CallKind, Draft, Recording, place
from rag_cover_llama_index.answers import read_along
from rag_cover_llama_index.calls import question_in, reading_of, records_of

__all__ = ["RecordingEvents", "RecordingSpans"]

_UUID = 37  # the dash and the uuid that end the id of a span
_WRITERS = ("write_response_to_history", "awrite_response_to_history")


class RecordingSpans(BaseSpanHandler[BaseSpan]):
    """Notes the spans of questions, retrievals, postprocessors, tools and syntheses as calls of a recording."""

    _recording: Recording = PrivateAttr()
    _heard: dict[str, list[str]] = PrivateAttr()

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self._recording = recording
        self._heard = {}

    @property
    def heard(self) -> dict[str, list[str]]:
        """Return what is being streamed by chat engines' writers, by the id of their span."""
        return self._heard

    @classmethod
    def class_name(cls) -> str:
        """Name the handler."""
        return "RecordingSpans"

    def span_enter(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,  # noqa: ARG002  # the framework's signature
        **_: Any,
    ) -> None:
        """Note that a span began."""
        self._noted(self._enter, id_, parent_id, instance, bound_args)

    def span_exit(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,  # noqa: ARG002  # the framework's signature
        instance: Any | None = None,
        result: Any | None = None,
        **_: Any,
    ) -> None:
        """Note that a span ended, and with what."""
        self._noted(self._exit, id_, instance, result)

    def span_drop(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,  # noqa: ARG002  # the framework's signature
        instance: Any | None = None,  # noqa: ARG002  # likewise
        err: BaseException | None = None,
        **_: Any,
    ) -> None:
        """Note that a span failed, and why."""
        self._noted(self._drop, id_, err)

    def new_span(self, *_: Any, **__: Any) -> None:
        """Keep no spans of its own."""

    def prepare_to_exit_span(self, *_: Any, **__: Any) -> None:
        """Keep no spans of its own."""

    def prepare_to_drop_span(self, *_: Any, **__: Any) -> None:
        """Keep no spans of its own."""

    def _noted(self, note: Callable[..., None], id_: str, *told: Any) -> None:
        try:
            note(id_, *told)
        except Exception as error:  # noqa: BLE001  # a handler that the framework calls: recorded
            self._recording.fail(error, f"noting {id_[:-_UUID]}")

    def _enter(self, id_: str, parent: str | None, instance: object, bound: inspect.BoundArguments) -> None:
        if isinstance(instance, BaseSelector):  # what a router looks up to choose by is not what the answer is written from
            self._recording.gathering.mute(id_)
            return
        call = None
        try:
            call = self._call(id_, parent, instance, bound)
        finally:  # what cannot be read says nothing, but what it calls still belongs to what is around it
            self._recording.gathering.begin(id_, parent, call, self._recording.asked)
        if isinstance(instance, StreamingAgentChatResponse) and _method(id_, instance) in _WRITERS:
            self.heard[id_] = []

    def _call(self, id_: str, parent: str | None, instance: object, bound: inspect.BoundArguments) -> Call | None:
        name = type(instance).__name__
        reading = reading_of(_method(id_, instance), instance)
        above = self._recording.gathering.above(parent)
        if reading is None or (reading.kind == "postprocessor" and above is not None and above.name == name):
            return None  # says nothing, or says again what the asynchronous method around it says
        call = Call(id_, reading.kind, name, place=place())
        reading.begun(call, instance, bound.arguments)
        return call

    def _exit(self, id_: str, instance: object, result: object) -> None:
        gathering = self._recording.gathering
        call = gathering.find(id_)
        try:
            if call is not None and (reading := reading_of(_method(id_, instance), instance)) is not None:
                reading.ended(call, result)
                if gathering.is_root(call) and self._is_streamed(gathering.draft_of(id_), result):
                    gathering.await_answer(id_)
        finally:
            self._over(id_, whole=True)

    def _drop(self, id_: str, error: BaseException | None) -> None:
        for each in _ids(id_):
            if (call := self._recording.gathering.find(each)) is not None:
                call.error = f"{type(error).__name__}: {error}" if error is not None else "it failed"
        self._over(id_, whole=False)

    def _over(self, id_: str, *, whole: bool) -> None:
        self._written(id_, whole=whole)
        for each in _ids(id_):
            self._recording.gathering.settle(each)

    def _written(self, id_: str, *, whole: bool) -> None:
        """Take what a chat engine's writer streamed, of which `RecordingEvents` heard every part, for the answer."""
        if (parts := self.heard.pop(id_, None)) is None:
            return
        gathering = self._recording.gathering
        above = gathering.above(id_)
        if above is not None and gathering.is_root(above):  # not a chat within a workflow
            self._answered(gathering.draft_of(id_), "".join(parts).strip() or None, whole)

    def _is_streamed(self, draft: Draft | None, result: object) -> bool:
        if draft is None:
            return False
        return read_along(result, partial(self._answered, draft)) or isinstance(result, StreamingAgentChatResponse)

    def _answered(self, draft: Draft | None, answer: str | None, whole: bool) -> None:  # noqa: FBT001  # as `Told` is called
        try:
            if draft is not None:
                self._recording.gathering.answered(draft, answer, whole=whole)
        except Exception as error:  # noqa: BLE001  # called while the pipeline's answer is read: recorded
            self._recording.fail(error, "noting a streamed answer")


class RecordingEvents(BaseEventHandler):
    """Notes retrievals and rerankings that say so by events alone: their objects have no spans that are read."""

    _recording: Recording = PrivateAttr()
    _heard: dict[str, list[str]] = PrivateAttr()

    def __init__(self, recording: Recording, heard: dict[str, list[str]]) -> None:
        super().__init__()
        self._recording, self._heard = recording, heard

    @classmethod
    def class_name(cls) -> str:
        """Name the handler."""
        return "RecordingEvents"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        """Note an event; all but five kinds are left alone."""
        if isinstance(event, StreamChatDeltaReceivedEvent):
            if (parts := self._heard.get(event.span_id or "")) is not None:
                parts.append(event.delta)
            return
        if not isinstance(event, RetrievalStartEvent | RetrievalEndEvent | ReRankStartEvent | ReRankEndEvent):
            return
        try:
            self._note(event)
        except Exception as error:  # noqa: BLE001  # a handler that the framework calls: recorded
            self._recording.fail(error, f"noting {event.class_name()}")

    def _note(self, event: RetrievalStartEvent | RetrievalEndEvent | ReRankStartEvent | ReRankEndEvent) -> None:
        gathering = self._recording.gathering
        above = gathering.above(event.span_id)
        kind: CallKind = "retriever" if isinstance(event, RetrievalStartEvent | RetrievalEndEvent) else "reranker"
        spoken_for = ("retriever",) if kind == "retriever" else ("reranker", "postprocessor")
        id_ = f"{event.span_id}/{kind}"
        match event:
            case RetrievalStartEvent() | ReRankStartEvent() if above is None or above.kind not in spoken_for:
                call = Call(id_, kind, _name(event), place=place())
                call.query = question_in(event.str_or_query_bundle if isinstance(event, RetrievalStartEvent) else event.query)
                call.consumed = records_of(event.nodes) if isinstance(event, ReRankStartEvent) else ()
                gathering.begin(id_, event.span_id, call, self._recording.asked)
            case RetrievalEndEvent() | ReRankEndEvent():
                if (begun := gathering.find(id_)) is not None:
                    begun.passages = records_of(event.nodes)
                gathering.settle(id_)
            case _:
                pass


def _ids(span_id: str) -> tuple[str, str, str]:
    """Name the calls that a span stands for: those that only its events told of, then itself."""
    return f"{span_id}/retriever", f"{span_id}/reranker", span_id


def _method(id_: str, instance: object) -> str:
    return id_[len(type(instance).__name__) + 1 : -_UUID]


def _name(event: RetrievalStartEvent | ReRankStartEvent) -> str:
    return "retriever" if isinstance(event, RetrievalStartEvent) else event.model_name or "reranker"
