"""What LlamaIndex's engines, agents and workflows return, as the text of an answer; streamed ones once they were read."""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.tools.types import ToolOutput
from llama_index.core.workflow import StopEvent

__all__ = ["answer_text", "read_along"]

T = TypeVar("T")

_ANSWERS = ("answer", "response", "final_answer", "output", "text", "content", "message")

Told = Callable[[str | None, bool], object]
"""Called with what was read of an answer, None where nobody read it, and whether that is all of it."""


def answer_text(result: Any) -> str | None:
    """Return the text of what a call returned; None for one that has none yet, or never."""
    match result:
        case None | StreamingResponse() | AsyncStreamingResponse() | StreamingAgentChatResponse():
            return None
        case Response() | AgentChatResponse():
            return result.response
        case PydanticResponse() if result.response is None:
            return None
        case ChatMessage() | ToolOutput():
            return result.content
        case StopEvent():
            return answer_text(result.result if result.result is not None else _said_in(result))
        case _:
            return str(result)


def read_along(result: Any, told: Told) -> bool:
    """Have a streamed answer reported when it is exhausted or abandoned; return False for a type that cannot be.

    Its generator is replaced by one that yields the same tokens as they come, and keeps them. An answer that is left before its
    end, or breaks, is told as far as it was read; one that nobody begins to read is None once it is gone.
    """
    once = _once(told)
    match result:
        case StopEvent():
            return read_along(result.result, told)
        case StreamingResponse() if result.response_txt is None:
            result.response_gen = _watched(_read(result.response_gen, str, once), once)
        case AsyncStreamingResponse() if result.response_txt is None:
            result.response_gen = _watched(_aread(result.response_gen, str, once), once)
        case StreamingAgentChatResponse() if not result.is_writing_to_memory and result.chat_stream is not None:
            result.chat_stream = _watched(_read(result.chat_stream, _delta, once), once)
        case StreamingAgentChatResponse() if not result.is_writing_to_memory and result.achat_stream is not None:
            result.achat_stream = _watched(_aread(result.achat_stream, _delta, once), once)
        case _:
            return False
    return True


def _said_in(event: StopEvent) -> Any:
    """Find the answer among the fields of a workflow's own event: by its usual name, else the only text there is."""
    fields = {name: getattr(event, name) for name in type(event).model_fields}
    named = next((fields[name] for name in _ANSWERS if fields.get(name) is not None), None)
    texts = [value for value in fields.values() if isinstance(value, str)]
    return named if named is not None else texts[0] if len(texts) == 1 else None


def _once(told: Told) -> Told:
    untold = [told]

    def tell(answer: str | None, whole: bool) -> None:  # noqa: FBT001  # as it is told
        if untold:
            untold.pop()(answer, whole)

    return tell


def _read(parts: Generator[T, None, None], text: Callable[[T], str], told: Told) -> Generator[T, None, None]:
    said: list[str] = []
    whole = False
    try:
        for part in parts:
            said.append(text(part))
            yield part
        whole = True
    finally:
        told("".join(said), whole)


async def _aread(parts: AsyncGenerator[T, None], text: Callable[[T], str], told: Told) -> AsyncGenerator[T, None]:
    said: list[str] = []
    whole = False
    try:
        async for part in parts:
            said.append(text(part))
            yield part
        whole = True
    finally:
        told("".join(said), whole)


def _delta(part: ChatResponse) -> str:
    return part.delta or ""


def _watched(parts: T, told: Told) -> T:
    """Be told when a generator is gone that nobody began to read."""
    weakref.finalize(parts, told, None, False).atexit = False  # noqa: FBT003  # as it is told
    return parts
