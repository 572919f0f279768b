"""The plainest result: one number for a trace, and the mean of it as a metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from rag_cover.errors import InvalidValueError
from rag_cover.measures.protocol import SummaryMetric
from rag_cover.measures.texts import Text

__all__ = ["NumberResult", "number_metric"]


@dataclass(frozen=True, slots=True)
class NumberResult:
    """One number for a trace, None where it is undefined, and the reason for it.

    Raises:
        InvalidValueError: the number is not finite, or no number.
    """

    value: float | None
    reason: Annotated[str, Text()] = ""

    def __post_init__(self) -> None:
        """Refuse what is no number: undefined is None."""
        value = self.value if self.value is None or isinstance(self.value, str) else _as_float(self.value)
        if value is not None and not (isinstance(value, float) and math.isfinite(value)):
            message = f"the value of a NumberResult is {self.value!r}; it is a finite number, or None where it is undefined"
            raise InvalidValueError(message)
        object.__setattr__(self, "value", value)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {"value": self.value, "reason": self.reason}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(data["value"], data["reason"])

    @property
    def values(self) -> Mapping[str, float | None]:
        """Return the number."""
        return {"value": self.value}


def _as_float(value: object) -> float:
    """Turn a number of any kind into a float: numpy's too, and decimals; what is none becomes NaN."""
    try:
        return float(value)  # type: ignore[arg-type]  # what cannot be turned is caught
    except (TypeError, ValueError, OverflowError):
        return math.nan


def number_metric(
    name: str, *, low: float = -math.inf, high: float = math.inf, higher_is_better: bool | None = None
) -> SummaryMetric[NumberResult]:
    """Return the mean of a number over the traces for which it is defined."""
    label = name.replace("_", " ")
    return SummaryMetric(
        name,
        label,
        f"mean of {label} over traces",
        _value_and_count,
        low=low,
        high=high,
        higher_is_better=higher_is_better,
        undefined_because="it is undefined for every trace that was measured",
    )


def _value_and_count(result: NumberResult) -> Sequence[float]:
    return (0.0, 0.0) if result.value is None else (result.value, 1.0)
