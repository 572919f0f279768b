"""The text of LlamaIndex's responses of every kind, and the nodes they were written from.

A stream is read once, by the first caller, and stays available to later ones: the text in the response, the tokens in its
generator again. A stream that failed fails again in the same place, so that no half of an answer passes for the whole.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.tools import ToolOutput
from llama_index.core.workflow import StopEvent

from rag_cover.errors import InputError
from rag_cover.questions import Passage
from rag_cover_llama_index.passages import passages_of
from rag_cover_llama_index.payloads import answer_text

__all__ = ["SourcedText", "await_text", "response_content"]

_STALLED_S = 60.0  # a stream that belongs to a loop that waits for us gives nothing, for ever

_reading: WeakValueDictionary[int, threading.Lock] = WeakValueDictionary()  # by the id of the response being read
_guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A response's text, None where it has none, and the passages it came from, None where that is not known."""

    text: str | None
    passages: tuple[Passage, ...] | None = None


def response_content(response: object) -> SourcedText:
    """Return the text of a response and the passages it was written from; a stream is read to its end.

    None is no answer, a plain string one of unknown origin. An asynchronous stream is read on a loop of its own: where it needs
    the loop it was made on, only `await_text` can read it.

    Raises:
        InputError: the object is not a response, or its stream gave nothing for a minute.
        Exception: the exception that its stream raised.
    """
    response = _unwrap(response)
    if _is_awaited(response):
        with _lock_of(response):
            return _on_its_own_loop(await_text(response, stalled_s=_STALLED_S))
    if isinstance(response, StreamingResponse | StreamingAgentChatResponse):
        with _lock_of(response):
            return SourcedText(_read(response), _source_passages(response.source_nodes, _outputs(response)))
    return _read_finished(response)


async def await_text(response: object, *, stalled_s: float | None = None) -> SourcedText:
    """Return what `response_content` does, on the running loop; blocking streams are read in a worker thread.

    Raises:
        InputError: the object is not a response, or its stream gave nothing for ``stalled_s`` seconds.
        Exception: the exception that its stream raised.
    """
    response = _unwrap(response)
    if isinstance(response, AsyncStreamingResponse):
        return SourcedText(await _read_async(response, stalled_s), passages_of(response.source_nodes))
    if isinstance(response, StreamingAgentChatResponse) and _is_awaited(response):
        await _tokens(response.async_response_gen(), [], stalled_s)
        return SourcedText(response.response, _source_passages(response.source_nodes, response.sources))
    if isinstance(response, StreamingResponse | StreamingAgentChatResponse):
        return await asyncio.to_thread(response_content, response)
    return _read_finished(response)


def _unwrap(response: object) -> object:
    """Return the result of a workflow, anything else as it is."""
    return response.result if isinstance(response, StopEvent) else response


def _is_awaited(response: object) -> bool:
    if isinstance(response, StreamingAgentChatResponse):
        return response.achat_stream is not None
    return isinstance(response, AsyncStreamingResponse)


def _on_its_own_loop(awaited: Coroutine[Any, Any, SourcedText]) -> SourcedText:
    """Run a coroutine in a thread, where no loop runs yet, whatever runs in this one."""
    with ThreadPoolExecutor(1, thread_name_prefix="rag-cover-stream") as pool:
        return pool.submit(copy_context().run, asyncio.run, awaited).result()


def _lock_of(response: object) -> threading.Lock:
    with _guard:
        return _reading.setdefault(id(response), threading.Lock())


def _read_finished(response: object) -> SourcedText:
    match response:
        case None | str() | ChatMessage():
            return SourcedText(answer_text(response))
        case Response() | PydanticResponse():
            return SourcedText(answer_text(response), passages_of(response.source_nodes))
        case AgentChatResponse():
            return SourcedText(answer_text(response), _source_passages(response.source_nodes, response.sources))
        case AgentOutput():
            outputs = [call.tool_output for call in response.tool_calls if hasattr(call, "tool_output")]
            return SourcedText(answer_text(response), _source_passages([], outputs))
        case _:
            message = f"a {type(response).__name__} is no response that can be read; give its text as response=… to evaluate"
            raise InputError(message)


def _outputs(response: StreamingResponse | StreamingAgentChatResponse) -> Sequence[ToolOutput]:
    return response.sources if isinstance(response, StreamingAgentChatResponse) else ()


def _source_passages(nodes: Sequence[NodeWithScore], outputs: Sequence[ToolOutput]) -> tuple[Passage, ...] | None:
    """Return the nodes of a chat, else those its tools brought back; None where tools brought back something else only."""
    found: list[NodeWithScore | BaseNode] = [*nodes] or [node for output in outputs for node in _nodes_in(output.raw_output)]
    return None if outputs and not found else passages_of(found)


def _nodes_in(raw: object) -> Iterable[NodeWithScore | BaseNode]:
    if isinstance(raw, Response | StreamingResponse | AsyncStreamingResponse | PydanticResponse | AgentChatResponse):
        return raw.source_nodes
    return [each for each in raw if isinstance(each, NodeWithScore | BaseNode)] if isinstance(raw, list | tuple) else []


def _read(response: StreamingResponse | StreamingAgentChatResponse) -> str | None:
    if isinstance(response, StreamingAgentChatResponse):
        if response.chat_stream is not None:
            for _ in response.response_gen:  # which leaves the text in the response, and gives it to whoever reads later
                pass
        return response.response
    if response.response_txt is None and response.response_gen is not None:
        tokens: list[str] = []
        try:
            tokens.extend(response.response_gen)
        except Exception as broken:
            response.response_gen = _replay(tokens, broken)
            raise
        response.response_txt, response.response_gen = "".join(tokens), _replay(tokens)
    return response.response_txt


async def _read_async(response: AsyncStreamingResponse, stalled_s: float | None) -> str | None:
    tokens: list[str] = []
    try:
        await _tokens(response.async_response_gen(), tokens, stalled_s)
    except Exception as broken:
        response.response_txt, response.response_gen = None, _replay_async(tokens, broken)
        raise
    response.response_gen = _replay_async([token for token in tokens if token])
    return response.response_txt


async def _tokens(stream: AsyncIterator[str], tokens: list[str], stalled_s: float | None) -> None:
    """Gather a stream's tokens as they come, so that they are there even if it fails."""
    clock = asyncio.get_running_loop().time
    try:
        async with asyncio.timeout(stalled_s) as patience:
            async for token in stream:
                tokens.append(token)
                patience.reschedule(None if stalled_s is None else clock() + stalled_s)
    except TimeoutError as stalled:
        if not patience.expired():  # the stream's own
            raise
        message = (
            "the answer is a stream of another event loop, which gave nothing for a while; "
            "there, await evaluator.aevaluate_response(query, response)"
        )
        raise InputError(message) from stalled


def _replay(tokens: Sequence[str], broken: Exception | None = None) -> Generator[str, Any, None]:
    yield from tokens
    if broken is not None:
        raise broken


async def _replay_async(tokens: Sequence[str], broken: Exception | None = None) -> AsyncGenerator[str, Any]:
    for token in tokens:
        yield token
    if broken is not None:
        raise broken
