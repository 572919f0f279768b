"""Whether a value of a configuration file is of an option's type, and how both are called in an error."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from rag_cover.reports.sanitise import clip

__all__ = ["describe_wanted", "is_of_type", "plain_types", "takes_pairs", "type_in_words"]

_SHOWN = 60


def takes_pairs(option: Any) -> bool:
    """Return whether an option takes NAME=VALUE, for which a file may give a table."""
    return "=" in (option.metavar or "")


def is_of_type(value: Any, hint: Any) -> bool:
    """Return whether a value of a file is of an option's type; paths and members of an enumeration are texts there.

    >>> is_of_type(True, int), is_of_type(3, float | None), is_of_type(["a"], list[str] | None)
    (False, True, True)
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(is_of_type(value, each) for each in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if origin is list:
        return isinstance(value, list) and all(is_of_type(each, get_args(hint)[0]) for each in value)
    if isinstance(value, bool) or hint is bool:
        return isinstance(value, bool) and hint is bool
    if hint in (int, float):
        return isinstance(value, int) or (hint is float and isinstance(value, float))
    return hint is not NoneType and isinstance(value, str)


def plain_types(hint: Any) -> Iterator[Any]:
    """Yield the types that a hint is made of."""
    if not (inner := get_args(hint)):
        yield hint
    for each in inner:
        yield from plain_types(each)


def type_in_words(value: Any) -> str:
    """Say what a value of TOML is."""
    if isinstance(value, str):
        return f"the text {clip(value, _SHOWN)!r}"
    names = {bool: "true or false", int: "a whole number", float: "a number", list: "a list", dict: "a table"}
    return names.get(type(value), f"a {type(value).__name__}")


def describe_wanted(hint: Any, option: Any) -> str:
    """Say in words which values an option takes.

    >>> describe_wanted(Literal["raise", "skip"], None)
    "one of 'raise', 'skip'"
    """
    inner = [each for each in get_args(hint) if each is not NoneType]
    if get_origin(hint) in (Union, UnionType):
        return describe_wanted(inner[0], option)
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if get_origin(hint) is list:
        pairs = ", or a table" if takes_pairs(option) else ""
        return f'a list of texts{pairs}, such as ["{option.metavar or "a"}"]'
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(hint, 'a text in quotes, such as "…"')
