"""What LlamaIndex's spans say, as calls of a recording.

This runs on the thread of whoever answers the question, for each of its spans.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.chat_engine.types import StreamingAgentChatResponse

from rag_cover.recording import Call, Recording, TraceDraft, place
from rag_cover_llama_index.answers import read_along
from rag_cover_llama_index.calls import reading_of

__all__ = ["Heard", "Notes"]

Heard = dict[str, list[str]]
"""What is being streamed by chat engines' writers, by the id of their span."""

_UUID = 37  # the dash and the uuid that end the id of a span
_WRITERS = ("write_response_to_history", "awrite_response_to_history")


class Notes:
    """Notes what spans say; what goes wrong is the recording's, and never the pipeline's."""

    def __init__(self, recording: Recording, heard: Heard) -> None:
        self._recording, self._gathering, self._heard = recording, recording.gathering, heard

    def enter(self, id_: str, parent: str | None, instance: object, bound: inspect.BoundArguments) -> None:
        """Note that a span began."""
        self._noted(self._enter, id_, parent, instance, bound)

    def exit(self, id_: str, instance: object, result: object) -> None:
        """Note that a span ended, and with what."""
        self._noted(self._exit, id_, instance, result)

    def drop(self, id_: str, error: BaseException | None) -> None:
        """Note that a span failed, and why."""
        self._noted(self._drop, id_, error)

    def _noted(self, note: Callable[..., None], id_: str, *told: Any) -> None:
        try:
            note(id_, *told)
        except Exception as error:  # noqa: BLE001  # a handler that the framework calls: recorded
            self._recording.fail(error, f"noting {id_[:-_UUID]}")

    def _enter(self, id_: str, parent: str | None, instance: object, bound: inspect.BoundArguments) -> None:
        if isinstance(instance, BaseSelector):  # what a router looks up to choose by is not what the answer is written from
            self._gathering.mute(id_)
            return
        call = None
        try:
            call = self._call(id_, parent, instance, bound)
        finally:  # what cannot be read says nothing, but what it calls still belongs to what is around it
            self._gathering.begin(id_, parent, call, self._recording.asked)
        if isinstance(instance, StreamingAgentChatResponse) and _method(id_, instance) in _WRITERS:
            self._heard[id_] = []

    def _call(self, id_: str, parent: str | None, instance: object, bound: inspect.BoundArguments) -> Call | None:
        name = type(instance).__name__
        reading = reading_of(_method(id_, instance), instance)
        above = self._gathering.above(parent)
        if reading is None or (reading.kind == "postprocessor" and above is not None and above.name == name):
            return None  # says nothing, or says again what the asynchronous method around it says
        call = Call(id_, reading.kind, name, place=place())
        reading.begun(call, instance, bound.arguments)
        return call

    def _exit(self, id_: str, instance: object, result: object) -> None:
        gathering = self._gathering
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
            if (call := self._gathering.find(each)) is not None:
                call.error = f"{type(error).__name__}: {error}" if error is not None else "it failed"
        self._over(id_, whole=False)

    def _over(self, id_: str, *, whole: bool) -> None:
        self._written(id_, whole=whole)
        for each in _ids(id_):
            self._gathering.settle(each)

    def _written(self, id_: str, *, whole: bool) -> None:
        """Take what a chat engine's writer streamed, of which `RecordingEvents` heard every part, for the answer."""
        if (parts := self._heard.pop(id_, None)) is None:
            return
        gathering = self._gathering
        above = gathering.above(id_)
        if above is not None and gathering.is_root(above):  # not a chat within a workflow
            self._answered(gathering.draft_of(id_), "".join(parts).strip() or None, whole)

    def _is_streamed(self, draft: TraceDraft | None, result: object) -> bool:
        if draft is None:
            return False
        return read_along(result, partial(self._answered, draft)) or isinstance(result, StreamingAgentChatResponse)

    def _answered(self, draft: TraceDraft | None, answer: str | None, whole: bool) -> None:  # noqa: FBT001  # as `Told` is called
        try:
            if draft is not None:
                self._gathering.answered(draft, answer, whole=whole)
        except Exception as error:  # noqa: BLE001  # called while the pipeline's answer is read: recorded
            self._recording.fail(error, "noting a streamed answer")


def _ids(span_id: str) -> tuple[str, str, str]:
    """Name the calls that a span stands for: those that only its events told of, then itself."""
    return f"{span_id}/retriever", f"{span_id}/reranker", span_id


def _method(id_: str, instance: object) -> str:
    return id_[len(type(instance).__name__) + 1 : -_UUID]
