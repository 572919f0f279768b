"""Records LlamaIndex's spans as calls of a recording, on the thread that answers the question."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.chat_engine.types import StreamingAgentChatResponse

from rag_cover.recording import Call, CallKind, Recording, TraceDraft, place
from rag_cover_llama_index.calls import call_reader_for
from rag_cover_llama_index.evaluating import is_evaluating
from rag_cover_llama_index.streams import read_along

__all__ = ["RunRecorder", "StreamedParts"]

StreamedParts = dict[str, list[str]]
"""What is being streamed by chat engines' writers, by the id of their span."""

_UUID = 37  # the dash and the uuid that end the id of a span
_ASKING = ("question", "retriever", "llm")
_WRITERS = ("write_response_to_history", "awrite_response_to_history")


class RunRecorder:
    """Records spans as calls; an error while recording is kept by the recording and never reaches the pipeline."""

    def __init__(self, recording: Recording, streamed: StreamedParts) -> None:
        self._recording, self._gathering, self._streamed = recording, recording.gathering, streamed

    def enter(self, id_: str, parent: str | None, instance: object, bound: inspect.BoundArguments) -> None:
        """Note that a span began."""
        self._suppress_and_record(self._enter, id_, parent, instance, bound)

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

    def _enter(self, id_: str, parent: str | None, instance: object, bound: inspect.BoundArguments) -> None:
        if isinstance(instance, BaseSelector) or self._is_judged(id_, instance):
            # what a router looks up to choose by, or an evaluator to judge by, is not what the answer is written from
            self._gathering.mute(id_)
            return
        call = None
        try:
            call = self._call(id_, parent, instance, bound)
        finally:  # what cannot be read says nothing, but what it calls still belongs to what is around it
            self._gathering.begin(id_, parent, call, self._recording.asked)
        if isinstance(instance, StreamingAgentChatResponse) and _method(id_, instance) in _WRITERS:
            self._streamed[id_] = []

    @staticmethod
    def _is_judged(id_: str, instance: object) -> bool:
        reading = call_reader_for(_method(id_, instance), instance)
        return reading is not None and reading.kind in _ASKING and is_evaluating()

    def _call(self, id_: str, parent: str | None, instance: object, bound: inspect.BoundArguments) -> Call | None:
        name = type(instance).__name__
        reading = call_reader_for(_method(id_, instance), instance)
        above = self._gathering.above(parent)
        if reading is None or (above is not None and _says_again(reading.kind, name, above)):
            return None
        call = Call(id_, reading.kind, name, place=place())
        reading.read_start(call, instance, bound.arguments)
        return call

    def _exit(self, id_: str, instance: object, result: object) -> None:
        gathering = self._gathering
        call = gathering.find(id_)
        try:
            if call is not None and (reading := call_reader_for(_method(id_, instance), instance)) is not None:
                reading.read_end(call, result)
                if gathering.is_root(call) and self._is_streamed(gathering.draft_of(id_), result):
                    gathering.await_answer(id_)
        finally:
            self._settle(id_, whole=True)

    def _drop(self, id_: str, error: BaseException | None) -> None:
        for each in _ids(id_):
            if (call := self._gathering.find(each)) is not None:
                call.error = f"{type(error).__name__}: {error}" if error is not None else "it failed"
        self._settle(id_, whole=False)

    def _settle(self, id_: str, *, whole: bool) -> None:
        self._end_writer(id_, whole=whole)
        for each in _ids(id_):
            self._gathering.settle(each)

    def _end_writer(self, id_: str, *, whole: bool) -> None:
        """Take what a chat engine's writer streamed, of which `RecordingEvents` heard every part, for the answer."""
        if (parts := self._streamed.pop(id_, None)) is None:
            return
        gathering = self._gathering
        above = gathering.above(id_)
        if above is not None and gathering.is_root(above):  # not a chat within a workflow
            self._record_answer(gathering.draft_of(id_), "".join(parts).strip() or None, whole)

    def _is_streamed(self, draft: TraceDraft | None, result: object) -> bool:
        if draft is None:
            return False
        return read_along(result, partial(self._record_answer, draft)) or isinstance(result, StreamingAgentChatResponse)

    def _record_answer(self, draft: TraceDraft | None, answer: str | None, whole: bool) -> None:  # noqa: FBT001  # as `OnRead` is called
        try:
            if draft is not None:
                self._gathering.answered(draft, answer, whole=whole)
        except Exception as error:  # noqa: BLE001  # called while the pipeline's answer is read: recorded
            self._recording.fail(error, "noting a streamed answer")


def _says_again(kind: CallKind, name: str, above: Call) -> bool:
    """Tell whether a call says what the one around it says: its own asynchronous method, or the model that asks it."""
    return above.kind == "llm" if kind == "llm" else kind == "postprocessor" and above.name == name


def _ids(span_id: str) -> tuple[str, str, str]:
    """Name the calls that a span stands for: those that only its events told of, then itself."""
    return f"{span_id}/retriever", f"{span_id}/reranker", span_id


def _method(id_: str, instance: object) -> str:
    return id_[len(type(instance).__name__) + 1 : -_UUID]
