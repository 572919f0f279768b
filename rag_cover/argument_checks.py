"""Checks of arguments: numbers out of range and unknown choices are refused in one wording.

Each function takes the arguments by their names, such as ``refuse_below(1, k=k)``, and refuses the first that is wrong.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection
from numbers import Integral, Real

from rag_cover.errors import InvalidValueError, nearest

__all__ = [
    "describe_argument",
    "refuse_below",
    "refuse_negative",
    "refuse_no_flag",
    "refuse_no_path",
    "refuse_one_text",
    "refuse_other_than",
    "refuse_outside",
    "without_none",
]

_SHOWN = 80
"""The most characters that a message shows of a wrong argument."""


def describe_argument(value: object) -> str:
    """Describe a wrong argument by its type, for the error that refuses it.

    >>> describe_argument(5), describe_argument(int)
    ("'int'", "the class 'int' itself")
    """
    return f"the class {value.__name__!r} itself" if isinstance(value, type) else repr(type(value).__name__)


def without_none(**values: object) -> dict[str, object]:
    """Return the arguments that were given: None stands for a default, and there is nothing to check.

    >>> without_none(k=3, depth=None)
    {'k': 3}
    """
    return {name: value for name, value in values.items() if value is not None}


def refuse_below(least: int, /, **counts: object) -> None:
    """Refuse counts that are no whole numbers, or below their minimum.

    Raises:
        InvalidValueError: a value is no integer of at least ``least``; True and False are none.
    """
    for name, value in counts.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise _wrong(name, value, f"a whole number of at least {least}")


def refuse_negative(**amounts: object) -> None:
    """Refuse amounts that are negative, infinite, or no numbers.

    Raises:
        InvalidValueError: a value is no finite number of at least 0.
    """
    for name, value in amounts.items():
        if not _lies_between(value, 0, math.inf) or value == math.inf:
            raise _wrong(name, value, "a finite number of at least 0")


def refuse_outside(low: float, high: float, /, **numbers: object) -> None:
    """Refuse numbers outside the closed interval from ``low`` to ``high``.

    Raises:
        InvalidValueError: a value is no number in [``low``, ``high``].
    """
    for name, value in numbers.items():
        if not _lies_between(value, low, high):
            raise _wrong(name, value, f"a number from {low:g} to {high:g}")


def refuse_one_text(**lists: object) -> None:
    """Refuse one text where a list of texts is meant, which would be read letter by letter.

    Raises:
        InvalidValueError: a value is a text.
    """
    for name, value in lists.items():
        if isinstance(value, str):
            message = f"{name} is one text; give a list: {name}=[{value!r}]"
            raise InvalidValueError(message)


def refuse_no_path(**paths: object) -> None:
    """Refuse what is no path of a file: neither a text nor a `os.PathLike`; None is none given.

    Raises:
        InvalidValueError: a value is something else.
    """
    for name, path in without_none(**paths).items():
        if not isinstance(path, str | os.PathLike):
            raise _wrong(name, path, "the path of a file")


def refuse_other_than(known: Collection[str], /, **choices: object) -> None:
    """Refuse a choice that is not among those there are.

    Raises:
        InvalidValueError: a value is none of ``known``.
    """
    for name, choice in choices.items():
        if choice not in known:
            near = nearest(choice, known) if isinstance(choice, str) else ""
            raise _wrong(name, choice, " or ".join(map(repr, known)), near)


def refuse_no_flag(**flags: object) -> None:
    """Refuse what is neither True nor False: any text would count as True.

    Raises:
        InvalidValueError: a value is something else.
    """
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise _wrong(name, value, "True or False")


def _lies_between(value: object, low: float, high: float) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and low <= float(value) <= high


def _wrong(name: str, value: object, wanted: str, near: str = "") -> InvalidValueError:
    return InvalidValueError(f"{name} is {repr(value)[:_SHOWN]}; give {wanted}{near and '.'}{near}")
