"""Numbers as English writes them: in figures, in words, and as fractions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["CARDINALS", "Token", "cut_tokens", "read_number", "read_rest", "word_at"]

_FIGURES = r"\d{1,3}(?:[, \u202f\u00a0]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?"
_TOKEN = re.compile(rf"{_FIGURES}|[½¼¾⅓⅔]|°\s?[CcFf]\b|[US]*[$]|[€£¥₹%‰/–—,-]|[A-Za-zµ]+[²³]?|\S")
_GROUPING = re.compile("[, \u202f\u00a0]")
_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905  # a list of words
CARDINALS = {word: number for number, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
    "k": 1000,
    "m": 10**6,
    "bn": 10**9,
}
_LETTERS = frozenset({"k", "m", "bn"})
"""Scales that are letters: they stand behind figures without a space ("$4.2m"), and where a currency is named."""
_PARTS = ["half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_FRACTIONS = {name: Fraction(1, part) for part, name in enumerate(_PARTS, 2)}
_FRACTIONS |= {f"{name}s": share for name, share in _FRACTIONS.items()} | {"halves": Fraction(1, 2)}
_SIGNS = {"½": Fraction(1, 2), "¼": Fraction(1, 4), "¾": Fraction(3, 4), "⅓": Fraction(1, 3), "⅔": Fraction(2, 3)}
_MOST_FIGURES = 24
"""Characters of the longest number in figures; what is longer is a code."""
_ARTICLES = frozenset({"a", "an"})


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign of a text, in lower case and as it is, and where it stands."""

    text: str
    raw: str
    start: int
    end: int


def cut_tokens(text: str) -> list[Token]:
    """Cut a text into words, numbers and signs."""
    return [Token("".join(found[0].split()).lower(), found[0], *found.span()) for found in _TOKEN.finditer(text)]


def word_at(tokens: Sequence[Token], place: int) -> str:
    """Return the word at a place; nothing beyond the end."""
    return tokens[place].text if place < len(tokens) else ""


def read_number(tokens: Sequence[Token], place: int, *, money: bool = False) -> tuple[Fraction, int] | None:
    """Read the number that begins at a place: its value, and the place behind it. None where none begins.

    >>> text = "two and a half; three quarters; 1.2 million; a dozen"
    >>> [str(read_number(cut_tokens(part), 0)[0]) for part in text.split("; ")]
    ['5/2', '3/4', '1200000', '12']
    """
    if (found := _read_whole(tokens, place, money=money)) is None:
        return None
    value, place = found
    if word_at(tokens, place) in _FRACTIONS and value == int(value):
        return value * _FRACTIONS[word_at(tokens, place)], place + 1
    if word_at(tokens, place) in _SIGNS:
        return value + _SIGNS[word_at(tokens, place)], place + 1
    added, place = read_rest(tokens, place)
    return value + added, place


def read_rest(tokens: Sequence[Token], place: int) -> tuple[Fraction, int]:
    """Read "and a half" or "and three quarters"; 0 where no such words stand at a place."""
    if word_at(tokens, place) != "and":
        return Fraction(0), place
    count = _count_of_parts(word_at(tokens, place + 1))
    share = _FRACTIONS.get(word_at(tokens, place + 2))
    if count is None or share is None:
        return Fraction(0), place
    return count * share, place + 3


def _count_of_parts(word: str) -> int | None:
    return 1 if word in _ARTICLES else CARDINALS.get(word)


def _read_whole(tokens: Sequence[Token], place: int, *, money: bool) -> tuple[Fraction, int] | None:
    word = word_at(tokens, place)
    if word in _SIGNS:
        return _SIGNS[word], place + 1
    if word == "half":
        many = place + 1 + (word_at(tokens, place + 1) in _ARTICLES)
        return _scale(tokens, Fraction(1, 2), many if word_at(tokens, many) in _SCALES else place + 1, money=False)
    if word in _ARTICLES:
        following = word_at(tokens, place + 1)
        if following in _FRACTIONS:
            return _FRACTIONS[following], place + 2
        return _scale(tokens, Fraction(1), place + 1, money=money) if following in _SCALES.keys() - _LETTERS else None
    if word[:1].isdecimal() and len(word) <= _MOST_FIGURES:
        return _scale(tokens, Fraction(_GROUPING.sub("", word)), place + 1, money=money)
    return _read_words(tokens, place)


def _scale(tokens: Sequence[Token], value: Fraction, place: int, *, money: bool) -> tuple[Fraction, int]:
    """Multiply by the words of scale that follow."""
    while (word := word_at(tokens, place)) in _SCALES and (money or word not in _LETTERS):
        value, place = value * _SCALES[word], place + 1
    return value, place


def _read_words(tokens: Sequence[Token], place: int) -> tuple[Fraction, int] | None:
    """Read a cardinal in words, such as "two hundred and twenty-five"."""
    total = group = 0
    begin, last = place, 0
    while True:
        word = word_at(tokens, place)
        joined = word in {"-", "and"} and place > begin and word_at(tokens, place + 1) in CARDINALS
        if joined and (word == "-" or last >= 100):  # noqa: PLR2004  # "a hundred and five", but "five and six"
            place += 1
            word = word_at(tokens, place)
        if word in CARDINALS and (place == begin or _follows(last, CARDINALS[word])):
            group += (last := CARDINALS[word])
        elif word in _SCALES.keys() - _LETTERS and place > begin:
            last = _SCALES[word]
            group, total = (group * last, total) if last == 100 else (0, total + group * last)  # noqa: PLR2004
        else:
            return None if place == begin else (Fraction(total + group), place)
        place += 1


def _follows(last: int, number: int) -> bool:
    """Return whether a number may stand behind another within one: "twenty two", "hundred five", but not "two three"."""
    return last >= 100 or (20 <= last < 100 and number < 10)  # noqa: PLR2004  # decimal places
