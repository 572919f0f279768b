"""Does a passage quote an accepted answer, word by word, or can it not?"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from rag_cover.english.words import words_of

__all__ = ["is_yes_or_no", "quotes_any"]

_ARTICLES = frozenset(("a", "an", "the"))


def quotes_any(text: str, references: Iterable[str]) -> bool:
    """Return whether the words of a reference stand in a text, one after the other; case, punctuation and articles are ignored.

    >>> quotes_any("It was built in the year 1,932.", ["1,932"]), quotes_any("Built in 1932.", ["32"])
    (True, False)
    >>> quotes_any("The Danube flows on.", ["the Danube."]), quotes_any("Nothing.", [" ?"])
    (True, False)
    """
    said = _spaced(text)
    return any(found != "  " and found in said for found in map(_spaced, references))


def is_yes_or_no(reference: str) -> bool:
    """Return whether an accepted answer is a bare yes or no.

    >>> is_yes_or_no("No."), is_yes_or_no("No dogs")
    (True, False)
    """
    return words_of(reference) in (["yes"], ["no"])


@lru_cache(maxsize=256)
def _spaced(text: str) -> str:
    return f" {' '.join(word for word in words_of(text) if word not in _ARTICLES)} "
