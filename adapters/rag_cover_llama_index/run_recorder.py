"""Records LlamaIndex's spans as calls of a recording, on the thread that answers the question."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.query_engine import RouterQueryEngine, SubQuestionQueryEngine
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from rag_cover.recording import Call, CallKind, Recording, TraceDraft, is_unrecorded, place
from rag_cover_llama_index.calls import SYNTHESIS, CallReader, call_reader_for, note_writing
from rag_cover_llama_index.conversations import name_thread, read_tags
from rag_cover_llama_index.evaluating import is_evaluating, is_indexing
from rag_cover_llama_index.functions import has_answered, is_own_function, read_function_end, read_function_start
from rag_cover_llama_index.streams import read_along

__all__ = ["RunRecorder", "Streams"]

_UUID = 37  # the dash and the uuid that end the id of a span
_ASKING = ("question", "retriever", "synthesis", "llm")
_WRITERS = ("write_response_to_history", "awrite_response_to_history")
_MOST_STREAMS = 10_000
_LATEST = 8  # calls of a question among which one that goes on is looked for


@dataclass(slots=True)
class Streams:
    """What is being streamed, by the id of the span that streams it: parts of chat engines' writers, and calls of models."""

    parts: dict[str, list[str]] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)

    def add_call(self, id_: str, call: Call) -> None:
        """Remember a model's call whose stream goes on; of very many that nobody reads the latest."""
        self.calls[id_] = call
        while len(self.calls) > _MOST_STREAMS:
            self.calls.pop(next(iter(self.calls)), None)

    def end_call(self, id_: str, response: object = None, error: BaseException | None = None) -> None:
        """Note how a model's stream ended; one that its reader left did not fail."""
        if (call := self.calls.pop(id_, None)) is None:
            return
        call.ended_at = datetime.now(UTC)
        note_writing(call, response)
        if error is not None and not isinstance(error, GeneratorExit):
            call.error = f"{type(error).__name__}: {error}"


class RunRecorder:
    """Records spans as calls; an error while recording is kept by the recording and never reaches the pipeline."""

    def __init__(self, recording: Recording, streams: Streams) -> None:
        self._recording, self._gathering, self._streams = recording, recording.gathering, streams
        self._engines: dict[str, dict[int, str]] = {}

    def enter(
        self,
        id_: str,
        parent: str | None,
        instance: object,
        bound: inspect.BoundArguments,
        tags: Mapping[str, Any] | None = None,
    ) -> None:
        """Note that a span began."""
        self._suppress_and_record(self._enter, id_, parent, instance, bound, tags)

    def exit(self, id_: str, instance: object, result: object) -> None:
        """Note that a span ended, and with what."""
        self._suppress_and_record(self._exit, id_, instance, result)

    def drop(self, id_: str, error: BaseException | None) -> None:
        """Note that a span failed, and why."""
        self._suppress_and_record(self._drop, id_, error)

    def _suppress_and_record(self, note: Callable[..., None], id_: str, *arguments: Any) -> None:
        try:
            note(id_, *arguments)
        except Exception as error:  # noqa: BLE001  # a handler that the framework calls: recorded
            self._recording.fail(error, f"noting {id_[:-_UUID]}")

    def _enter(
        self,
        id_: str,
        parent: str | None,
        instance: object,
        bound: inspect.BoundArguments,
        tags: Mapping[str, Any] | None,
    ) -> None:
        if is_unrecorded():
            self._gathering.mute(id_)
            return
        reading = call_reader_for(_method(id_, instance), instance)
        if isinstance(instance, BaseSelector) or (reading is not None and reading.kind in _ASKING and is_evaluating()):
            # what a router looks up to choose by, or an evaluator to judge by, is not what the answer is written from
            self._gathering.mute(id_)
            return
        call, above = None, self._gathering.above(parent)
        try:
            call = self._call(id_, parent, above, instance, bound, reading)
            if call is not None and above is None:
                read_tags(call, tags)
                call.thread_id = call.thread_id or (name_thread(instance, bound.arguments) if call.kind == "question" else None)
        finally:  # what cannot be read says nothing, but what it calls still belongs to what is around it
            self._gathering.begin(id_, parent, call, self._recording.asked)
        if isinstance(instance, StreamingAgentChatResponse) and _method(id_, instance) in _WRITERS:
            self._streams.parts[id_] = []

    def _call(
        self,
        id_: str,
        parent: str | None,
        above: Call | None,
        instance: object,
        bound: inspect.BoundArguments,
        reading: CallReader | None,
    ) -> Call | None:
        if reading is None:
            return self._own_function(id_, instance, bound) if above is None else None
        name = type(instance).__name__
        if above is not None and (_says_again(reading.kind, name, above) or _is_asked_by_retriever(instance, above)):
            return None
        call = Call(id_, reading.kind, name, place=place())
        reading.read_start(call, instance, bound.arguments)
        if reading.kind == "llm" and self._is_streamed_already(call, parent):
            return None
        if above is None and reading is SYNTHESIS and not is_indexing():  # called by hand: it answers from what it is given
            call.kind = "question"
        if reading.kind == "question":
            self._name_engine(call, instance, above)
        elif above is None and call.query is None and reading.kind == "retriever":  # a vector without words
            return None
        return call

    def _is_streamed_already(self, call: Call, parent: str | None) -> bool:
        """Tell whether a stream that goes on asks the same of the same model, as those do that wrap a synchronous one."""
        draft = self._gathering.draft_of(parent) if self._streams.calls else None
        latest = draft.calls[-_LATEST:] if draft else []
        return any(each.id in self._streams.calls and each.name == call.name and each.prompt == call.prompt for each in latest)

    def _own_function(self, id_: str, instance: object, bound: inspect.BoundArguments) -> Call | None:
        """Take a function of the host's own that is asked something for a question."""
        if not is_own_function(id_, instance):
            return None
        call = Call(id_, "question", id_[:-_UUID].rpartition(".<locals>.")[2], place=place())
        return call if read_function_start(call, bound.arguments) else None

    def _name_engine(self, call: Call, instance: object, above: Call | None) -> None:
        """Call an engine by the name that the engine around it knows it by; remember those that it knows."""
        if above is not None:
            call.name = self._engines.get(above.id, {}).get(id(instance), call.name)
        if isinstance(instance, SubQuestionQueryEngine):
            self._engines[call.id] = {id(engine): name for name, engine in instance._query_engines.items() if name}  # noqa: SLF001  # nothing else tells
        elif isinstance(instance, RouterQueryEngine):
            known = zip(instance._query_engines, instance._metadatas, strict=False)  # noqa: SLF001  # likewise
            self._engines[call.id] = {id(engine): about.name for engine, about in known if about.name}

    def _exit(self, id_: str, instance: object, result: object) -> None:
        gathering = self._gathering
        call = gathering.find(id_)
        try:
            if call is not None:
                self._read_end(call, instance, result)
        finally:
            self._settle(id_, whole=True)

    def _read_end(self, call: Call, instance: object, result: object) -> None:
        gathering, draft = self._gathering, self._gathering.draft_of(call.id)
        reading = call_reader_for(_method(call.id, instance), instance)
        if reading is not None:
            reading.read_end(call, result)
            if call.kind == "llm" and call.answer is None:
                self._streams.add_call(call.id, call)
        elif draft is not None:
            read_function_end(call, result, draft)
            if not has_answered(draft):
                gathering.skip(call.id)
                return
        if gathering.is_root(call) and self._is_streamed(draft, result):
            gathering.await_answer(call.id)

    def _drop(self, id_: str, error: BaseException | None) -> None:
        for each in _ids(id_):
            if (call := self._gathering.find(each)) is not None:
                call.error = f"{type(error).__name__}: {error}" if error is not None else "it failed"
        self._settle(id_, whole=False)

    def _settle(self, id_: str, *, whole: bool) -> None:
        self._engines.pop(id_, None)
        if id_ in self._streams.parts:
            self._end_writer(id_, whole=whole)
        for each in _ids(id_):
            self._gathering.settle(each)

    def _end_writer(self, id_: str, *, whole: bool) -> None:
        """Take what a chat engine's writer streamed, of which `RecordingEvents` heard every part, for the answer."""
        if (parts := self._streams.parts.pop(id_, None)) is None:
            return
        gathering = self._gathering
        above = gathering.above(id_)
        if above is not None and gathering.is_root(above):  # not a chat within a workflow
            self._record_answer(gathering.draft_of(id_), "".join(parts).strip() or None, whole)

    def _is_streamed(self, draft: TraceDraft | None, result: object) -> bool:
        if draft is None:
            return False
        inside = partial(self._gathering.inside, draft.root.id)
        return read_along(result, partial(self._record_answer, draft), inside) or isinstance(result, StreamingAgentChatResponse)

    def _record_answer(self, draft: TraceDraft | None, answer: str | None, whole: bool) -> None:  # noqa: FBT001  # as `OnRead` is called
        try:
            if draft is not None:
                self._gathering.set_answer(draft, answer, whole=whole)
        except Exception as error:  # noqa: BLE001  # called while the pipeline's answer is read: recorded
            self._recording.fail(error, "noting a streamed answer")


def _says_again(kind: CallKind, name: str, above: Call) -> bool:
    """Tell whether a call says what the one around it says: its own asynchronous method, or the model that it asks."""
    match kind:
        case "llm":
            return above.kind == "llm"
        case "synthesis":
            return above.kind == "synthesis" or above.name == name  # the latter where it is called by hand
        case "postprocessor":
            return above.name == name
        case _:
            return False


def _is_asked_by_retriever(instance: object, above: Call) -> bool:
    return above.kind == "retriever" and isinstance(instance, BasePydanticVectorStore)


def _ids(span_id: str) -> tuple[str, str, str]:
    """Name the calls that a span stands for: those that only its events told of, then itself."""
    return f"{span_id}/retriever", f"{span_id}/reranker", span_id


def _method(id_: str, instance: object) -> str:
    return id_[len(type(instance).__name__) + 1 : -_UUID]
