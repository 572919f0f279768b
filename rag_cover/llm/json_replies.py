"""What language models write, read as the JSON they were asked for: in fences, after thoughts, cut off, or as a list.

Reading is tolerant about form and strict about content: what does not validate is a `MalformedReplyError` that keeps the raw
text, and so is a reply with two different answers in it. Of a JSON text that breaks off, only complete elements of its
outermost list are kept; nothing half written is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from rag_cover.errors import MalformedReplyError

__all__ = ["parse_reply", "without_thoughts"]

M = TypeVar("M", bound=BaseModel)

_THOUGHTS = re.compile(r"^\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_STRING = (
    r'"(?:\\.|[^"\\])*+(?:"|\\?\Z)'  # one that is not closed goes on to the end: read on behind it, long ones take for ever
)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(\s*+[\]}}])", re.DOTALL)
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}},]", re.DOTALL)
_OPENING = re.compile(r"[\[{]")
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\(?\d{1,3}[.):])[ \t]++(.*\S)[ \t]*$", re.MULTILINE)
_OPENINGS = 64  # brackets tried as the beginning of a JSON text
_TRIED = 4_000_000  # characters read from all of them
_EXCERPT = 200


def parse_reply(text: str, schema: type[M]) -> M:
    r"""Read a reply as a value of a schema.

    >>> class Parts(BaseModel):
    ...     parts: list[str]
    >>> parse_reply('Sure! Here they are:\n1. What is it?\n2. What does it cost?', Parts)
    Parts(parts=['What is it?', 'What does it cost?'])
    >>> parse_reply('{"parts": ["What is it?", "What does it', Parts)
    Parts(parts=['What is it?'])

    Raises:
        MalformedReplyError: nothing in it validates, or two different things do.
    """
    written = without_thoughts(text)
    complete, rest = _values(written)
    found: list[M] = []
    problem = ""
    for value in complete:
        try:
            read = _validate(value, schema)
        except ValidationError as invalid:
            problem = problem or _first_problem(invalid)
        else:
            found += [] if read in found else [read]
    if len(found) > 1:
        message = f"the reply holds {len(found)} different answers"
        raise MalformedReplyError(message, raw=text)
    if found:
        return found[0]
    for value in _salvage(written, rest):
        try:
            return _validate(value, schema)
        except ValidationError as invalid:
            problem = problem or _first_problem(invalid)
    message = problem or "the reply holds no JSON"
    raise MalformedReplyError(message, raw=text)


def without_thoughts(text: str) -> str:
    """Take out the thoughts that a reasoning model writes before its reply, also where they never end.

    >>> without_thoughts("<think>Paris or Rome?</think> Paris"), without_thoughts("<think>Paris or")
    ('Paris', '')
    """
    return _THOUGHTS.sub("", text).strip()


def _values(text: str) -> tuple[list[object], int | None]:
    """Decode the JSON objects and lists of a text, one after the other; say where one begins that does not end."""
    values: list[object] = []
    at, tried, broken = 0, 0, None
    for _ in range(_OPENINGS):
        opening = _OPENING.search(text, at)
        if opening is None or tried > _TRIED:
            break
        tried += len(text) - opening.start()
        for written in (text[opening.start() :], _without_trailing_commas(text[opening.start() :])):
            try:
                value, length = _DECODER.raw_decode(written)
            except (ValueError, RecursionError):
                continue
            values.append(value)
            at = opening.start() + length + (len(text) - opening.start() - len(written))
            break
        else:
            broken = opening.start() if broken is None else broken
            at = opening.end()
    return values, broken


def _refuse(constant: str) -> NoReturn:
    message = f"{constant} is no JSON"
    raise ValueError(message)


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse)


def _without_trailing_commas(text: str) -> str:
    return _TRAILING_COMMA.sub(lambda match: match[1] or match[2], text)


def _salvage(text: str, start: int | None) -> Iterator[object]:
    """Offer what can be read where no complete JSON fits: a text cut off, then a list of lines."""
    if start is not None and (closed := _close_json(text[start:])) is not None:
        with suppress(ValueError, RecursionError):  # it was not cut off, it was wrong
            yield _DECODER.decode(closed)
    if items := _ITEM.findall(text):
        yield [item.strip("\"'“”") if item[0] in "\"'“" else item for item in items]


def _close_json(text: str) -> str | None:
    """Close a JSON text after the last complete element of its outermost list; None where it has none."""
    stack: list[str] = []
    cut: tuple[int, str] | None = None
    position = 0
    lists = 0
    for token in _TOKEN.finditer(text):
        match token.group():
            case "[" | "{" as opening:
                stack.append("]" if opening == "[" else "}")
                lists += opening == "["
            case "]" | "}" as closing:
                if not stack or stack.pop() != closing:
                    return None
                lists -= closing == "]"
            case ",":
                pass
            case _:
                continue
        position = token.start() if token.group() == "," else token.end()
        if stack and stack[-1] == "]" and lists == 1 and token.group() in ",}]":
            cut = position, "".join(reversed(stack))
    return text[: cut[0]] + cut[1] if cut else None


def _validate(value: object, schema: type[M]) -> M:
    """Validate a value; a bare list stands for a schema whose only required field it fits, texts for objects of one text."""
    field = _only_required(schema)
    if not isinstance(value, list) or field is None:
        return schema.model_validate(value)
    try:
        return schema.model_validate({field: value})
    except ValidationError:
        inner = _inner(schema, field)
        if inner is None or not all(isinstance(item, str) for item in value):
            raise
        return schema.model_validate({field: [{inner: item} for item in value]})


def _only_required(schema: type[BaseModel]) -> str | None:
    required = [name for name, field in schema.model_fields.items() if field.is_required()]
    return required[0] if len(required) == 1 and required[0] != "root" else None


def _inner(schema: type[BaseModel], field: str) -> str | None:
    arguments = getattr(schema.model_fields[field].annotation, "__args__", ())
    models = [each for each in arguments if isinstance(each, type) and issubclass(each, BaseModel)]
    return _only_required(models[0]) if len(models) == 1 else None


def _first_problem(invalid: ValidationError) -> str:
    """Describe briefly what is wrong without quoting the reply, whose raw text is kept separately."""
    first = invalid.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"] if not isinstance(part, int))
    return f"the reply's JSON does not fit: {where or 'as a whole'}: {first['msg']}"[:_EXCERPT]
