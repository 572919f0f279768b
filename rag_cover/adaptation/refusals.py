"""What frameworks pass on from people, refused where it cannot be meant."""

from __future__ import annotations

from rag_cover.errors import InvalidValueError

__all__ = ["refuse_blank"]


def refuse_blank(question: str) -> None:
    """Refuse a question of white space.

    Raises:
        InvalidValueError: it is one.
    """
    if not question.strip():
        message = "the question is blank; ask something"
        raise InvalidValueError(message)
