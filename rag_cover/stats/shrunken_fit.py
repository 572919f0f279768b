"""Logistic weights fitted to labels from known ones: few labels move them little.

With features x (k,), known weights w and labels y, the fit is the δ that minimises the summed cross-entropy of
σ(x·w + z·δ) plus Σ penalty_j δ_j² / 2, where z are the features, centred and divided by their standard deviation where
that is above 1, the constant as it is (Hoerl & Kennard, "Ridge regression", 1970, towards w instead of 0). A penalty of 1/s² is
a normal prior of δ_j with standard deviation s. A feature that hardly varies among the labels thus gets no large weight, by
which texts unlike these would be judged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.stats.logistic import fit_logistic

__all__ = ["fit_from"]

Floats = NDArray[np.float64]

SLOPE_SPREAD = 0.5
"""How far, in log-odds, a feature may weigh otherwise than it did, for each unit of z: the prior's standard deviation."""
SHIFT_SPREAD = 0.8
"""Likewise of the constant: how far a judge's probabilities lie off on a new set of texts (`CalibrationShift.spread`)."""


def fit_from(known: Sequence[float], features: ArrayLike, labels: ArrayLike) -> tuple[float, ...]:
    """Return the weights (k,) that labels (n,) make of known ones, by features (n, k), the last of which is the constant 1.

    A feature that does not vary keeps its weight.

    >>> features = [[logit, 1.0] for logit in (-3.0, -2.0, -1.0, 1.0, 2.0, 3.0)] * 20
    >>> slope, constant = fit_from((1.0, 2.0), features, [0, 0, 0, 1, 1, 1] * 20)
    >>> slope > 1.0, constant < 1.0
    (True, True)
    """
    x, w = np.asarray(features, dtype=np.float64), np.asarray(known, dtype=np.float64)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    varies = spread > 1e-9 * (1 + np.abs(centre))  # rounding
    scale = np.maximum(spread, 1.0)
    z = np.where(varies, (x - centre) / scale, 0.0)
    z[:, -1] = 1.0
    penalty = np.full(len(w), SLOPE_SPREAD**-2)
    penalty[-1] = SHIFT_SPREAD**-2
    moved = fit_logistic(z, labels, penalty=penalty, offset=x @ w).weights
    slopes = np.where(varies, moved / scale, 0.0)
    slopes[-1] = moved[-1] - float(slopes[:-1] @ centre[:-1])
    return tuple(float(each) for each in w + slopes)
