"""Answers that give a reference's number with another meaning: in another unit, currency or year, or a temperature's sign.

Other signs are not compared, since words may stand for them: a loss of 5 million is a profit of -5 million.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from rag_cover_embedded.quantities.alignment import LONGEST, find_quantities
from rag_cover_embedded.quantities.numerals import cut_tokens, read_number
from rag_cover_embedded.quantities.units import CURRENCIES, UNITS, MeasurementUnit
from rag_cover_embedded.quantities.values import Quantity

__all__ = ["misstates_quantity"]

_KINDS = {**dict.fromkeys(CURRENCIES, "money"), "months": "time span", "duration": "time span"}
_YEAR = 10_000
"""A date is counted as year · 10,000 + month · 100 + day."""
_HALF_A_DAY = 720  # minutes
_MAY_BE_NEGATIVE = re.compile(r"[-−–]|\b(?:minus|negative|below|under|sub)", re.IGNORECASE)

Number = tuple[str, Fraction, bool]
"""What is measured, the number it is written with, and whether that is below 0."""


def misstates_quantity(text: str, references: Sequence[str], question: str = "") -> bool:
    """Return whether a text has a number of the references, but with another meaning, and no quantity that they name.

    Its unit or currency is another one, it is a temperature of the other sign, the same day of another year, or the same time
    of the other half of the day. What the question names is no answer. A reference without a quantity may be met in other
    ways, so nothing is said where there is one, nor of texts of more than 20,000 characters.

    >>> misstates_quantity("It weighs 12 kg.", ["12 grams"])
    True
    >>> misstates_quantity("It weighs 0.012 kg.", ["12 grams"])
    False
    >>> misstates_quantity("It costs €30.", ["$30"])
    True
    """
    if any(len(each) > LONGEST for each in (text, *references)):
        return False
    wanted = [(reference, find_quantities(reference)) for reference in references]
    if not wanted or not all(found for _, found in wanted):
        return False
    known = [other for _, found in wanted for other in found]
    asked, said = find_quantities(question), find_quantities(text)
    if any(one.equals(other) for one in said for other in known):
        return False
    theirs = {number for reference, found in wanted for other in found for number in _numbers(reference, other)}
    mine = {number for one in said if not any(one.equals(each) for each in asked) for number in _numbers(text, one)}
    may_be_negative = any(_MAY_BE_NEGATIVE.search(each) for each in (text, question))
    return any(_clash(one, other, may_be_negative=may_be_negative) for one in mine for other in theirs)


def _clash(one: Number, other: Number, *, may_be_negative: bool) -> bool:
    """Return whether the same number stands for two things; of another sign only where that is a temperature's, and sure."""
    if one[:2] != other[:2]:
        return False
    if one[2] == other[2]:
        return True
    return one[0] == "temperature" and not (may_be_negative and not one[2])


def _numbers(text: str, quantity: Quantity) -> set[Number]:
    """Return what is measured and the number it is written with; nothing where it has several numbers."""
    if len(quantity.values) == 1:
        ((kind, value),) = quantity.values
        if kind in {"date", "time"}:
            return {(kind, value % (_YEAR if kind == "date" else _HALF_A_DAY), False)}
    units = [unit for dimension in {dimension for dimension, _ in quantity.values} for unit in _units_of().get(dimension, ())]
    if not units:
        return set()
    tokens = cut_tokens(text[quantity.start : quantity.end])
    number = next((found[0] for place in range(len(tokens)) if (found := read_number(tokens, place)) is not None), None)
    if number is None:
        return set()
    return {
        (_KINDS.get(unit.dimension, unit.dimension), number, below)
        for unit in units
        for below in (False, True)
        if any((unit.dimension, value) in quantity.values for value in unit.values(-number if below else number))
    }


@cache
def _units_of() -> dict[str, list[MeasurementUnit]]:
    """Return the units of each dimension, once each."""
    found: dict[str, list[MeasurementUnit]] = defaultdict(list)
    for unit in dict.fromkeys(UNITS.values()):
        found[unit.dimension].append(unit)
    return dict(found)
