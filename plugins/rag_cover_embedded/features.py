"""Cheap evidence that an answer says what a reference says: words, numbers, negation, refusal.

These features join the encoder's leading vector in the head for answer correctness, where they are learned with it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["FEATURES", "likeness", "normalise_words", "rank_references"]

FEATURES = (
    "a reference's words stand in the text in a row",
    "a reference's letters stand in the text in a row",
    "the text's words stand in a reference in a row",
    "best share of a reference's words found",
    "best F1 of words",
    "best similarity of letter triples",
    "references that are found whole, as a share",
    "where the first reference found begins, as a share of the text; 1: none",
    "best share of a reference's numbers found",
    "a reference has numbers",
    "the text has numbers of its own, where a reference has some",
    "the text negates",
    "the text declines to answer",
    "the text's length, in 50 words",
    "the number of references, in 10",
    "the question names a reference",
)
"""What each feature says; every one lies in [0, 1]."""

_ARTICLES = frozenset({"a", "an", "the"})
_COUNTING = "zero one two three four five six seven eight nine ten eleven twelve thirteen"
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5"}
_NUMBERS = {name: str(number) for number, name in enumerate(_COUNTING.split())} | {"twenty": "20"} | _ORDINALS
_WORD = re.compile(r"[^\W_]+")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}\b)")
_APOSTROPHES = re.compile("['’`]")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)\b")
_NEGATIONS = frozenset(
    {"not", "no", "never", "nor", "neither", "isnt", "wasnt", "didnt", "doesnt", "arent", "werent", "cannot"}
)
_DECLINES = re.compile(
    r"i'?m sorry|i am sorry|apologi[sz]e|i (?:do not|don't|could not|couldn't|cannot|can't|am not|was unable|am unable)"
    r"|no (?:information|answer|record|mention)|unable to|not (?:sure|certain|clear|known|mentioned|provided|available)"
    r"|as an ai|(?:please|could you) (?:provide|clarify|specify)|more (?:context|information)|unknown",
    re.IGNORECASE,
)
_LONG, _MANY = 50, 10


def likeness(question: str, references: Sequence[str], text: str) -> tuple[float, ...]:
    """Compare a text with the references of a question: one number for each of `FEATURES`.

    >>> found = likeness("Who wrote Emma?", ["Jane Austen"], "It was Jane Austen.")
    >>> found[0], found[3]
    (1.0, 1.0)
    """
    words, asked = normalise_words(text), normalise_words(question)
    wanted = [found for found in map(normalise_words, references) if found]
    joined = f" {' '.join(words)} "
    letters = "".join(words)
    starts = [joined.find(f" {' '.join(reference)} ") for reference in wanted]
    begun = [start for start in starts if start >= 0]
    counted = Counter(words)
    shares = [_overlap_with(counted, reference) for reference in wanted]
    numbers = [[word for word in reference if word[0].isdigit()] for reference in wanted]
    numbers = [found for found in numbers if found]
    known = {number for found in numbers for number in found} | {word for word in asked if word[0].isdigit()}
    return (
        float(bool(begun)),
        float(any("".join(reference) in letters for reference in wanted)),
        float(bool(words) and any(f" {' '.join(words)} " in f" {' '.join(reference)} " for reference in wanted)),
        max((recall for recall, _ in shares), default=0.0),
        max((f1 for _, f1 in shares), default=0.0),
        max((_triples(reference, words) for reference in wanted), default=0.0),
        len(begun) / len(wanted) if wanted else 0.0,
        min(begun) / len(joined) if begun else 1.0,
        max((sum(number in counted for number in found) / len(found) for found in numbers), default=0.0),
        float(bool(numbers)),
        float(bool(numbers) and any(word[0].isdigit() and word not in known for word in words)),
        float(not _NEGATIONS.isdisjoint(words)),
        float(_DECLINES.search(text) is not None),
        min(1.0, len(words) / _LONG),
        min(1.0, len(wanted) / _MANY),
        float(any(f" {' '.join(reference)} " in f" {' '.join(asked)} " for reference in wanted)),
    )


def rank_references(references: Sequence[str], text: str) -> list[str]:
    """Order references by how many of their words a text holds, best first; equally good ones keep their order.

    >>> rank_references(["Jane", "Moselle", "the Mosel"], "On the Moselle.")
    ['Moselle', 'Jane', 'the Mosel']
    """
    counted = Counter(normalise_words(text))
    return sorted(references, key=lambda reference: -_overlap_with(counted, normalise_words(reference))[0])


@lru_cache(maxsize=65_536)
def normalise_words(text: str) -> tuple[str, ...]:
    """Cut a text into lower-case words without accents, articles and punctuation, numbers in figures.

    >>> normalise_words("The 1,200 Cafés' third owner")
    ('1200', 'cafes', '3', 'owner')
    """
    plain = "".join(char for char in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(char))
    plain = _ORDINAL.sub(r"\1", _GROUPED.sub("", _APOSTROPHES.sub("", plain)))
    return tuple(_NUMBERS.get(word, word) for word in _WORD.findall(plain) if word not in _ARTICLES)


def _overlap_with(counted: Counter[str], reference: Sequence[str]) -> tuple[float, float]:
    """Return the share of a reference's words that a text holds, and the F1 of both."""
    shared = sum(min(count, counted[word]) for word, count in Counter(reference).items())
    if not shared:
        return 0.0, 0.0
    return shared / len(reference), 2 * shared / (len(reference) + counted.total())


def _triples(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the Dice coefficient of two texts' letter triples."""
    a, b = _cut("".join(first)), _cut("".join(second))
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def _cut(letters: str) -> set[str]:
    return {letters[place : place + 3] for place in range(max(1, len(letters) - 2))} if letters else set()
