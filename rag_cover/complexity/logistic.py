"""A small logistic regression: what turns evidence into a probability.

P(y = 1 | x) = 1 / (1 + exp(-(w_0 + w·x))), fitted by Newton's method on the likelihood less a ridge on the weights of
standardised columns (Hastie, Tibshirani & Friedman, 2009, §4.4), which is what keeps weights finite where classes separate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["fit_weights", "probabilities_of"]

Floats = NDArray[np.float64]

RIDGE = 1.0
ROUNDS = 50
_SETTLED = 1e-10


def fit_weights(columns: ArrayLike, truth: ArrayLike, *, ridge: float = RIDGE) -> Floats:
    """Return (1 + k,) weights, the intercept first, of (n, k) columns as they are.

    A column that does not vary weighs 0; the intercept is not penalised.

    >>> weights = fit_weights([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> probabilities_of(weights, [[0.0], [1.5], [3.0]]).round(2).tolist()
    [0.22, 0.5, 0.78]
    """
    x, y = np.asarray(columns, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    varies = spread > 1e-9 * (1 + np.abs(centre))  # rounding
    scale = np.where(varies, spread, 1.0)
    design = np.column_stack([np.ones(len(x)), np.where(varies, (x - centre) / scale, 0.0)])
    penalty = np.diag([0.0, *[ridge] * x.shape[1]])
    weights = np.zeros(design.shape[1])
    for _ in range(ROUNDS):
        likely = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (y - likely) - penalty @ weights
        curvature = (design * (likely * (1 - likely))[:, None]).T @ design + penalty + 1e-9 * np.eye(len(weights))
        step = np.linalg.solve(curvature, slope)
        weights += step
        if np.abs(step).max() < _SETTLED:
            break
    raw = weights[1:] / scale * varies
    return np.concatenate([[weights[0] - raw @ centre], raw])


def probabilities_of(weights: ArrayLike, columns: ArrayLike) -> Floats:
    """Return (n,) probabilities of (n, k) columns."""
    w, x = np.asarray(weights, dtype=np.float64), np.asarray(columns, dtype=np.float64)
    probabilities: Floats = 1 / (1 + np.exp(-np.clip(w[0] + x @ w[1:], -500, 500)))
    return probabilities
