"""Results of any measure without their texts: dataclasses whose fields of texts are marked (`rag_cover.measures.Text`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from rag_cover.backends import Failure
from rag_cover.errors import InvalidValueError
from rag_cover.measures import Text
from rag_cover.redaction.hashing import Redaction

__all__ = ["Redactor", "refuse_unmarked"]

Value = TypeVar("Value")

_PLAIN = (bool, int, float, type(None))


def refuse_unmarked(measure: str, kind: type[Any]) -> None:
    """Refuse a type of results of which it is not known where it holds texts.

    Raises:
        InvalidValueError: it is no dataclass, or a field of it may hold a text and has no mark.
    """
    hint: Any = kind
    if problem := _find_unmarked(hint):
        message = (
            f"The results of the measure {measure!r} cannot be redacted: {problem}. Mark each text with "
            "Annotated[str, rag_cover.measures.Text()], or measure without redaction."
        )
        raise InvalidValueError(message)


class Redactor:
    """Replaces the marked texts of the results of one trace; ``keys`` are the redacted keys of its passages, by key.

    A value that stands in several places (a belief of `TraceUtility`) is replaced once.
    """

    def __init__(self, by: Redaction, *, question: str = "", keys: Mapping[str, str] | None = None) -> None:
        self._by, self._question, self._keys = by, question, keys or {}
        self._replaced: dict[int, tuple[Any, Any]] = {}

    def fields_of(self, value: Value) -> Value:
        """Replace the marked texts of a dataclass, and of those within it; all else stays."""
        if (known := self._replaced.get(id(value))) is not None:
            return cast("Value", known[1])
        found: Any = value
        kind: Any = type(value)
        changed = {name: self._value(getattr(found, name), mark) for name, mark in _marks(kind).items()}
        redacted: Value = replace(found, **changed)
        self._replaced[id(value)] = (value, redacted)  # the value is kept, so that its id stays its own
        return redacted

    def failure(self, failure: Failure) -> Failure:
        """Replace what a failure says, which may quote a text; its kind stays."""
        raw = None if failure.raw is None else self._by.text(failure.raw)
        return replace(failure, message=self._by.text(failure.message), raw=raw)

    def _value(self, value: Any, mark: Text | None, place: int = 0) -> Any:
        match value:
            case str():
                return self._text(value, mark or Text(), place)
            case Failure():
                return self.failure(value)
            case Mapping():
                return {key: self._value(each, mark) for key, each in value.items()}
            case list() | tuple():
                return type(value)(self._value(each, mark, place) for place, each in enumerate(value))
            case _ if is_dataclass(value) and not isinstance(value, type):
                return self.fields_of(value)
            case _:
                return value

    def _text(self, value: str, mark: Text, place: int) -> str:
        if not mark.quotes:
            return value
        match mark.kind:
            case "passage":
                return self._keys.get(value) or self._by.identifier(value)
            case "step":
                return self._by.step(value)
            case "token":  # with its place and its question: a hash of one word alone is guessed at once
                return self._by.identifier(f"{place}\n{value}\n{self._question}") if value.strip() else value
            case _:
                return self._by.text(value)


@cache
def _marks(kind: Any) -> Mapping[str, Text | None]:
    """Return the mark of each field of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: _mark(hints[field.name]) for field in fields(kind)}


def _mark(hint: Any) -> Text | None:
    """Return the mark of a type, or of the first of its parts that has one; None where no part has one."""
    if _is_closed(hint):
        return Text(quotes=False)
    found = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Text)]
    return found[0] if found else next((mark for part in get_args(hint) if (mark := _mark(part))), None)


def _is_closed(hint: Any) -> bool:
    """Return whether a type has a closed set of values: a literal, or an enumeration."""
    return get_origin(hint) is Literal or (isinstance(hint, type) and issubclass(hint, Enum))


@cache
def _find_unmarked(hint: Any, name: str = "") -> str:
    """Return which part of a type may hold a text and has no mark; empty where every part has one."""
    if hint in _PLAIN or hint is Failure or _is_closed(hint) or (get_origin(hint) is Annotated and _mark(hint)):
        return ""
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        found = (_find_unmarked(hints[field.name], f"{hint.__name__}.{field.name}") for field in fields(hint))
        return next(filter(None, found), "")
    if parts := [part for part in get_args(hint) if part is not Ellipsis]:
        return next(filter(None, (_find_unmarked(part, name) for part in _values_of(hint, parts))), "")
    what = getattr(hint, "__name__", str(hint))
    return f"{name} is a {what} without a mark" if name else f"{what} is no dataclass"


def _values_of(hint: Any, parts: Sequence[Any]) -> Sequence[Any]:
    """Leave out the keys of a mapping, which are names."""
    origin = get_origin(hint)
    return parts[1:] if isinstance(origin, type) and issubclass(origin, Mapping) else parts
