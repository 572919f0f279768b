"""Answers that give a reference's number otherwise: with another unit or currency, the opposite sign, or in another year."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rag_cover_embedded.quantities.alignment import LONGEST, find_quantities
from rag_cover_embedded.quantities.numerals import cut_tokens, read_number
from rag_cover_embedded.quantities.units import CURRENCIES, UNITS
from rag_cover_embedded.quantities.values import Quantity

__all__ = ["misstates_quantity"]

_KINDS = {**dict.fromkeys(CURRENCIES, "money"), "months": "time span", "duration": "time span"}
_YEAR = 10_000
"""A date is counted as year · 10,000 + month · 100 + day."""
_HALF_A_DAY = 720  # minutes


def misstates_quantity(text: str, references: Sequence[str], question: str = "") -> bool:
    """Return whether a text has a number of the references, but with another meaning, and no quantity that they name.

    Its unit or currency is another one, its sign the opposite one, or it is the same day of another year, or the same time of
    the other half of the day. What the question names is no answer. A reference without a quantity may be met in other ways,
    so nothing is said where there is one.

    >>> misstates_quantity("It weighs 12 kg.", ["12 grams"])
    True
    >>> misstates_quantity("It weighs 0.012 kg.", ["12 grams"])
    False
    >>> misstates_quantity("It costs €30.", ["$30"])
    True
    """
    wanted = [(reference, find_quantities(reference)) for reference in references]
    if not wanted or not all(found for _, found in wanted) or len(text) > LONGEST:
        return False
    asked, said = find_quantities(question), find_quantities(text)
    if any(one.equals(other) for one in said for _, found in wanted for other in found):
        return False
    answers = [one for one in said if not any(one.equals(each) for each in asked)]
    return any(
        _numbers(text, one) & _numbers(reference, other) for one in answers for reference, found in wanted for other in found
    )


def _numbers(text: str, quantity: Quantity) -> set[tuple[str, Fraction]]:
    """Return what is measured and the number it is written with, without sign; nothing where it has several numbers."""
    if len(quantity.values) == 1:
        ((kind, value),) = quantity.values
        if kind == "date":
            return {(kind, value % _YEAR)}
        if kind == "time":
            return {(kind, value % _HALF_A_DAY)}
    tokens = cut_tokens(text[quantity.start : quantity.end])
    number = next((found[0] for place in range(len(tokens)) if (found := read_number(tokens, place)) is not None), None)
    if number is None:
        return set()
    either = {
        (unit.dimension, value) for unit in UNITS.values() for value in unit.values(number) | unit.values(-number)
    } & quantity.values
    return {(_KINDS.get(dimension, dimension), number) for dimension, _ in either}
