"""The numbers fitted after training, on validation examples, and the area under the ROC curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["balanced_cut", "fit_temperature", "rank_accuracy", "shares_temperature"]

Floats = NDArray[np.float64]

_TEMPERATURES = np.exp(np.linspace(np.log(0.05), np.log(20), 121))


def rank_accuracy(scores: Floats, truth: NDArray[np.bool_]) -> float:
    """Return P(a true row scores higher than a false one), a tie counting half.

    >>> rank_accuracy(np.array([0.5, 0.5, 0.9]), np.array([True, False, True]))
    0.75
    """
    false = np.sort(scores[~truth])
    below, upto = (np.searchsorted(false, scores[truth], side=side) for side in ("left", "right"))
    return float((below + upto).mean() / 2 / len(false))


def fit_temperature(logits: Floats, truth: NDArray[np.bool_]) -> float:
    """Return the temperature under which sigmoid(logits / temperature) is likeliest to give the truth, of 0.05 to 20.

    The truth is smoothed as Platt does (Probabilistic outputs for support vector machines, 1999, section 2.2): of n true rows
    each counts as (n + 1) / (n + 2), of n false ones as 1 / (n + 2), lest a few rows told apart perfectly make all certain.

    >>> round(fit_temperature(np.array([4.0, 4.0, 4.0, -4.0]), np.array([True, True, False, False])), 1)
    7.7
    """
    true, false = truth.sum(), (~truth).sum()
    wanted = np.where(truth, (true + 1) / (true + 2), 1 / (false + 2))
    losses = [(np.logaddexp(0, logits / temperature) - wanted * logits / temperature).mean() for temperature in _TEMPERATURES]
    return float(_TEMPERATURES[int(np.argmin(losses))])


def shares_temperature(rows: Sequence[tuple[Floats, Floats]]) -> float:
    """Return the temperature under which softmax(logits / temperature) is closest to the shares; 1 where there are none."""
    if not rows:
        return 1.0
    losses = [
        np.mean([np.logaddexp.reduce(logits / t) - (shares * logits / t).sum() for logits, shares in rows])
        for t in _TEMPERATURES
    ]
    return float(_TEMPERATURES[int(np.argmin(losses))])


def balanced_cut(probabilities: Floats, truth: NDArray[np.bool_]) -> float:
    """Return the cut with the best balanced accuracy, midway between two scores; 0.5 where one class is absent.

    >>> balanced_cut(np.array([0.1, 0.2, 0.6, 0.9]), np.array([False, False, True, True]))
    0.4
    """
    if truth.all() or not truth.any():
        return 0.5
    levels = np.unique(probabilities)
    cuts = np.append((levels[:-1] + levels[1:]) / 2, levels[0])
    missed, spared = (np.searchsorted(np.sort(probabilities[rows]), cuts) / rows.sum() for rows in (truth, ~truth))
    return float(cuts[int(np.argmax(spared - missed))])
