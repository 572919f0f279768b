"""What is known of an atom and a text without a model: how much of the atom a sentence repeats, denies, and leaves unnamed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from rag_cover.english.lexicon import NEGATIONS, one_of
from rag_cover.english.words import ROOT, content_words, same_root
from rag_cover.setqueries.parsing.gazetteer import load_gazetteer
from rag_cover.texts import sentences

__all__ = ["WordFeatures", "highest_share", "sentence_about", "word_features"]

_DENIAL = re.compile(r"\b(?:not|never|cannot|nobody|hardly|rarely|\w+n['’]t)\b", re.IGNORECASE)
"""What denies the whole clause in which it stands."""
_DENIAL_OF_REST = re.compile(
    rf"\b(?:{one_of(NEGATIONS - {'not', 'never'})}|nor|neither|nothing|none|except|unlike|despite|rather|instead|formerly"
    r"|former|once|lacks?)\b",
    re.IGNORECASE,
)
"""What denies the words after it, to the end of the clause."""
_CLAUSE_END = re.compile(r"[,;:()–—]|\s-\s|\b(?:and|but|that|though|although|which|while|whereas|who|yet)\b", re.IGNORECASE)
_NAME = re.compile(r"\b[A-Z]\w{2,}")


class WordFeatures(NamedTuple):
    """How the words of a predicate stand in a text; all are in [0, 1], and a word's other forms count as the word.

    Args:
        share: of the predicate's words, those in the sentence with most of them.
        denied: 1 where one of these stands only in clauses with a denial; of a predicate that denies, only in others.
        unnamed: of the predicate's proper names, those that stand nowhere in the text; 0 where it has none. A country is named
            by its adjective, too, and the other way round.
    """

    share: float
    denied: float
    unnamed: float


def word_features(predicate: str, text: str) -> WordFeatures:
    """Compare a predicate with a text.

    >>> word_features("set in Lisbon", "It was written in Porto. It is not set in Lisbon.")
    WordFeatures(share=1.0, denied=1.0, unnamed=0.0)
    >>> word_features("with a sauna", "It has a pool, but no sauna."), word_features("of Bolivia", "A bird of Peru.")
    (WordFeatures(share=1.0, denied=1.0, unnamed=0.0), WordFeatures(share=0.0, denied=0.0, unnamed=1.0))
    >>> word_features("French", "It was made in France.").unnamed, word_features("in Spain", "A Portuguese wine.").unnamed
    (0.0, 1.0)
    """
    share, sentence = _closest(predicate, text)
    names = _words(" ".join(_NAME.findall(predicate)))
    unnamed = [not _words(text).names(name) for name in names.all]
    return WordFeatures(share, _denied(predicate, sentence) if share else 0.0, _mean(unnamed))


def highest_share(predicate: str, text: str) -> float:
    """Return the share of the predicate's words in the sentence with most of them (`WordFeatures.share`), and no more."""
    return _closest(predicate, text)[0]


def sentence_about(predicate: str, text: str) -> str | None:
    """Return the sentence with most of the predicate's words, on one line; None where no sentence has any.

    >>> sentence_about("set in Lisbon", "It was written in Porto. It plays in Lisbon.")
    'It plays in Lisbon.'
    """
    share, sentence = _closest(predicate, text)
    return " ".join(sentence.split()) if share > 0 else None


@dataclass(frozen=True, slots=True)
class _Words:
    """The content words of a text; ``by_start`` lists those by their first letters."""

    all: frozenset[str]
    by_start: Mapping[str, tuple[str, ...]]

    def has(self, word: str) -> bool:
        """Return whether a word is among them, or one of its root."""
        return word in self.all or any(same_root(word, each) for each in self.by_start.get(word[:ROOT], ()))

    def names(self, name: str) -> bool:
        """Return whether a name is among them, or for an adjective its place, or for a place its adjective."""
        return self.has(name) or any(form <= self.all for form in _forms_of_places().get(name, ()))


def _closest(predicate: str, text: str) -> tuple[float, str]:
    """Return the sentence with most of the predicate's words, the first of such, after its share of them."""
    words = _words(predicate).all
    return max(((_mean(_words(each).has(word) for word in words), each) for each in _sentences(text)), key=lambda each: each[0])


def _denied(predicate: str, sentence: str) -> float:
    """Return 1 where the sentence denies a word that the predicate does not, or the other way round."""
    found = [(_denials(word, predicate), _denials(word, sentence)) for word in _words(predicate).all]
    return float(any(all(here) != all(there) for here, there in found if there))


def _denials(word: str, sentence: str) -> list[bool]:
    """Return whether each clause that has a word denies it."""
    return [denies for clause, denies in _clauses(sentence) if clause.has(word)]


@cache
def _forms_of_places() -> Mapping[str, tuple[frozenset[str], ...]]:
    """Return what stands for a place's adjective ("French": France) or for a place's name of one word, as content words."""
    found: dict[str, tuple[frozenset[str], ...]] = {}
    for adjective, place in load_gazetteer().adjectives():
        both = (content_words(adjective), content_words(place))
        for form, other in (both, both[::-1]):
            if len(form) == 1 and other != form:
                (word,) = form
                found[word] = (*found.get(word, ()), other)
    return found


def _mean(values: Iterable[bool]) -> float:
    counted = list(values)
    return sum(counted) / len(counted) if counted else 0.0


@lru_cache(maxsize=65_536)
def _words(text: str) -> _Words:
    words, by_start = content_words(text), dict[str, tuple[str, ...]]()
    for word in words:
        if len(word) >= ROOT:
            by_start[word[:ROOT]] = (*by_start.get(word[:ROOT], ()), word)
    return _Words(words, by_start)


@lru_cache(maxsize=16_384)
def _clauses(sentence: str) -> tuple[tuple[_Words, bool], ...]:
    """Split a sentence into clauses, and these where a denial begins; each with whether it is denied."""
    found = []
    for clause in _CLAUSE_END.split(sentence):
        rest = _DENIAL_OF_REST.search(clause)
        place = rest.start() if rest else len(clause)
        found += [(_words(clause[:place]), _DENIAL.search(clause) is not None), (_words(clause[place:]), True)]
    return tuple(found)


@lru_cache(maxsize=16_384)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(span.of(text) for span in sentences(text)) or (text,)
