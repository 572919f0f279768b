"""Alternatives in front of one head: "red or blue cars", "vegan Italian or Japanese restaurants"."""

from __future__ import annotations

from collections.abc import Sequence

from rag_cover.setqueries.parsing.clauses import is_verb

__all__ = ["alternatives_in_front"]

_MOST_BEFORE = 2  # words before "or": the alternative, and one that holds of both
_JOINING = frozenset("and or but not no nor neither without except excluding other both either".split())  # noqa: SIM905  # one line


def alternatives_in_front(words: Sequence[str]) -> tuple[str, str] | None:
    """Give each of two modifiers joined by "or" the head that stands after the second; None where that is not what is said.

    What stands before "or" must not ask for many by itself, so that "hotels or hostels" is something else; what follows the
    head holds of both, and joins nothing more.

    >>> alternatives_in_front("vegan Italian or Japanese restaurants in Lyon".split())
    ('vegan Italian restaurants in Lyon', 'vegan Japanese restaurants in Lyon')
    >>> alternatives_in_front("cheap hotels or hostels".split())
    """
    lows = [word.lower() for word in words]
    if "or" not in lows:
        return None
    at = lows.index("or")
    shared, first, second, rest = words[: at - 1], words[at - 1 : at], words[at + 1 : at + 2], words[at + 2 :]
    if not 0 < at <= _MOST_BEFORE or not rest or not _is_plural(rest[0]) or _JOINING & set(lows[at + 1 :]):
        return None
    if any(_is_plural(word) or is_verb(word) or not word[0].isalpha() for word in (*words[:at], *second)):
        return None
    return " ".join([*shared, *first, *rest]), " ".join([*shared, *second, *rest])


def _is_plural(word: str) -> bool:
    low = word.lower()
    return low.endswith("s") and not low.endswith(("ss", "us", "is"))
