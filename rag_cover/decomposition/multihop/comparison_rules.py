"""How a comparison is decided once what has to be looked up for each of its two things is known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rag_cover.decomposition.multihop.comparisons import compares, read_comparison
from rag_cover.decomposition.multihop.pairs import ComparedThings
from rag_cover.decomposition.multihop.predicates import ask_of_either
from rag_cover.decomposition.multihop.words import trim_question
from rag_cover.english.lexicon import AUXILIARIES

__all__ = ["ComparisonRule", "comparison_rule_of"]

_SOONER = re.compile(r"\b(?:first|earlier|earliest|before|sooner|older|oldest|elder)\b")
_LATER = re.compile(r"\b(?:later|latest|last|second|after|(?:more|most) recently|younger|youngest|newer|newest)\b")
_LESS = re.compile(
    r"\b(?:fewer|less|least|smaller|smallest|lower|lowest|shorter|shortest|closer|closest|nearer|younger|newer)\b"
)
_MORE = re.compile(
    r"\b(?:more|most|greater|greatest|larger|largest|bigger|biggest|higher|highest|taller|tallest|longer|longest|deeper|wider"
    r"|heavier|faster|older|oldest|farther|further)\b"
)


@dataclass(frozen=True, slots=True)
class ComparisonRule:
    """What two answers are compared by.

    ``takes`` says which one wins: the ``less`` (or earlier), the ``more`` (or later), or, where it is asked whether both are
    the ``same``, none. The answer to the comparison is the winner's name where it ``names`` one, else yes or no.
    """

    first: str
    second: str
    takes: Literal["less", "more", "same"]
    names: bool


def comparison_rule_of(question: str) -> ComparisonRule | None:
    """Read how the answers to the last two steps of a comparison decide it; None where that is unclear.

    >>> comparison_rule_of("Who was born first, Homer or Plato?")
    ComparisonRule(first='Homer', second='Plato', takes='less', names=True)
    >>> comparison_rule_of("Are Rome and Oslo located in the same country?").takes
    'same'
    """
    text = trim_question(question)
    pair = read_comparison(text) if text and compares(text) else None
    if pair is None:
        return None
    asks_whether = text.split()[0].lower() in AUXILIARIES
    if pair.both:
        same = asks_whether and re.search(r"\b(?:same|share|shares)\b", pair.predicate)
        return ComparisonRule(pair.first, pair.second, "same", names=False) if same else None
    takes = _wins(pair)
    names = not (asks_whether and re.search(r"\bthan\b", text))
    return ComparisonRule(pair.first, pair.second, takes, names) if takes else None


def _wins(pair: ComparedThings) -> Literal["less", "more"] | None:
    asked = ask_of_either(pair.predicate, pair.first, noun=pair.role or pair.noun) or ""
    less, more = (_SOONER, _LATER) if asked.startswith("When") else (_LESS, _MORE)
    if more.search(pair.predicate):
        return None if less.search(pair.predicate) else "more"
    return "less" if less.search(pair.predicate) else None
