"""The negation before a word: "non-French wines" are wines, and not French ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_cover.setqueries.parsing.gazetteer import load_gazetteer

__all__ = ["Unprefixed", "extract_prefixed"]

_NON = re.compile(r"non(?:-(?P<rest>.*))?", re.IGNORECASE)
_NOT = re.compile(r"not|(?P<verb>are|is|were|was|do|does|did)n['’]t", re.IGNORECASE)
_OWN_WORDS = frozenset(
    {"fiction", "fictions", "fictional", "linear", "profit", "profits", "sense", "stop", "binary", "violent"}
)
_LONGEST = 3  # words of what is negated: "non romantic comedy films"


@dataclass(slots=True)
class Unprefixed:
    """The words that are left, those that were negated by a prefix, and whether a negation was negated."""

    kept: list[str] = field(default_factory=list)
    negated: list[list[str]] = field(default_factory=list)
    doubled: bool = False


def extract_prefixed(tokens: Sequence[str]) -> Unprefixed:
    """Take "non-X" out of the words; where X with its "non-" is a kind of its own it stays, unless it is negated again.

    >>> extract_prefixed("non-French wines".split())
    Unprefixed(kept=['wines'], negated=[['French']], doubled=False)
    """
    found = Unprefixed()
    at = 0
    while at < len(tokens):
        at += _take(tokens, at, found)
    return found


def _take(tokens: Sequence[str], at: int, found: Unprefixed) -> int:
    """Take what begins at a word; return how many words it is."""
    match = _NON.fullmatch(tokens[at])
    rest = (match["rest"] or "") if match else ""
    after = [rest] if rest else list(tokens[at + 1 : at + 1 + _LONGEST])
    if not match or not after or not after[0][0].isalpha():
        found.kept.append(tokens[at])
        return 1
    if found.kept and (negation := _NOT.fullmatch(found.kept[-1])):
        found.kept[-1:] = [word for word in (negation["verb"], rest) if word]
        found.doubled = True
        return 1
    if after[0].lower() in _OWN_WORDS:
        found.kept.append(f"non-{after[0]}")
        return 1 + (not rest)
    words = load_gazetteer().runs([rest, *tokens[at + 1 : at + _LONGEST]] if rest else after)[0][1].split()
    found.negated.append(words)
    return len(words) + (not rest)
