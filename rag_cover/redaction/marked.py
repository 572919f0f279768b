"""Results of any measure without their texts: dataclasses whose fields of texts are marked (`rag_cover.measures.Text`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from rag_cover.errors import InvalidValueError
from rag_cover.measures import Text
from rag_cover.redaction.hashing import Redaction

__all__ = ["redacted_fields", "refuse_unmarked"]

Value = TypeVar("Value")

_PLAIN = (bool, int, float, type(None))


def refuse_unmarked(measure: str, kind: type[Any]) -> None:
    """Refuse a type of results of which it is not known where it holds texts.

    Raises:
        InvalidValueError: it is no dataclass, or a field of it may hold a text and has no mark.
    """
    hint: Any = kind
    if problem := _unmarked(hint):
        message = (
            f"The results of the measure {measure!r} cannot be redacted: {problem}. Mark each text with "
            "Annotated[str, rag_cover.measures.Text()], or measure without redaction."
        )
        raise InvalidValueError(message)


def redacted_fields(value: Value, by: Redaction) -> Value:
    """Replace the marked texts of a dataclass, and of those within it, by their hashes; all else stays."""
    found: Any = value
    kind: Any = type(value)
    changed = {name: _redacted(getattr(found, name), mark, by) for name, mark in _marks(kind).items()}
    redacted: Value = replace(found, **changed)
    return redacted


@cache
def _marks(kind: Any) -> Mapping[str, Text | None]:
    """Return the mark of each field of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: _mark(hints[field.name]) for field in fields(kind)}


def _redacted(value: Any, mark: Text | None, by: Redaction) -> Any:
    if isinstance(value, str):
        return by.text(value) if mark is None or mark.quotes else value
    if is_dataclass(value):
        return redacted_fields(value, by)
    if isinstance(value, Mapping):
        return {key: _redacted(each, mark, by) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_redacted(each, mark, by) for each in value)
    return value


def _mark(hint: Any) -> Text | None:
    found = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Text)]
    return found[0] if found else next((mark for part in get_args(hint) if (mark := _mark(part))), None)


@cache
def _unmarked(hint: Any, name: str = "") -> str:
    """Say which part of a type may hold a text and has no mark; nothing where there is none."""
    if hint in _PLAIN or (get_origin(hint) is Annotated and _mark(hint)):
        return ""
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        found = (_unmarked(hints[field.name], f"{hint.__name__}.{field.name}") for field in fields(hint))
        return next(filter(None, found), "")
    if parts := [part for part in get_args(hint) if part is not Ellipsis]:
        return next(filter(None, (_unmarked(part, name) for part in _values_of(hint, parts))), "")
    what = getattr(hint, "__name__", str(hint))
    return f"{name} is a {what} without a mark" if name else f"{what} is no dataclass"


def _values_of(hint: Any, parts: Sequence[Any]) -> Sequence[Any]:
    """Leave out the keys of a mapping, which are names."""
    origin = get_origin(hint)
    return parts[1:] if isinstance(origin, type) and issubclass(origin, Mapping) else parts
