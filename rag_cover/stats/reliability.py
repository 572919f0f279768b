"""Whether probabilities mean what they say: of what gets 0.7, seven in ten should be covered.

Expected calibration error over equally wide bins: Σ_b n_b/n · |share covered in b - mean probability in b| (Naeini, Cooper
and Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["ReliabilityBin", "calibration_error", "reliability_bins"]


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The rows whose probability lies from ``lower`` to ``upper``: their mean probability, and the share labelled covered."""

    lower: float
    upper: float
    n: int
    probability: float
    covered: float


def reliability_bins(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10) -> tuple[ReliabilityBin, ...]:
    """Lay rows into equally wide bins of their probability; a bin without rows is absent.

    >>> [(each.n, each.covered) for each in reliability_bins([0.05, 0.95, 1.0], [0, 1, 1])]
    [(1, 0.0), (2, 1.0)]
    """
    values, true = np.asarray(probabilities, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    places = np.minimum((values * bins).astype(int), bins - 1)
    return tuple(
        ReliabilityBin(
            place / bins, (place + 1) / bins, int(inside.sum()), float(values[inside].mean()), float(true[inside].mean())
        )
        for place in range(bins)
        if (inside := places == place).any()
    )


def calibration_error(bins: Sequence[ReliabilityBin]) -> float | None:
    """Return the expected calibration error: the mean |probability - share covered| over the rows; None without rows.

    >>> calibration_error([ReliabilityBin(0.0, 0.5, 3, 0.25, 0.5), ReliabilityBin(0.5, 1.0, 1, 0.75, 1.0)])
    0.25
    """
    n = sum(each.n for each in bins)
    return sum(each.n * abs(each.covered - each.probability) for each in bins) / n if n else None
