"""LlamaIndex's span and event handlers; they run on the thread that answers the question.

They copy what may be changed later and leave the rest to the recording's own thread. Nothing that goes wrong here reaches the
pipeline.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from llama_index.core.instrumentation.events.chat_engine import StreamChatDeltaReceivedEvent
from llama_index.core.instrumentation.events.exception import ExceptionEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMCompletionEndEvent
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import PrivateAttr

from rag_cover.recording import Call, CallKind, Recording, place
from rag_cover_llama_index.calls import records_of
from rag_cover_llama_index.payloads import question_in
from rag_cover_llama_index.run_recorder import RunRecorder, Streams

__all__ = ["RecordingEvents", "RecordingSpans"]

_HEARD = (
    *(StreamChatDeltaReceivedEvent, LLMChatEndEvent, LLMCompletionEndEvent, ExceptionEvent),
    *(RetrievalStartEvent, RetrievalEndEvent, ReRankStartEvent, ReRankEndEvent),
)


class RecordingSpans(BaseSpanHandler[BaseSpan]):
    """Records the spans of questions, retrievals, postprocessors, tools and syntheses as calls of a recording."""

    _recorder: RunRecorder = PrivateAttr()

    def __init__(self, recording: Recording, streams: Streams) -> None:
        super().__init__()
        self._recorder = RunRecorder(recording, streams)

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
        tags: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Note that a span began."""
        self._recorder.enter(id_, parent_id, instance, bound_args, tags)

    def span_exit(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,  # noqa: ARG002  # the framework's signature
        instance: Any | None = None,
        result: Any | None = None,
        **_: Any,
    ) -> None:
        """Note that a span ended, and with what."""
        self._recorder.exit(id_, instance, result)

    def span_drop(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,  # noqa: ARG002  # the framework's signature
        instance: Any | None = None,  # noqa: ARG002  # likewise
        err: BaseException | None = None,
        **_: Any,
    ) -> None:
        """Note that a span failed, and why."""
        self._recorder.drop(id_, err)

    def new_span(self, *_: Any, **__: Any) -> None:
        """Keep no spans of its own."""

    def prepare_to_exit_span(self, *_: Any, **__: Any) -> None:
        """Keep no spans of its own."""

    def prepare_to_drop_span(self, *_: Any, **__: Any) -> None:
        """Keep no spans of its own."""


class RecordingEvents(BaseEventHandler):
    """Records what only events report: retrievals and rerankings of objects without spans, and how streams end."""

    _recording: Recording = PrivateAttr()
    _streams: Streams = PrivateAttr()

    def __init__(self, recording: Recording, streams: Streams) -> None:
        super().__init__()
        self._recording, self._streams = recording, streams

    @classmethod
    def class_name(cls) -> str:
        """Name the handler."""
        return "RecordingEvents"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        """Note an event; all but eight kinds are left alone."""
        if not _is_heard(type(event)):
            return
        try:
            match event:
                case StreamChatDeltaReceivedEvent():
                    if (parts := self._streams.parts.get(event.span_id or "")) is not None:
                        parts.append(event.delta)
                case LLMChatEndEvent() | LLMCompletionEndEvent():
                    self._streams.end_call(event.span_id or "", event.response)
                case ExceptionEvent():
                    self._streams.end_call(event.span_id or "", error=event.exception)
                case RetrievalStartEvent() | RetrievalEndEvent() | ReRankStartEvent() | ReRankEndEvent():
                    self._note(event)
                case _:
                    pass
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


@lru_cache(maxsize=1000)
def _is_heard(kind: type[BaseEvent]) -> bool:
    """Return whether events of a class are noted; asked of every event, and slow to find out of pydantic's classes."""
    return issubclass(kind, _HEARD)


def _name(event: RetrievalStartEvent | ReRankStartEvent) -> str:
    return "retriever" if isinstance(event, RetrievalStartEvent) else event.model_name or "reranker"
