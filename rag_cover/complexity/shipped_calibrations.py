"""Thresholds that ship with rag_cover, for the judges they were fitted for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from rag_cover.backends import numbers_for
from rag_cover.complexity.calibration import Calibration
from rag_cover.complexity.choices import AnswerSource, Constraints
from rag_cover.stats.calibrations import read_shipped_numbers

__all__ = ["NUMBERS", "calibration_for", "load_calibrations"]

NUMBERS = Path(__file__).with_name("presets.json")


def calibration_for(fingerprint: str, references: AnswerSource, constraints: Constraints = "both") -> Calibration | None:
    """Return what was fitted for a judge, known by its fingerprint; None for a judge that nothing was fitted for.

    A draft is compared as a gold answer is, so what was fitted with gold answers holds for it.
    """
    source = "none" if references == "none" else "gold"
    found = numbers_for(fingerprint, load_calibrations())
    return None if found is None else found.get(f"{source}/{constraints}")


@cache
def load_calibrations() -> Mapping[str, Mapping[str, Calibration]]:
    """Read the shipped calibrations: by fingerprint, then by answer source and constraints (``gold/both``)."""
    return {
        fingerprint: {kind: Calibration.from_dict(each) for kind, each in kinds.items()}
        for fingerprint, kinds in read_shipped_numbers(NUMBERS).items()
    }
