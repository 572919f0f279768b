"""Finds questions and answers in what LlamaIndex's engines, agents and workflows take and return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolOutput
from llama_index.core.workflow import StartEvent, StopEvent

__all__ = ["answer_text", "question_in"]

_ASKED = ("str_or_query_bundle", "query_bundle", "user_msg", "message", "query", "question", "input", "topic", "messages")
_ANSWERS = ("answer", "response", "final_answer", "output", "text", "content", "message")
_HOW_OFTEN = 3  # arguments within arguments: run(start_event=StartEvent(user_msg=ChatMessage(…)))


def question_in(value: object, depth: int = _HOW_OFTEN) -> str | None:
    """Find the question in what a call was given: a text, a query, a message, or the like by its usual name."""
    match value:
        case str():
            return value if value.strip() else None
        case QueryBundle():
            return value.query_str
        case ChatMessage():
            return value.content
        case list() | tuple():
            users = [each for each in value if isinstance(each, ChatMessage) and each.role == MessageRole.USER]
            return users[-1].content if users else None
        case StartEvent() | Mapping():
            return _find_named_question(_fields(value) if isinstance(value, StartEvent) else value, depth)
        case _:
            return None


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
            return answer_text(result.result if result.result is not None else _find_answer(result))
        case _:
            return str(result)


def _find_named_question(arguments: Mapping[str, Any], depth: int) -> str | None:
    """Take what has a usual name, else the only text there is; else look into an event or further arguments."""
    found = (question_in(arguments[name], 0) for name in _ASKED if name in arguments)
    said = next(filter(None, found), None)
    texts = [value for value in arguments.values() if isinstance(value, str) and value.strip()]
    if said is not None or not depth:
        return said
    deeper = (arguments.get(name) for name in ("start_event", "kwargs", "chat_history"))
    within = next(filter(None, (question_in(each, depth - 1) for each in deeper if each is not None)), None)
    return within or (texts[0] if len(texts) == 1 else None)


def _fields(event: StartEvent) -> dict[str, Any]:
    return {**{name: getattr(event, name) for name in type(event).model_fields}, **dict(event.items())}


def _find_answer(event: StopEvent) -> Any:
    """Find the answer among the fields of a workflow's own event: by its usual name, else the only text there is."""
    fields = {name: getattr(event, name) for name in type(event).model_fields}
    named = next((fields[name] for name in _ANSWERS if fields.get(name) is not None), None)
    texts = [value for value in fields.values() if isinstance(value, str)]
    return named if named is not None else texts[0] if len(texts) == 1 else None
