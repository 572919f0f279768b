"""What a text says as a quantity: where it says so, and what that may mean."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Quantity", "Value"]

Value = tuple[str, Fraction]
"""What is measured, and how much of it, in that dimension's base unit."""

_ROUNDING = Fraction(1, 100)
_DEGREES = Fraction(3, 5)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity between two code points of a text; more than one value where it may be read in several ways."""

    start: int
    end: int
    values: frozenset[Value]
    metric: bool = True

    def equals(self, other: Quantity) -> bool:
        """Return whether both may mean the same; between metric and other units within 1%, or 0.6 °C."""
        if self.values & other.values:
            return True
        return self.metric is not other.metric and any(
            dimension == wanted and abs(value - aim) <= (_DEGREES if dimension == "temperature" else _ROUNDING * abs(aim))
            for dimension, value in self.values
            for wanted, aim in other.values
        )
