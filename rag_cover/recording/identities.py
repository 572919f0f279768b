"""What tells options of recordings apart, so that equal ones share a thread."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from pathlib import Path

__all__ = ["equality_key"]


def equality_key(value: object) -> Hashable:
    """Return what two values have in common that do the same: names and settings by value, models by which object they are.

    A wrapper of a framework's model, a frozen dataclass, is that model. It holds for as long as the value is alive.

    >>> one, other = object(), object()
    >>> equality_key(("embedded", one)) == equality_key(("embedded", one)), equality_key(one) == equality_key(other)
    (True, False)
    >>> equality_key({"max_calls": 5}) == equality_key({"max_calls": 5})
    True
    """
    match value:
        case None | str() | int() | float() | Path():
            return (type(value).__qualname__, value)
        case tuple():
            return tuple(map(equality_key, value))
        case dict():
            return ("dict", *((str(name), equality_key(value[name])) for name in sorted(value, key=str)))
        case _ if is_dataclass(value) and not isinstance(value, type):
            return (type(value).__qualname__, *(equality_key(getattr(value, field.name)) for field in fields(value)))
        case _:
            return (type(value).__qualname__, id(value))
