"""How values are written in one short line, in a console or a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

__all__ = ["capitalise", "join_words", "letter_of", "quote", "shorten"]


def capitalise(label: str) -> str:
    """Begin with a capital, leaving the rest as it is.

    >>> capitalise("core answered by GPT")
    'Core answered by GPT'
    """
    return label[:1].upper() + label[1:]


def letter_of(index: int) -> str:
    """Name one of several things by a capital letter; past Z, by its number.

    >>> letter_of(0), letter_of(25), letter_of(26)
    ('A', 'Z', '27')
    """
    return ascii_uppercase[index] if index < len(ascii_uppercase) else str(index + 1)


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


def join_words(words: Sequence[str]) -> str:
    """Write several words as a list within a sentence.

    >>> join_words(["an answer"]), join_words(["an answer", "references", "a prompt"])
    ('an answer', 'an answer, references and a prompt')
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
