"""What LangChain tells of a run beside what goes in and comes out: tags, metadata, conversation, user, and a model's usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.outputs import LLMResult

from rag_cover.integration import describe_completion
from rag_cover.recording import Call

__all__ = ["describe_model", "describe_reply", "describe_run", "read_thread"]

_THREADS = ("thread_id", "session_id", "conversation_id")
_USERS = ("user_id",)
_OWN_METADATA = ("ls_", "lc_", "langgraph_", "checkpoint_", "rag_cover")
_OWN_TAGS = ("seq:step:", "graph:step:", "map:key:", "langsmith:", "rag_cover:")
"""How what LangChain, LangGraph and rag_cover add themselves begins; the rest is the caller's."""

Fields = Mapping[str, Any]


def describe_run(call: Call, tags: Iterable[str] | None, metadata: Fields | None) -> None:
    """Note on an outermost call its tags, its metadata, its conversation and who asked."""
    given = metadata or {}
    call.tags = [tag for tag in tags or () if not tag.startswith(_OWN_TAGS)]
    call.thread_id, call.user_id = read_thread(given), _first_text(given, _USERS)
    call.metadata = {
        name: value
        for name, value in given.items()
        if name not in (*_THREADS, *_USERS) and not str(name).startswith(_OWN_METADATA)
    }


def read_thread(given: Fields) -> str | None:
    """Return the conversation that metadata, or what a run is configured by, names; None where there is none."""
    return _first_text(given, _THREADS)


def describe_model(call: Call, further: Fields) -> None:
    """Note which model is asked, where that is known before it replies."""
    metadata, asked = further.get("metadata"), further.get("invocation_params")
    name = _first_text(_fields(metadata), ("ls_model_name",)) or _first_text(_fields(asked), ("model", "model_name"))
    call.llm = {} if name is None else {"model": name}


def describe_reply(response: LLMResult) -> dict[str, Any]:
    """Read what a reply tells of itself: its model, its tokens, why it ended; what it does not say stays unknown."""
    generations = response.generations
    first = generations[0][0] if generations and generations[0] else None
    message = getattr(first, "message", None)
    reports = (
        message,
        getattr(message, "response_metadata", None),
        getattr(first, "generation_info", None),
        response.llm_output,
    )
    told = describe_completion(reports)
    if getattr(message, "tool_calls", None):
        told.setdefault("finish_reason", "tool")
    return told


def _fields(value: object) -> Fields:
    return value if isinstance(value, Mapping) else {}


def _first_text(given: Fields, names: Iterable[str]) -> str | None:
    """Return the first value by one of the names that is no blank, as a text: ids may be numbers."""
    values = (given.get(name) for name in names)
    texts = (str(value) for value in values if value is not None and not isinstance(value, bool | float))
    return next((text for text in texts if text.strip()), None)
