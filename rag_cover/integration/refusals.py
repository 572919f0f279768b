"""Checks of what users give to a framework's parts: blank questions and settings out of range are refused."""

from __future__ import annotations

import math

from rag_cover.errors import InvalidValueError

__all__ = ["describe_argument", "refuse_below", "refuse_blank", "refuse_on_error", "refuse_utility"]


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


def refuse_below(least: float, **numbers: float) -> None:
    """Refuse numbers below their minimum.

    Raises:
        InvalidValueError: a number is below ``least``, or is not finite.
    """
    for name, value in numbers.items():
        if not isinstance(value, int | float) or not least <= value < math.inf:
            message = f"{name} is {value!r}; it is at least {least:g}, and finite"
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
    if on_error not in ("keep", "raise"):
        message = f"on_error is 'keep' or 'raise', not {on_error!r}"
        raise InvalidValueError(message)
