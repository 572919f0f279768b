"""How far the probabilities of a judge lie off on texts of a new kind, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["CalibrationShift", "read_shifts"]


@dataclass(frozen=True, slots=True)
class CalibrationShift:
    """How far a judge's probabilities of one mode lie off on labelled sets of texts that it was not fitted on.

    ``shift`` is what must be added to their logits, as if the judge's cut were a half, for them to agree with the labels on
    average, ``spread`` the standard deviation of that of a new set of texts. They rest on ``labels`` labels of ``sets`` sets,
    and ``agreed`` of these are the judge's verdicts. `rag_cover.stats.judge_error.fit_shift` fits them.
    """

    shift: float
    spread: float
    sets: int
    labels: int
    agreed: int

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data, which the class reads back as its arguments."""
        return asdict(self)


def read_shifts(data: Mapping[Any, Mapping[str, Any]]) -> dict[Any, CalibrationShift]:
    """Read back the shifts of several modes, each as `CalibrationShift.to_dict` wrote it.

    Raises:
        TypeError: a shift lacks a field, or has an unknown one.
    """
    return {mode: CalibrationShift(**each) for mode, each in data.items()}
