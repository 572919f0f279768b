"""Streamed answers of LlamaIndex's engines, agents and workflows, reported once they were read."""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatResponse
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.workflow import StopEvent

__all__ = ["read_along"]

T = TypeVar("T")


class _End:
    """What stands behind the last part."""


_END = _End()

OnRead = Callable[[str | None, bool], object]
"""Called with the part of an answer that was read (None where nothing was) and whether it is the whole answer."""


Inside = Callable[[], AbstractContextManager[None]]
"""Makes the context in which a part of an answer is written: models are asked for the first when somebody reads it."""


def read_along(result: Any, on_read: OnRead, inside: Inside = nullcontext) -> bool:
    """Have a streamed answer reported when it is exhausted or abandoned; return False for a type that cannot be.

    Its generator is replaced by one that yields the same tokens as they come, and keeps them. An answer that is left before its
    end, or breaks, is reported as far as it was read; one that is never read is reported as None when it is garbage-collected.
    """
    once = _report_once(on_read)
    match result:
        case StopEvent():
            return read_along(result.result, on_read, inside)
        case StreamingResponse() if result.response_txt is None:
            result.response_gen = _watch(_read(result.response_gen, str, once, inside), once)
        case AsyncStreamingResponse() if result.response_txt is None:
            result.response_gen = _watch(_read_async(result.response_gen, str, once, inside), once)
        case StreamingAgentChatResponse() if not result.is_writing_to_memory and result.chat_stream is not None:
            result.chat_stream = _watch(_read(result.chat_stream, _delta, once, inside), once)
        case StreamingAgentChatResponse() if not result.is_writing_to_memory and result.achat_stream is not None:
            result.achat_stream = _watch(_read_async(result.achat_stream, _delta, once, inside), once)
        case _:
            return False
    return True


def _report_once(on_read: OnRead) -> OnRead:
    untold = [on_read]

    def tell(answer: str | None, whole: bool) -> None:  # noqa: FBT001  # as `OnRead` is called
        if untold:
            untold.pop()(answer, whole)

    return tell


def _read(
    parts: Generator[T, None, None], text: Callable[[T], str], on_read: OnRead, inside: Inside
) -> Generator[T, None, None]:
    said: list[str] = []
    whole = False
    try:
        while True:
            with inside():
                part = next(parts, _END)
            if isinstance(part, _End):
                break
            said.append(text(part))
            yield part
        whole = True
    finally:
        on_read("".join(said), whole)


async def _read_async(
    parts: AsyncGenerator[T, None], text: Callable[[T], str], on_read: OnRead, inside: Inside
) -> AsyncGenerator[T, None]:
    said: list[str] = []
    whole = False
    try:
        while True:
            with inside():
                part = await anext(parts, _END)
            if isinstance(part, _End):
                break
            said.append(text(part))
            yield part
        whole = True
    finally:
        on_read("".join(said), whole)


def _delta(part: ChatResponse) -> str:
    return part.delta or ""


def _watch(parts: T, on_read: OnRead) -> T:
    """Report a generator that is garbage-collected before anybody began to read it."""
    weakref.finalize(parts, on_read, None, False).atexit = False  # noqa: FBT003  # as `OnRead` is called
    return parts
