"""What is known of an atom and a text without a model: how much of the atom a sentence repeats, and whether it denies it."""

from __future__ import annotations

import re
from functools import lru_cache

from rag_cover.english.lexicon import NEGATIONS, one_of
from rag_cover.english.words import content_words
from rag_cover.texts import sentences

__all__ = ["sentence_about", "word_features"]

_DENIAL = re.compile(
    rf"\b({one_of(NEGATIONS)}|nor|neither|unlike|except|cannot|rather|instead|former|formerly|once|despite|although|though"
    r"|nobody|nothing|none|hardly|rarely|\w+n['’]t)\b",
    re.IGNORECASE,
)


def word_features(predicate: str, text: str) -> tuple[float, float, float]:
    """Return the share of the predicate's words in the sentence with most of them, whether it denies, and both at once.

    >>> word_features("set in Lisbon", "It was written in Porto. It is not set in Lisbon.")
    (1.0, 1.0, 1.0)
    """
    share, sentence = _closest(predicate, text)
    denies = float(share > 0 and _DENIAL.search(sentence) is not None)
    return share, denies, share * denies


def sentence_about(predicate: str, text: str) -> str | None:
    """Return the sentence with most of the predicate's words, on one line; None where no sentence has any.

    >>> sentence_about("set in Lisbon", "It was written in Porto. It plays in Lisbon.")
    'It plays in Lisbon.'
    """
    share, sentence = _closest(predicate, text)
    return " ".join(sentence.split()) if share > 0 else None


def _closest(predicate: str, text: str) -> tuple[float, str]:
    """Return the sentence with most of the predicate's words, the first of such, after its share of them."""
    return max(((_share(predicate, each), each) for each in _sentences(text)), key=lambda each: each[0])


def _share(predicate: str, sentence: str) -> float:
    words = _words(predicate)
    return len(words & _words(sentence)) / len(words) if words else 0.0


@lru_cache(maxsize=65_536)
def _words(text: str) -> frozenset[str]:
    return content_words(text)


@lru_cache(maxsize=16_384)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(span.of(text) for span in sentences(text)) or (text,)
