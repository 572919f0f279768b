"""Functions and methods of the host's own that ``dispatcher.span`` decorates, as questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index_instrumentation import DispatcherSpanMixin

from rag_cover.recording import Call, TraceDraft
from rag_cover_llama_index.payloads import answer_text, question_in

__all__ = ["has_answered", "is_own_function", "read_function_end", "read_function_start"]

_FRAMEWORKS = ("llama_index", "llama_index_instrumentation", "workflows", "rag_cover", "rag_cover_llama_index")
_FRAMEWORK_FUNCTIONS = ("run_jobs",)
_RESPONSES = (
    *(Response, StreamingResponse, AsyncStreamingResponse, PydanticResponse),
    *(AgentChatResponse, StreamingAgentChatResponse),
)
_ANSWERS = ("answer", "response", "final_answer", "output", "result", "text")
_WORKING = frozenset({"retriever", "reranker", "postprocessor", "synthesis", "question", "tool"})


def is_own_function(id_: str, instance: object) -> bool:
    """Tell whether a span is of a function or class of the host's, and not of a framework's."""
    if instance is None:
        return id_.partition("-")[0] not in _FRAMEWORK_FUNCTIONS
    classes = [each for each in type(instance).__mro__ if each is not DispatcherSpanMixin]
    return not any(each.__module__.partition(".")[0] in _FRAMEWORKS for each in classes)


def read_function_start(call: Call, arguments: Mapping[str, Any]) -> bool:
    """Note what a function was asked; tell whether that is a question."""
    call.query = question_in(arguments)
    return call.query is not None


def read_function_end(call: Call, result: Any, draft: TraceDraft) -> None:
    """Note what a function answered: a text or a response, also among other things; else what its last part answered.

    One that only asks a single engine is called by that engine's name.
    """
    found = _answer_in(result)
    call.answer = draft.last_answer if found is None else answer_text(found)
    parts = [each for each in draft.calls if each.parent == call.id and each.kind in _WORKING]
    if len(parts) == 1 and parts[0].kind == "question":
        call.name, call.thread_id = parts[0].name, call.thread_id or parts[0].thread_id


def has_answered(draft: TraceDraft) -> bool:
    """Tell whether a function had anything retrieved, written or asked."""
    return any(call.kind in _WORKING for call in draft.calls[1:])


def _answer_in(result: object) -> object:
    match result:
        case str():
            return result
        case Mapping():
            named = (result[name] for name in _ANSWERS if name in result)
            return next((each for each in named if isinstance(each, (str, *_RESPONSES))), None)
        case tuple():
            return next((each for each in result if isinstance(each, (str, *_RESPONSES))), None)
        case _:
            return result if isinstance(result, _RESPONSES) else None
