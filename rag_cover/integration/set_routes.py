"""Recognises set queries, "A or B but not C"."""

from __future__ import annotations

from rag_cover.errors import InvalidValueError
from rag_cover.routing import Route
from rag_cover.setqueries import ParsedQuery, parse

__all__ = ["MIN_CONFIDENCE", "OTHERWISE", "SET", "set_route", "why_left_alone"]

MIN_CONFIDENCE = 0.2
"""The confidence from which a question that was read as a set query is answered as one, by default.

It is low, since it is that of the whole reading: one that is wrong in part mostly is a set query all the same."""

SET = "set"
"""The route of set queries."""
OTHERWISE = "otherwise"
"""The route of all other questions."""


def set_route(question: str, *, min_confidence: float = MIN_CONFIDENCE) -> Route:
    """Decide by the grammar alone whether a question is a set query that can be answered as one: `SET` or `OTHERWISE`.

    The probability is that of the reading; None where there is none.
    """
    try:
        parsed = parse(question)
    except InvalidValueError as refused:
        return Route(OTHERWISE, None, {}, f"It cannot be answered as a set query: {refused}.")
    why = why_left_alone(parsed, min_confidence)
    reason = f"It is read as {parsed.query}." if why is None else f"It is no set query that can be answered as one: {why}."
    return Route(SET if why is None else OTHERWISE, parsed.confidence, {"min_confidence": min_confidence}, reason)


def why_left_alone(parsed: ParsedQuery, min_confidence: float) -> str | None:
    """Return why a question is not answered as a set query; None where it is."""
    if not parsed.is_set_query:
        return "there is no set operation in it"
    if parsed.confidence < min_confidence:
        return f"its reading as {parsed.query} is too unsure ({parsed.confidence:.2f}, below {min_confidence:.2f})"
    return None
