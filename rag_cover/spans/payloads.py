"""What goes into and comes out of a traced call (text, JSON text, messages, objects): its question, answer, documents."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rag_cover.spans.field_aliases import ANSWERED, ASKED, CITED, DOCUMENTS
from rag_cover.spans.passages import is_document

__all__ = ["answer_of", "citations_of", "decode_value", "documents_of", "question_of"]

_RETURNED = ("results", "artifact", "output")
_USER = ("user", "human")
_ASSISTANT = ("assistant", "ai", "model")


def decode_value(value: Any) -> Any:
    """Read a text that holds a JSON or Python object, list or quoted string as what it holds; leave any other value."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return value


def question_of(payload: Any) -> str | None:
    """Find the question in what a pipeline was called with.

    >>> question_of('{"question": "Who?"}'), question_of("Who?"), question_of([{"role": "user", "content": "Who?"}])
    ('Who?', 'Who?', 'Who?')
    """
    return _text_of(payload, ASKED, _USER)


def answer_of(payload: Any) -> str | None:
    """Find the answer in what a pipeline returned.

    >>> answer_of({"answer": "Me.", "sources": []}), answer_of({"messages": [{"type": "ai", "content": "Me."}]})
    ('Me.', 'Me.')
    """
    return _text_of(payload, ANSWERED, _ASSISTANT)


def citations_of(payload: Any, depth: int = 3) -> list[Any]:
    """Find the list of sources that a structured answer cites: numbers, ids, or objects that have one; empty without one.

    >>> citations_of({"answer": '{"answer": "Me.", "citations": [1, 3]}'}), citations_of("Me.")
    ([1, 3], [])
    """
    value = decode_value(payload)
    if not isinstance(value, Mapping) or depth < 1:
        return []
    fields = _fields(value)
    for name in CITED:
        if isinstance(found := fields.get(name), list | tuple) and found and not any(map(is_document, found)):
            return list(found)
    inner = (citations_of(fields[name], depth - 1) for name in ("structured_response", *ANSWERED) if name in fields)
    return next(filter(None, inner), [])


def documents_of(payload: Any) -> list[Any]:
    """Find the documents in what a retriever or tool returned: a list of them, or one under a name documents have."""
    match decode_value(payload):
        case list() as items if items and all(is_document(item) for item in items):
            return items
        case Mapping() as fields:
            found = (documents_of(fields[name]) for name in (*DOCUMENTS, *_RETURNED) if name in fields)
            return next(filter(None, found), [])
        case _:
            return []


def _text_of(payload: Any, names: Iterable[str], roles: Iterable[str]) -> str | None:
    value = decode_value(payload)
    match value:
        case str():
            return value if value.strip() else None
        case list() | tuple():
            return _last_message(value, roles) or _only(value, lambda item: _text_of(item, names, roles))
        case Mapping():
            fields = _fields(value)
            found = (_text_of(fields[name], names, roles) for name in names if fields.get(name) is not None)
            return next(filter(None, found), None) or _only(
                list(fields.values()), lambda item: item if _is_text(item) else None
            )
        case _:
            return None


def _fields(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Look into a serialised LangChain object."""
    kwargs = value.get("kwargs")
    return kwargs if "lc" in value and isinstance(kwargs, Mapping) else value


def _last_message(messages: Iterable[Any], roles: Iterable[str]) -> str | None:
    for message in reversed(list(messages)):
        role, content = _message(message)
        if role in frozenset(roles) and (text := _content(content)):
            return text
    return None


def _message(message: Any) -> tuple[str | None, Any]:
    """Return the role and content of a message of OpenAI's, LangChain's or OpenInference's shape."""
    match message:
        case [str() as speaker, content]:
            return speaker, content
        case {"message": Mapping() as inner}:
            return _message(inner)
        case Mapping():
            fields = _fields(message)
            role = fields.get("role") or fields.get("message.role") or fields.get("type") or _class_role(message)
            return str(role), fields.get("content", fields.get("message.content"))
        case _:
            return None, None


def _class_role(message: Mapping[str, Any]) -> str | None:
    match message.get("id"):
        case [*_, "HumanMessage"]:
            return "human"
        case [*_, "AIMessage" | "AIMessageChunk"]:
            return "ai"
        case _:
            return None


def _content(content: Any) -> str | None:
    """Join the text parts of a message."""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        return _content("".join(part for part in parts if isinstance(part, str)))
    return content if isinstance(content, str) and content.strip() else None


def _only(items: Any, read: Callable[[Any], str | None]) -> str | None:
    return read(items[0]) if len(items) == 1 else None


def _is_text(item: object) -> bool:
    return isinstance(item, str) and bool(item.strip())
