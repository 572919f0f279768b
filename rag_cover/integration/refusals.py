"""What frameworks pass on from people, refused where it cannot be meant: blank questions, settings out of range."""

from __future__ import annotations

import math

from rag_cover.errors import InvalidValueError

__all__ = ["describe_argument", "refuse_below", "refuse_blank", "refuse_on_error", "refuse_utility"]


def describe_argument(value: object) -> str:
    """Say what was given in an object's place, for the sentence that refuses it.

    >>> describe_argument(5), describe_argument(int)
    ("'int'", "the class 'int' itself")
    """
    return f"the class {value.__name__!r} itself" if isinstance(value, type) else repr(type(value).__name__)


def refuse_blank(question: str) -> None:
    """Refuse a question of white space.

    Raises:
        InvalidValueError: it is one.
    """
    if not question.strip():
        message = "the question is blank; ask something"
        raise InvalidValueError(message)


def refuse_below(least: float, **numbers: float) -> None:
    """Refuse numbers below what they must be.

    Raises:
        InvalidValueError: one is, or is no finite number.
    """
    for name, value in numbers.items():
        if not isinstance(value, int | float) or not least <= value < math.inf:
            message = f"{name} is {value!r}; it is at least {least:g}, and finite"
            raise InvalidValueError(message)


def refuse_utility(min_utility: float) -> None:
    """Refuse what no utility can be.

    Raises:
        InvalidValueError: it is outside [-1, 1].
    """
    if not isinstance(min_utility, int | float) or not -1 <= min_utility <= 1:
        message = f"min_utility is {min_utility!r}; a utility is in [-1, 1]"
        raise InvalidValueError(message)


def refuse_on_error(on_error: str) -> None:
    """Refuse what cannot be done where a model fails.

    Raises:
        InvalidValueError: it is neither ``"keep"`` nor ``"raise"``.
    """
    if on_error not in ("keep", "raise"):
        message = f"on_error is 'keep' or 'raise', not {on_error!r}"
        raise InvalidValueError(message)
