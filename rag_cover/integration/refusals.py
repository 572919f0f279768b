"""Checks of what users give to a framework's parts: blank questions and unknown choices are refused."""

from __future__ import annotations

from rag_cover.argument_checks import refuse_other_than
from rag_cover.errors import InvalidValueError

__all__ = ["refuse_blank", "refuse_on_error"]


def refuse_blank(question: str) -> None:
    """Refuse a blank question.

    Raises:
        InvalidValueError: the question is empty or white space.
    """
    if not question.strip():
        message = "the question is blank; ask something"
        raise InvalidValueError(message)


def refuse_on_error(on_error: str) -> None:
    """Refuse an unknown choice of what to do where a model fails.

    Raises:
        InvalidValueError: the choice is neither ``"keep"`` nor ``"raise"``.
    """
    refuse_other_than(("keep", "raise"), on_error=on_error)
