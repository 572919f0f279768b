"""How values are written in one short line, in a console or a notebook."""

from __future__ import annotations

__all__ = ["quote", "shorten"]


def quote(text: str | None, *, limit: int = 60) -> str:
    """Write a text as Python would, cut to so many characters, for the short form of a value.

    >>> quote("Why is the sky blue?", limit=10), quote(None)
    ("'Why is th…'", 'None')
    """
    return repr(text if text is None or len(text) <= limit else f"{text[: limit - 1]}…")


def shorten(text: str, *, limit: int = 160) -> str:
    """Cut a text to so many characters, for the short form of a value.

    >>> shorten("coverage, groundedness", limit=10), shorten("coverage")
    ('coverage,…', 'coverage')
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
