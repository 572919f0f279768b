"""Quantities of an answer written as the references write them, where both mean the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from rag_cover_embedded.quantities.moments import blank, find_moments
from rag_cover_embedded.quantities.numerals import Token, cut_tokens, read_number, read_rest, word_at
from rag_cover_embedded.quantities.units import UNITS, MeasurementUnit
from rag_cover_embedded.quantities.values import Quantity

__all__ = ["align_quantities", "find_quantities"]

_LONGEST = 20_000
"""Characters of the longest text whose quantities are rewritten: an answer, not a book."""
_WORDS_OF_UNIT = 5
_NAMES_BEFORE_SHARE = 2
_ARTICLES = frozenset({"a", "an"})
_CURRENCIES = frozenset(name for name, units in UNITS.items() if len(units[0].dimension) == 3)  # noqa: PLR2004  # ISO 4217
_MAY_COUNT = re.compile(
    r"\d|[½¼¾⅓⅔]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|half|third|quarter|an?|"
    r"dozen|hundred|thousand|million|billion|noon|midday|midnight|\w+th)\b",
    re.IGNORECASE,
)


def align_quantities(text: str, references: Sequence[str], question: str = "") -> str:
    """Write each quantity of a text as the first reference that means the same writes it.

    What the question names stays: it may ask for that in another unit. A text of more than 20,000 characters stays as it is.

    >>> align_quantities("It takes an hour and a half.", ["90 minutes"])
    'It takes 90 minutes.'
    >>> align_quantities("It takes an hour.", ["90 minutes"])
    'It takes an hour.'
    """
    wanted = [(each, reference[each.start : each.end]) for reference in references for each in find_quantities(reference)]
    if not wanted or len(text) > _LONGEST:
        return text
    parts, end = list[str](), 0
    for quantity in _without(find_quantities(text), find_quantities(question)):
        same = [written for each, written in wanted if quantity.equals(each)]
        if same and text[quantity.start : quantity.end] not in same:
            parts += [text[end : quantity.start], same[0]]
            end = quantity.end
    return "".join([*parts, text[end:]])


def _without(found: Sequence[Quantity], asked: Sequence[Quantity]) -> list[Quantity]:
    """Leave out what the question names."""
    return [each for each in found if not any(each.values & other.values for other in asked)]


def find_quantities(text: str) -> list[Quantity]:
    """Find the amounts, shares, numbers, dates and times that a text names, in their order, none within another."""
    if _MAY_COUNT.search(text) is None:
        return []
    found, place = find_moments(text), 0
    tokens = cut_tokens(blank(text, found))
    while place < len(tokens):
        read = _read_money(tokens, place) or _read_share(tokens, place) or _read_amount(tokens, place)
        if read is None:
            place += 1
        else:
            quantity, place = read
            found.append(quantity)
    return sorted(found, key=lambda each: each.start)


def _read_money(tokens: Sequence[Token], place: int) -> tuple[Quantity, int] | None:
    """Read a currency and a number behind it."""
    if word_at(tokens, place) not in _CURRENCIES or (number := read_number(tokens, place + 1, money=True)) is None:
        return None
    return _quantity(tokens, place, number[1], UNITS[tokens[place].text], number[0]), number[1]


def _read_share(tokens: Sequence[Token], place: int) -> tuple[Quantity, int] | None:
    """Read "three out of four" or "one vote in four"."""
    if (first := read_number(tokens, place)) is None:
        return None
    part, begin = first
    for names in range(_NAMES_BEFORE_SHARE + 1):
        if (word := word_at(tokens, begin + names)) not in {"in", "out"} and not word.isalpha():
            return None
        behind = begin + names + 1
        behind += (word, word_at(tokens, behind)) == ("out", "of")
        behind += word_at(tokens, behind) == "every"
        if word in {"in", "out"} and (whole := read_number(tokens, behind)) is not None:
            if not 0 < part < whole[0] or _read_unit(tokens, whole[1]) is not None:
                return None
            return _plain(tokens, place, whole[1], ("share", part / whole[0])), whole[1]
    return None


def _read_amount(tokens: Sequence[Token], place: int) -> tuple[Quantity, int] | None:
    """Read a number, and its unit, if it has one: "1 hour and 30 minutes", "half a litre", "a day and a half"."""
    number = read_number(tokens, place)
    if number is None:
        alone = word_at(tokens, place) in _ARTICLES and _read_unit(tokens, place + 1)
        number = (Fraction(1), place + 1) if alone else None
    if number is None:
        return None
    value, end = number
    if (measured := _read_unit_of(tokens, value, end)) is None:
        share = 0 < value < 1
        return _plain(tokens, place, end, ("share" if share else "number", value)), end
    units, end = measured
    added, end = read_rest(tokens, end)
    quantity = _quantity(tokens, place, end, units, value + added)
    return _read_smaller(tokens, quantity, units, end)


def _read_smaller(
    tokens: Sequence[Token], quantity: Quantity, units: Sequence[MeasurementUnit], place: int
) -> tuple[Quantity, int]:
    """Add what follows in a smaller unit of the same dimension: "5 ft 11", not; "5 feet 11 inches", yes."""
    begin = place + (word_at(tokens, place) in {"and", ","})
    if (number := read_number(tokens, begin)) is None or (measured := _read_unit_of(tokens, *number)) is None:
        return quantity, place
    smaller, end = measured
    if smaller[0].dimension != units[0].dimension or smaller[0].sizes[0] >= units[0].sizes[0] or smaller[0].zero:
        return quantity, place
    rest = number[0] * smaller[0].sizes[0]
    values = frozenset((dimension, value + rest) for dimension, value in quantity.values)
    return replace(quantity, end=tokens[end - 1].end, values=values), end


def _read_unit_of(tokens: Sequence[Token], value: Fraction, place: int) -> tuple[tuple[MeasurementUnit, ...], int] | None:
    """Read the unit of a number, over the "a" of "half a litre", the "of an" of "a quarter of an hour", or a hyphen."""
    if value < 1:
        place += word_at(tokens, place) == "of"
        place += word_at(tokens, place) in _ARTICLES
    return _read_unit(tokens, place + (word_at(tokens, place) == "-"))


def _read_unit(tokens: Sequence[Token], place: int) -> tuple[tuple[MeasurementUnit, ...], int] | None:
    """Read the longest unit that begins at a place."""
    for end in range(min(len(tokens), place + _WORDS_OF_UNIT), place, -1):
        name = " ".join(token.text for token in tokens[place:end]).replace(" / ", "/")
        if name in UNITS:
            return UNITS[name], end
    return None


def _quantity(tokens: Sequence[Token], begin: int, end: int, units: Sequence[MeasurementUnit], number: Fraction) -> Quantity:
    values = frozenset((unit.dimension, value) for unit in units for value in unit.values(number))
    return Quantity(tokens[begin].start, tokens[end - 1].end, values, units[0].metric)


def _plain(tokens: Sequence[Token], begin: int, end: int, value: tuple[str, Fraction]) -> Quantity:
    return Quantity(tokens[begin].start, tokens[end - 1].end, frozenset({value}))
