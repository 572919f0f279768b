"""Quantities of an answer written as the references write them, where both mean the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Self

from rag_cover_embedded.quantities.moments import blank, find_moments
from rag_cover_embedded.quantities.numerals import Token, cut_tokens, read_number, read_rest, word_at
from rag_cover_embedded.quantities.units import CURRENCIES, NO_UNITS, UNITS, MeasurementUnit
from rag_cover_embedded.quantities.values import Quantity, Value

__all__ = ["LONGEST", "align_quantities", "find_quantities"]

LONGEST = 20_000
"""Characters of the longest text whose quantities are compared: an answer, not a book."""
_WORDS_OF_UNIT = 5
_NAMES_BEFORE_SHARE = 2
_ARTICLES = frozenset({"a", "an"})
_NAMES_OF_MONEY = frozenset(name for name, unit in UNITS.items() if unit.dimension in CURRENCIES)
_IN_TWO_SYSTEMS = frozenset(unit.dimension for unit in UNITS.values() if not unit.metric)
_ZERO_FAHRENHEIT = UNITS["°f"].zero
_FIGURES_OF_A_YEAR = 4
_BARE = re.compile(r"[\d.,\s]+")
_BARE_YEAR = re.compile(r"[12]\d{3}")
_GROUPING = re.compile(r"[,\s]")
_DIFFERENCE = re.compile(
    r"\b(?:by how (?:much|many)|how many degrees|differen\w+|increas\w+|decreas\w+|rise\w*|rose|f[ae]ll\w*|drop\w*"
    r"|warmer|colder|cooler|hotter)\b",
    re.IGNORECASE,
)
_COST = re.compile(
    r"\b(?:costs?|pric\w+|pay\w*|paid|fees?|charg\w+|fines?|earn\w*|salar\w+|worth|spen[dt]\w*|bills?|rents?|budgets?|sold|bought)\b",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:to|and|or|[-–—])\s*")
_SIGN = re.compile(r"(?:^|(?<=[\s(:]))([-−–]|(?:minus|negative)\s)$", re.IGNORECASE)
_BELOW = re.compile(r"\s+below\s+(?:zero|0|sea level)\b", re.IGNORECASE)
_LONGEST_SIGN = 12
_AROUND = 24
_LEADING_ZERO = re.compile(r"[-−–]?0\d")
_WITHIN = re.compile(r"[^\W_]$|[^\W_][.\-_/]$|#$")
_COMPARED = re.compile(
    r"(?:\s+\w+)?\s+(?:less|more|fewer|longer|shorter|earlier|later|higher|lower|older|younger|warmer|colder)\b", re.IGNORECASE
)
_BY = re.compile(r"\bby\s+(?:about\s+|some\s+|around\s+)?$", re.IGNORECASE)
_PART = re.compile(r"\b(?:first|second|other|last|latter|former)\s+$", re.IGNORECASE)
_NO_SHARE = re.compile(r"-|\s+(?:past|time)\b|\s+of\s+(?:\S*\d|one\b|two\b)", re.IGNORECASE)
_MAY_COUNT = re.compile(
    r"\d|[½¼¾⅓⅔]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|half|third|quarter|an?|"
    r"dozen|hundred|thousand|million|billion|noon|midday|midnight|\w+th)\b",
    re.IGNORECASE,
)


def align_quantities(text: str, references: Sequence[str], question: str = "") -> str:
    """Write each quantity of a text as the first reference that means the same writes it.

    What the question names stays: it may ask for that in another unit. So do differences of temperature, which are converted
    otherwise than temperatures. A text of more than 20,000 characters stays as it is.

    >>> align_quantities("It takes an hour and a half.", ["90 minutes"])
    'It takes 90 minutes.'
    >>> align_quantities("It takes an hour.", ["90 minutes"])
    'It takes an hour.'
    """
    if len(text) > LONGEST or not (wanted := _Wanted.of(references, question)):
        return text
    asked = {value for each in find_quantities(question) for value in each.values}
    parts, end = list[str](), 0
    for quantity in find_quantities(text):
        written = None if asked & quantity.values else wanted.form_of(quantity, text[quantity.start : quantity.end])
        if written is not None:
            parts += [text[end : quantity.start], written]
            end = quantity.end
    return "".join([*parts, text[end:]])


@dataclass(frozen=True)
class _Wanted:
    """The quantities of references, and how they are written; the first of equal ones counts. ``unasked`` is not compared."""

    found: tuple[tuple[Quantity, str], ...]
    unasked: frozenset[str]

    @classmethod
    def of(cls, references: Sequence[str], question: str) -> Self:
        found = tuple((each, text[each.start : each.end]) for text in references for each in find_quantities(text))
        kinds = {"mass": _COST, "temperature": _DIFFERENCE} if found else {}  # where it costs two pounds, they are money
        return cls(found, frozenset(kind for kind, words in kinds.items() if words.search(question)))

    def __bool__(self) -> bool:
        return bool(self.found)

    @cached_property
    def _places(self) -> dict[Value, int]:
        places: dict[Value, int] = {}
        for place, (each, _) in enumerate(self.found):
            for value in each.values:
                if value[0] not in self.unasked:
                    places.setdefault(value, place)
        return places

    @cached_property
    def _forms(self) -> frozenset[str]:
        return frozenset(written for _, written in self.found)

    @cached_property
    def _measured(self) -> list[int]:
        """Return the places of what has another system of units beside it, without repetitions."""
        return sorted({self._places[value] for value in self._places if value[0] in _IN_TWO_SYSTEMS})

    def form_of(self, quantity: Quantity, written: str) -> str | None:
        """Return how a reference writes a quantity; None where none has it, or one writes it as it is."""
        if written in self._forms:
            return None
        places = [self._places[value] for value in quantity.values if value in self._places]
        if not places:
            places = [place for place in self._measured if quantity.equals(self.found[place][0])][:1]
        form = self.found[min(places)][1] if places else None
        return None if form is None or _names_something(written, form) else form


def _names_something(written: str, form: str) -> bool:
    """Return whether two numbers in figures are written differently on purpose, as versions, codes and years are."""
    if not (_BARE.fullmatch(written) and _BARE.fullmatch(form)):
        return False
    alike = _GROUPING.sub("", written) == _GROUPING.sub("", form)
    return not alike or (len(_GROUPING.sub("", form)) == _FIGURES_OF_A_YEAR and _BARE_YEAR.fullmatch(form) is not None)


def find_quantities(text: str) -> list[Quantity]:
    """Find the amounts, shares, numbers, dates and times that a text names, in their order, none within another.

    Left out are ranges ("10 to 12"), what is compared with something ("two hours less than planned"), changes of temperature
    ("by 5 °C"), numbers within a word or with leading zeros, which are names, and "one".
    """
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
            found.append(_with_sign(text, quantity))
    found.sort(key=lambda each: each.start)
    in_ranges = {row for row, (one, two) in enumerate(pairwise(found)) if _RANGE.fullmatch(text[one.end : two.start])}
    return [
        each
        for row, each in enumerate(found)
        if row not in in_ranges and row - 1 not in in_ranges and not _is_something_else(text, each)
    ]


def _with_sign(text: str, quantity: Quantity) -> Quantity:
    """Read the sign of a quantity: "-5 °C", "minus five", "5 °C below zero"."""
    sign = _SIGN.search(text, max(0, quantity.start - _LONGEST_SIGN), quantity.start)
    below = _BELOW.match(text, quantity.end)
    if sign is None and below is None:
        return quantity
    zero = 0 if quantity.metric else 2 * _ZERO_FAHRENHEIT  # of the scale on both sides of its own 0
    values = frozenset((kind, (zero if kind == "temperature" else 0) - value) for kind, value in quantity.values)
    return replace(
        quantity, start=sign.start(1) if sign else quantity.start, end=below.end() if below else quantity.end, values=values
    )


def _is_something_else(text: str, quantity: Quantity) -> bool:
    written = text[quantity.start : quantity.end]
    before, behind = text[max(0, quantity.start - _AROUND) : quantity.start], text[quantity.end : quantity.end + _AROUND]
    kinds = {kind for kind, _ in quantity.values}
    return (
        ("number" in kinds and bool(_LEADING_ZERO.match(written)))
        or written.lower() == "one"
        or bool(_WITHIN.search(before))
        or bool(_COMPARED.match(behind))
        or ("temperature" in kinds and bool(_BY.search(before)))
        or ("share" in kinds and _is_no_share(written, before, behind))
    )


def _is_no_share(written: str, before: str, behind: str) -> bool:
    """Return whether "half" and its like stand for something else: "the second half", "half-price", "half of 30%"."""
    return written[-1:].isalpha() and bool(_PART.search(before) or _NO_SHARE.match(behind))


def _read_money(tokens: Sequence[Token], place: int) -> tuple[Quantity, int] | None:
    """Read a currency and a number behind it."""
    if word_at(tokens, place) not in _NAMES_OF_MONEY or (number := read_number(tokens, place + 1, money=True)) is None:
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
    unit, end = measured
    added, end = read_rest(tokens, end)
    quantity = _quantity(tokens, place, end, unit, value + added)
    return _read_smaller(tokens, quantity, unit, end)


def _read_smaller(tokens: Sequence[Token], quantity: Quantity, unit: MeasurementUnit, place: int) -> tuple[Quantity, int]:
    """Add what follows in a smaller unit of the same dimension: "5 ft 11", not; "5 feet 11 inches", yes."""
    begin = place + (word_at(tokens, place) in {"and", ","})
    if (number := read_number(tokens, begin)) is None or (measured := _read_unit_of(tokens, *number)) is None:
        return quantity, place
    smaller, end = measured
    if smaller.dimension != unit.dimension or smaller.sizes[0] >= unit.sizes[0] or smaller.zero:
        return quantity, place
    rest = number[0] * smaller.sizes[0]
    values = frozenset((dimension, value + rest) for dimension, value in quantity.values)
    return replace(quantity, end=tokens[end - 1].end, values=values), end


def _read_unit_of(tokens: Sequence[Token], value: Fraction, place: int) -> tuple[MeasurementUnit, int] | None:
    """Read the unit of a number, over the "a" of "half a litre", the "of an" of "a quarter of an hour", or a hyphen."""
    if value < 1:
        place += word_at(tokens, place) == "of"
        place += word_at(tokens, place) in _ARTICLES
    return _read_unit(tokens, place + (word_at(tokens, place) == "-"))


def _read_unit(tokens: Sequence[Token], place: int) -> tuple[MeasurementUnit, int] | None:
    """Read the longest unit that begins at a place."""
    if word_at(tokens, place) in UNITS and tokens[place].raw in NO_UNITS:
        return None
    for end in range(min(len(tokens), place + _WORDS_OF_UNIT), place, -1):
        name = " ".join(token.text for token in tokens[place:end]).replace(" / ", "/")
        if name in UNITS:
            return UNITS[name], end
    return None


def _quantity(tokens: Sequence[Token], begin: int, end: int, unit: MeasurementUnit, number: Fraction) -> Quantity:
    values = frozenset((unit.dimension, value) for value in unit.values(number))
    if unit is UNITS["pounds"]:
        values |= {("gbp", number)}
    return Quantity(tokens[begin].start, tokens[end - 1].end, values, unit.metric)


def _plain(tokens: Sequence[Token], begin: int, end: int, value: tuple[str, Fraction]) -> Quantity:
    return Quantity(tokens[begin].start, tokens[end - 1].end, frozenset({value}))
