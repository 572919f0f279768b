"""Checks of what users give to a framework's parts: blank questions and settings out of range are refused."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rag_cover.errors import InvalidValueError

__all__ = [
    "describe_argument",
    "refuse_below",
    "refuse_blank",
    "refuse_on_error",
    "refuse_other_than",
    "refuse_utility",
    "refuse_weight",
]


def describe_argument(value: object) -> str:
    """Describe a wrong argument by its type, for the error that refuses it.

    >>> describe_argument(5), describe_argument(int)
    ("'int'", "the class 'int' itself")
    """
    return f"the class {value.__name__!r} itself" if isinstance(value, type) else repr(type(value).__name__)


def refuse_blank(question: str) -> None:
    """Refuse a blank question.

    Raises:
        InvalidValueError: the question is empty or white space.
    """
    if not question.strip():
        message = "the question is blank; ask something"
        raise InvalidValueError(message)


def refuse_below(least: int, **counts: int) -> None:
    """Refuse counts below their minimum, and numbers that are no integers.

    Raises:
        InvalidValueError: a number is below ``least``, or no integer.
    """
    for name, value in counts.items():
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or value < least:
            must = f"it is at least {least}" if is_whole else f"it must be a whole number of at least {least}"
            message = f"{name} is {value!r}; {must}"
            raise InvalidValueError(message)


def refuse_weight(retrieval_weight: float | None) -> None:
    """Refuse a weight of the retriever's order that is negative or not finite; None is the default.

    Raises:
        InvalidValueError: it is no such number.
    """
    value = retrieval_weight
    if value is not None and (not isinstance(value, int | float) or not 0 <= value < math.inf):
        message = f"retrieval_weight is {value!r}; it is at least 0, and finite"
        raise InvalidValueError(message)


def refuse_other_than(known: Sequence[str], **choices: str) -> None:
    """Refuse a choice that is not among those there are.

    Raises:
        InvalidValueError: a value is none of ``known``.
    """
    for name, choice in choices.items():
        if choice not in known:
            message = f"{name} is {' or '.join(map(repr, known))}, not {choice!r}"
            raise InvalidValueError(message)


def refuse_utility(min_utility: float) -> None:
    """Refuse a minimum utility out of range.

    Raises:
        InvalidValueError: the number is outside [-1, 1].
    """
    if not isinstance(min_utility, int | float) or not -1 <= min_utility <= 1:
        message = f"min_utility is {min_utility!r}; a utility is in [-1, 1]"
        raise InvalidValueError(message)


def refuse_on_error(on_error: str) -> None:
    """Refuse an unknown choice of what to do where a model fails.

    Raises:
        InvalidValueError: the choice is neither ``"keep"`` nor ``"raise"``.
    """
    refuse_other_than(("keep", "raise"), on_error=on_error)
