"""Logistic regression with a ridge penalty, by Newton's method, and the arithmetic of logits around it.

Minimises the summed cross-entropy of σ(x·w + offset) plus ``Σ penalty_k w_k² / 2``. Standard errors are the square roots of the
diagonal of the inverse of the penalised information (Wald; Hastie, Tibshirani & Friedman, 2009, §4.4): a penalty of 0 gives
the usual ones, a larger one shrinks weights and errors together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError

__all__ = [
    "PROBABILITY_EDGE",
    "LogisticFit",
    "cross_entropy",
    "fit_logistic",
    "fit_weights",
    "logit_of",
    "logits_of",
    "probabilities",
    "probabilities_of",
    "recentre",
]

Floats = NDArray[np.float64]

PROBABILITY_EDGE = 1e-4
"""The edge for log-odds of a judge's probabilities: those nearer to 0 or 1 are alike."""

_STEPS = 100
_HALVINGS = 40
_CLOSE = 1e-10
_FLOOR = 1e-12  # of a curvature: a probability of exactly 0 or 1 has none


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """Weights (k,) and their standard errors (k,)."""

    weights: Floats
    errors: Floats

    @property
    def p_values(self) -> Floats:
        """Return the two-sided p-value of each weight by Wald's test."""
        z = self.weights / self.errors
        return np.array([math.erfc(abs(value) / math.sqrt(2)) for value in z])


def probabilities(values: ArrayLike) -> Floats:
    """Return σ(logit), without overflow at either end.

    >>> probabilities([0.0, -1000.0]).tolist()
    [0.5, 0.0]
    """
    array = np.asarray(values, dtype=np.float64)
    decay = np.exp(-np.abs(array))
    return np.where(array >= 0, 1 / (1 + decay), decay / (1 + decay))


def logits_of(values: ArrayLike, *, edge: float) -> Floats:
    """Return ln(p / (1 - p)); a probability nearer to 0 or 1 than ``edge`` is taken for that far from it.

    >>> logits_of([0.5, 1.0], edge=0.5).tolist()
    [0.0, 0.0]
    """
    edged = np.clip(np.asarray(values, dtype=np.float64), edge, 1 - edge)
    return np.asarray(np.log(edged / (1 - edged)))


def logit_of(value: float, *, edge: float) -> float:
    """Return ln(p / (1 - p)) of one probability, cut off at ``edge`` as by `logits_of`.

    >>> logit_of(0.5, edge=0.01), logit_of(1.0, edge=0.5)
    (0.0, 0.0)
    """
    edged = min(max(value, edge), 1 - edge)
    return math.log(edged / (1 - edged))


def recentre(probability: float, *, cut: float) -> float:
    """Map a probability so that ``cut`` becomes a half: its odds are divided by those of the cut.

    >>> round(recentre(0.3, cut=0.3), 9), recentre(0.0, cut=0.3), recentre(1.0, cut=0.3)
    (0.5, 0.0, 1.0)
    """
    above, below = probability * (1 - cut), (1 - probability) * cut
    return above / (above + below) if above + below else float(probability >= cut)


def cross_entropy(values: ArrayLike, labels: ArrayLike) -> Floats:
    """Return -ln P(label) for logits, element by element, in nats; a label may lie between 0 and 1."""
    array = np.asarray(values, dtype=np.float64)
    return np.asarray(np.logaddexp(0.0, array) - array * np.asarray(labels, dtype=np.float64))


def fit_logistic(
    features: ArrayLike,
    labels: ArrayLike,
    *,
    penalty: ArrayLike = 0.0,
    offset: ArrayLike = 0.0,
) -> LogisticFit:
    """Fit labels (n,), in [0, 1], by features (n, k); a constant is a feature of ones.

    Args:
        features: (n, k), finite.
        labels: (n,), 0 or 1, or shares between.
        penalty: of each weight (k,), or one for all; at least 0.
        offset: (n,) of known logits, or one for all.

    Raises:
        InvalidValueError: no rows, or shapes that do not fit together.
    """
    x, y = np.asarray(features, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if x.ndim != 2 or not len(x) or y.shape != (len(x),):  # noqa: PLR2004 - a table
        message = f"a regression needs (n, k) features and n labels, not {x.shape} and {y.shape}"
        raise InvalidValueError(message)
    ridge: Floats = np.array(np.broadcast_to(np.asarray(penalty, dtype=np.float64), x.shape[1:]))
    known: Floats = np.array(np.broadcast_to(np.asarray(offset, dtype=np.float64), y.shape))
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        said = probabilities(x @ weights + known)
        slope = x.T @ (said - y) + ridge * weights
        step = np.asarray(np.linalg.lstsq(_information(x, said, ridge), slope, rcond=None)[0], dtype=np.float64)
        taken = _damp_step(x, y, known, ridge, weights, step)
        weights = np.asarray(weights - taken, dtype=np.float64)
        if np.abs(taken).max(initial=0.0) < _CLOSE:
            break
    covariance = np.linalg.pinv(_information(x, probabilities(x @ weights + known), ridge))
    return LogisticFit(weights, np.sqrt(np.maximum(np.diag(covariance), _FLOOR)))


def fit_weights(columns: ArrayLike, truth: ArrayLike, *, ridge: float = 1.0) -> Floats:
    """Return (1 + k,) weights, the intercept first, of (n, k) columns as they are; the ridge holds them standardised.

    A column that does not vary weighs 0; the intercept is not penalised.

    >>> weights = fit_weights([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> probabilities_of(weights, [[0.0], [1.5], [3.0]]).round(2).tolist()
    [0.22, 0.5, 0.78]
    """
    x = np.asarray(columns, dtype=np.float64)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    varies = spread > 1e-9 * (1 + np.abs(centre))  # rounding
    scale = np.where(varies, spread, 1.0)
    design = np.column_stack([np.ones(len(x)), np.where(varies, (x - centre) / scale, 0.0)])
    weights = fit_logistic(design, truth, penalty=[0.0, *[ridge] * x.shape[1]]).weights
    raw = weights[1:] / scale * varies
    return np.concatenate([[weights[0] - raw @ centre], raw])


def probabilities_of(weights: ArrayLike, columns: ArrayLike) -> Floats:
    """Return (n,) probabilities of (n, k) columns by `fit_weights`' weights."""
    w, x = np.asarray(weights, dtype=np.float64), np.asarray(columns, dtype=np.float64)
    return probabilities(w[0] + x @ w[1:])


def _information(x: Floats, said: Floats, ridge: Floats) -> Floats:
    curvature = np.maximum(said * (1 - said), _FLOOR)
    return np.asarray(x.T @ (curvature[:, None] * x) + np.diag(ridge))


def _damp_step(x: Floats, y: Floats, known: Floats, ridge: Floats, weights: Floats, step: Floats) -> Floats:
    """Halve Newton's step until it does not raise the loss: far out, the curvature misleads."""

    def loss(at: Floats) -> float:
        return float(cross_entropy(x @ at + known, y).sum() + (ridge * at * at).sum() / 2)

    now = loss(weights)
    for _ in range(_HALVINGS):
        if loss(weights - step) <= now:
            return step
        step = step / 2
    return np.zeros_like(step)
