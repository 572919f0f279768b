"""LlamaIndex's own words for what rag_cover takes by another name: ``llm=``, ``embed_model=``, ``similarity_top_k=``."""

from __future__ import annotations

from typing import TypeVar

from rag_cover.errors import InvalidValueError

__all__ = ["take_host_term"]

Own = TypeVar("Own")
Term = TypeVar("Term")


def take_host_term(given: Own, name: str, default: object, **term: Term | None) -> Own | Term:
    """Return what was given by LlamaIndex's word, else by rag_cover's own name.

    >>> take_host_term("embedded", "judge", "embedded", llm=None), take_host_term(10, "k", 10, similarity_top_k=3)
    ('embedded', 3)

    Raises:
        InvalidValueError: both were given.
    """
    ((word, value),) = term.items()
    if value is None:
        return given
    if given is not default and given != default:
        message = f"{word}= and {name}= are the same; give one of them"
        raise InvalidValueError(message)
    return value
