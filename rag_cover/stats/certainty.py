"""The two probabilities between which a judge's verdicts are unsure."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["CERTAIN", "fit_certain_cuts"]

CERTAIN = 0.9
"""The share of verdicts beyond each cut that is right."""
_LEAST = 20  # verdicts beyond a cut: of fewer, the share that is right is hardly known


def fit_certain_cuts(
    probabilities: ArrayLike, labels: ArrayLike, *, cut: float = 0.5, right: float = CERTAIN, least: int = _LEAST
) -> tuple[float, float]:
    """Return the highest low cut and the lowest high cut beyond which the given share of verdicts is right.

    Verdicts of equal probability lie on the same side of a cut. Where no cut has ``least`` verdicts beyond it of which so many
    are right, all on that side are unsure: 0 or 1.

    >>> fit_certain_cuts([0.1, 0.2, 0.4, 0.6, 0.8, 0.9], [0, 0, 1, 0, 1, 1], least=2)
    (0.2, 0.8)
    >>> fit_certain_cuts([0.1, 0.9], [0, 1])
    (0.0, 1.0)
    """
    order = np.argsort(np.asarray(probabilities, dtype=np.float64), kind="stable")
    values, truth = np.asarray(probabilities, dtype=np.float64)[order], np.asarray(labels, dtype=np.float64)[order]
    differs = values[1:] != values[:-1]
    is_first, is_last = np.concatenate([[True], differs])[: len(values)], np.concatenate([differs, [True]])[: len(values)]
    count = np.arange(1, len(values) + 1)
    below = 1 - np.cumsum(truth) / count
    above = np.cumsum(truth[::-1])[::-1] / count[::-1]
    low = values[is_last & (below >= right) & (values < cut) & (count >= least)]
    high = values[is_first & (above >= right) & (values >= cut) & (count[::-1] >= least)]
    return float(low[-1]) if len(low) else 0.0, float(high[0]) if len(high) else 1.0
