"""JSON data made into traces and passages, with every refusal as one sentence and the JSON path it is about."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rag_cover.errors import InputError
from rag_cover.questions import Passage, Value
from rag_cover.traces import Trace

__all__ = ["describe_value", "json_path", "passage_from", "refuse_unwritable", "trace_from", "value_from"]

ValueType = TypeVar("ValueType", bound=Value)

_EXPECTED = {
    "string_type": "a string",
    "tuple_type": "a list",
    "dict_type": "an object",
    "mapping_type": "an object",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "greater_than_equal": "0 or more",
    "datetime_type": "a date and time, such as '2026-01-31T12:00:00Z'",
    "datetime_parsing": "a date and time, such as '2026-01-31T12:00:00Z'",
    "datetime_from_date_parsing": "a date and time, such as '2026-01-31T12:00:00Z'",
}
_TEXTUAL = {"Question", "SubQuestion", "Passage", "Sample", "Nugget", "Fragment"}
_LONGEST = 40
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def trace_from(data: object, *, file: Path | str | None = None, line: int | None = None, at: str = "$") -> Trace:
    """Make JSON data a Trace, or raise the InputError that says which field is wrong and why.

    >>> trace_from({"question": "Why?", "answer": 4}, line=3)
    Traceback (most recent call last):
    rag_cover.errors.InputError: line 3, at $.answer: expected a string, got the number 4
    """
    return value_from(Trace, data, called="trace", file=file, line=line, at=at)


def passage_from(data: object, *, file: Path | str | None = None, line: int | None = None, at: str = "$") -> Passage:
    """Make JSON data a Passage, or raise the InputError that says which field is wrong and why."""
    return value_from(Passage, data, called="passage", file=file, line=line, at=at)


def value_from(
    kind: type[ValueType],
    data: object,
    *,
    called: str,
    file: Path | str | None = None,
    line: int | None = None,
    at: str = "$",
) -> ValueType:
    """Make JSON data a value of a kind, or raise the InputError that says which field is wrong and why."""
    try:
        made = kind.model_validate(data)
        refuse_unwritable(data, file=file, line=line, at=at)
    except ValidationError as invalid:
        problem, path = _explain(invalid, data, called)
        raise InputError(problem, file=file, line=line, field=at + path) from invalid
    except (ValueError, RecursionError) as invalid:
        if isinstance(invalid, InputError):
            raise
        raise InputError(str(invalid), file=file, line=line, field=at) from invalid
    return made


def describe_value(value: object) -> str:
    """Name a JSON value in words.

    >>> describe_value([1]), describe_value("a"), describe_value(None)
    ('a list', "the string 'a'", 'null')
    """
    match value:
        case None | bool():
            words = json.dumps(value)
        case str():
            words = f"the string {value if len(value) <= _LONGEST else value[:_LONGEST] + '…'!r}"
        case int() if value.bit_length() > _LONGEST:
            words = "a large number"
        case int() | float():
            words = f"the number {value}"
        case Mapping():
            words = "an object"
        case Sequence():
            words = "a list"
        case _:
            words = f"a {type(value).__name__}"
    return words


def json_path(location: Sequence[int | str]) -> str:
    """Write a location as the rest of a JSON path.

    >>> json_path(["steps", 0, "passages", 2, "text"]), json_path(["odd key"])
    ('.steps[0].passages[2].text', "['odd key']")
    """
    parts = (
        f"[{part}]" if isinstance(part, int) else f".{part}" if part.isidentifier() else f"[{part[:_LONGEST]!r}]"
        for part in location
    )
    return "".join(parts)


def refuse_unwritable(data: object, *, file: Path | str | None, line: int | None, at: str = "$") -> None:
    """Refuse what no UTF-8 JSON file can hold: lone surrogates, and numbers that are not finite outside log-probabilities."""
    if _is_writable(data):
        return
    for location, value in _leaves(data):
        if isinstance(value, str) and _SURROGATE.search(value):
            problem = "the text holds a lone surrogate (half a character), which UTF-8 cannot write; repair it at its source"
        elif isinstance(value, float) and not math.isfinite(value) and "token_logprobs" not in location:
            problem = f"expected a finite number, got {value}; leave an unknown value out"
        else:
            continue
        raise InputError(problem, file=file, line=line, field=at + json_path(location))


def _is_writable(data: object) -> bool:
    """Check with the JSON encoder, which is fast, what nearly always holds, before the data is walked in search of a fault."""
    try:
        json.dumps(data, ensure_ascii=False, allow_nan=False, default=str).encode()
    except ValueError:
        return False
    return True


def _leaves(data: object) -> Iterator[tuple[tuple[int | str, ...], object]]:
    """Walk JSON data without recursion, however deep it is; the keys of objects are among the leaves."""
    waiting: list[tuple[tuple[int | str, ...], object]] = [((), data)]
    while waiting:
        location, value = waiting.pop()
        match value:
            case Mapping():
                yield from ((location, key) for key in value)
                waiting.extend(((*location, str(key)), item) for key, item in value.items())
            case list() | tuple():
                waiting.extend(((*location, index), item) for index, item in enumerate(value))
            case _:
                yield location, value


def _explain(invalid: ValidationError, data: object, called: str) -> tuple[str, str]:
    """Describe the first problem and its path, and count the other fields that have one."""
    problems = {_path_of(error, data): error for error in reversed(invalid.errors(include_url=False))}
    path, first = next(reversed(problems.items()))
    others = len(problems) - 1
    more = f" ({others} more {'field is' if others == 1 else 'fields are'} wrong in this {called})" if others else ""
    return _sentence(first, called) + more, path


def _path_of(error: ErrorDetails, data: object) -> str:
    """Keep the parts of pydantic's location that are in the data: it also names the branches of its unions."""
    kept: list[int | str] = []
    for part in error["loc"]:
        if _holds(data, part):
            data = data[part]  # type: ignore[index]  # it holds the part, so it has an index
        elif error["type"] != "missing" or part != error["loc"][-1]:
            continue
        kept.append(part)
    return json_path(kept)


def _holds(data: object, part: int | str) -> bool:
    if isinstance(data, list | tuple):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, Mapping) and part in data


def _sentence(error: ErrorDetails, called: str) -> str:
    kind, context = error["type"], error.get("ctx", {})
    match kind:
        case "missing":
            return f"this field is missing, and a {called} needs it"
        case "value_error":
            return str(context["error"])
        case "recursion_depth_exceeded" | "recursion_loop":
            return "this is nested too deeply"
        case "model_type":
            expected = f"expected {'a string or an object' if context['class_name'] in _TEXTUAL else 'an object'}"
        case "enum" | "literal_error":
            expected = f"expected {context['expected']}"
        case _:
            expected = f"expected {_EXPECTED[kind]}" if kind in _EXPECTED else error["msg"][:1].lower() + error["msg"][1:]
    return f"{expected}, got {describe_value(error['input'])}"
