"""Finds questions, answers and documents in what LangChain's runs take and return: texts, messages, mappings, graph states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ChatMessage, HumanMessage, ToolMessage
from langchain_core.prompt_values import PromptValue
from pydantic import BaseModel

from rag_cover.integration import ANSWERED, ASKED, CITED, DOCUMENTS

__all__ = [
    "answer_text",
    "citations_in",
    "contexts_in",
    "count_lists",
    "documents_in",
    "fields_of",
    "has_answer",
    "has_history",
    "question_in",
    "texts_in",
]

_USERS = ("human", "user")
_MODELS = ("ai", "assistant")
_HOW_DEEP = 6  # values within values: a command's update of a state, its messages, their artifacts, the documents of these
_HOW_MANY = 3_000  # values that are looked at for documents: states may hold very many
_PLAIN = frozenset({str, bytes, int, float, bool, type(None)})
_WITHOUT_FIELDS = _PLAIN | {list, tuple}
_PAIR = 4  # a document and its scores; more numbers in a row are a vector
_JUDGED = (
    *("prediction", "answer", "result", "response", "output", "outputs", "generation", "submission"),
    *("student_answer", "generated_answer"),
)
_STRUCTURED = "structured_response"  # what the state of an agent with a response_format answers by


def question_in(value: object, depth: int = _HOW_DEEP) -> str | None:
    """Find the question: a text, the last thing that a person said, or the like by its usual name; None where there is none."""
    match value:
        case str():
            return value if value.strip() else None
        case BaseMessage():
            return question_in(value.text)
        case PromptValue():
            return question_in(value.to_messages())
        case Sequence():
            return question_in(_find_last_text(value, _USERS))
        case _:
            return _find_named_question(fields_of(value), depth)


def answer_text(value: object, asked: object = None) -> str | None:
    """Find the answer: a text, the last thing that a model said, or the like by its usual name; None where there is none.

    Of several texts without a usual name, what was ``asked`` already holds is no answer: states of graphs keep both. A
    structured answer is its field of a usual name, such as ``answer``; without one all its texts, a line each.
    """
    match value:
        case None | Document():
            return None
        case str():
            return value
        case BaseMessage():
            return value.text or None
        case Sequence():
            return _find_last_text(value, _MODELS, until=_USERS)
        case BaseModel():
            return _structured_text(value, asked)
        case _:
            return _find_named_answer(fields_of(value), asked)


def citations_in(value: object, depth: int = _HOW_DEEP) -> list[object]:
    """List the sources that a structured answer cites by a usual name: numbers, ids, or objects as data; empty without one."""
    given = fields_of(value) if depth > 0 else {}
    for name in CITED:
        found = given.get(name)
        if isinstance(found, list | tuple) and found and not any(isinstance(each, Document) for each in found):
            return [dict(fields_of(each)) or each for each in found]
    inner = (citations_in(given[name], depth - 1) for name in (_STRUCTURED, *ANSWERED) if name in given)
    return next(filter(None, inner), [])


def texts_in(value: object) -> set[str]:
    """Return the texts that a mapping, a model or a dataclass holds by name, but for those that ask."""
    return set(_texts(_drop_questions(fields_of(value))))


def contexts_in(value: object) -> list[str]:
    """List the texts that a mapping holds by a usual name of documents: one, or a list of them."""
    given = fields_of(value)
    named = (given[name] for name in DOCUMENTS if name in given)
    several = (each if isinstance(each, list | tuple) else (each,) for each in named)
    return [text for texts in several for text in texts if isinstance(text, str) and text.strip()]


def has_history(value: object) -> bool:
    """Return whether a conversation's earlier turns are given: more than one message, or what somebody calls its history."""
    given = fields_of(value)
    turns = [each for name, each in given.items() if name == "messages" or "history" in str(name)]
    if any(isinstance(each, str) and each.strip() for each in turns):
        return True
    several = (each for each in (value, *turns) if isinstance(each, list | tuple))
    return any(sum(_text_by(message, _MODELS) is not None for message in each) > 0 for each in several)


def has_answer(value: object) -> bool:
    """Return whether an answer is given beside a question, as it is to whoever judges it."""
    given = value if isinstance(value, Mapping) else {}
    return any(isinstance(given.get(name), str) and str(given[name]).strip() for name in _JUDGED)


def count_lists(value: object) -> int:
    """Count the lists of documents that a mapping or a list holds side by side."""
    held = fields_of(value).values() if not isinstance(value, list | tuple) else value
    return sum(isinstance(each, list | tuple) and bool(each) and isinstance(each[0], Document) for each in held)


def documents_in(value: object) -> list[Document]:
    """List the documents in a value, in its order: those of lists, with or without scores, of fields, of tools' artifacts."""
    if type(value) is list and set(map(type, value)) == {Document}:  # what retrievers return
        return list(value)
    return list(_documents((value,), _HOW_DEEP, iter(range(_HOW_MANY))))


def _documents(values: Iterable[object], depth: int, left: Iterator[int]) -> Iterator[Document]:
    """Walk values no deeper, and no further than numbers are left."""
    for value in values:
        if type(value) in _PLAIN:
            continue
        if isinstance(value, Document):
            yield value
        elif next(left, None) is None:
            return
        elif depth > 0:
            yield from _documents(_inside(value), depth - 1, left)


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, ToolMessage):
        return (value.artifact,)
    if isinstance(value, str | bytes | bytearray | BaseMessage):
        return ()
    if isinstance(value, list | tuple | Sequence):
        is_vector = len(value) > _PAIR and isinstance(value[0], int | float)
        return () if is_vector else value
    return fields_of(value).values()


def _find_named_question(given: Mapping[str, Any], depth: int) -> str | None:
    """Take what has a usual name, else the only text there is."""
    named = (question_in(given[name], depth - 1) for name in ASKED if name in given and depth > 0)
    return next(filter(None, named), None) or _only(list(_texts(given)))


def _structured_text(value: object, asked: object = None) -> str | None:
    """Return what a structured answer says: a model, a dataclass or a mapping."""
    if isinstance(value, str):
        return value
    given, old = fields_of(value), {*_texts(fields_of(asked))}
    texts = (text for text in _all_texts(_drop_questions(given), _HOW_DEEP) if text not in old)
    return _find_named_answer(given, asked) or "\n".join(texts) or None


def _all_texts(value: object, depth: int) -> Iterator[str]:
    """Yield the texts in a structured answer, also those of its lists and parts; documents are none."""
    if isinstance(value, str):
        yield from (value,) if value.strip() else ()
    elif depth > 0 and not isinstance(value, Document | BaseMessage | bytes):
        for each in value if isinstance(value, list | tuple) else fields_of(value).values():
            yield from _all_texts(each, depth - 1)


def _find_named_answer(given: Mapping[str, Any], asked: object, depth: int = _HOW_DEEP) -> str | None:
    known = fields_of(asked)
    structured = given.get(_STRUCTURED)
    if structured is not None and depth > 0 and not _is_same(structured, known.get(_STRUCTURED)):
        return _structured_text(structured)
    named = (
        _read_answer(given[name], depth) for name in ANSWERED if name in given and not _is_same(given[name], known.get(name))
    )
    said = next(filter(None, named), None)
    if said is None and "messages" in given:
        said = _read_answer(given["messages"], depth)
    old = {*_texts(known), *([asked] if isinstance(asked, str) else [])}
    return said or _only([text for text in _texts(_drop_questions(given)) if text not in old])


def _drop_questions(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in given.items() if name not in ASKED or name in ANSWERED}


def _read_answer(value: object, depth: int) -> str | None:
    """Return what an answer by its name says: a text, messages, or data written out; documents are none."""
    if isinstance(value, Mapping):
        return _find_named_answer(value, None, depth - 1) if depth > 0 else None
    return answer_text(value) if isinstance(value, str | BaseMessage | Sequence | BaseModel) else None


def _is_same(one: object, other: object) -> bool:
    """Return whether two values are one; only texts are compared, since tables and arrays compare their cells."""
    return one is other or (isinstance(one, str) and one == other)


def _find_last_text(messages: Sequence[object], by: Sequence[str], until: Sequence[str] = ()) -> str | None:
    """Return what was said last by somebody, since somebody else spoke."""
    for each in reversed(messages):
        if type(each) is Document:  # of which there are many, and slow to tell from a message below
            continue
        if text := _text_by(each, by):
            return text
        if _text_by(each, until):
            return None
    return None


def _text_by(message: object, by: Sequence[str]) -> str | None:
    """Return what a message says, in any form in which LangChain takes one; None if somebody else says it."""
    match message:
        case AIMessage() if message.tool_calls:  # it asks for more, and says so
            return None
        case AIMessage() | AIMessageChunk() | HumanMessage():
            return message.text if message.type.removesuffix("MessageChunk").lower() in by else None
        case ChatMessage():
            return message.text if message.role in by else None
        case Mapping():
            role, said = message.get("role", message.get("type")), message.get("content")
        case (str() as role, said):
            pass
        case _:
            return None
    return said if role in by and isinstance(said, str) else None


def _texts(given: Mapping[str, Any]) -> Iterator[str]:
    yield from (value for value in given.values() if isinstance(value, str) and value.strip())


def _only(texts: Sequence[str]) -> str | None:
    return texts[0] if len(texts) == 1 else None


def fields_of(value: object) -> Mapping[str, Any]:
    """Return what a mapping, a model or a dataclass holds, by name."""
    if type(value) in _WITHOUT_FIELDS:  # most of what is looked at, and slow to find out below
        return {}
    match value:
        case Mapping():
            return value
        case _ if type(value).__name__ == "Command":  # LangGraph's: where to go, and what to go on with, is neither
            return fields_of(getattr(value, "update", None))
        case BaseModel():
            return {name: getattr(value, name) for name in type(value).model_fields}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {field.name: getattr(value, field.name) for field in fields(value)}
        case _:
            return {}
