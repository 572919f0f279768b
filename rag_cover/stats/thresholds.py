"""The cut from which a probability counts as covered, fitted to labels; and verdicts that are honest about it.

A cut judged on the labels that chose it flatters itself. Cross-fitting (Stone, 1974) judges each half of the clusters by a
cut fitted on the other half.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError

__all__ = ["best_cut", "cross_fitted", "cuts_between"]

Floats = NDArray[np.float64]

_FOLDINGS = 20
_MOST_CUTS = 100


def best_cut(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Choose the cut (covered from there on) with the highest accuracy; of equally good ones the middle one.

    >>> best_cut([0.1, 0.2, 0.8, 0.9], [False, False, True, True])
    0.5

    Raises:
        InvalidValueError: no labels.
    """
    if not len(np.asarray(labels)):
        message = "a cut is chosen by labels, and there are none"
        raise InvalidValueError(message)
    values, places = np.unique(np.asarray(probabilities, dtype=np.float64), return_inverse=True)
    true = np.asarray(labels, dtype=bool)
    positives, negatives = (np.bincount(places[kind], minlength=len(values)) for kind in (true, ~true))
    right = np.concatenate([[0], np.cumsum(negatives - positives)]) + positives.sum()  # those below each cut are said negative
    cuts = np.concatenate([[0.0], _halfway(values), [(values[-1] + 1) / 2]])
    if values[-1] == 1:
        right, cuts = right[:-1], cuts[:-1]  # no probability lies above 1, so none can be the cut of "never"
    good = cuts[right == right.max()]
    return float(good[(len(good) - 1) // 2])


def cuts_between(values: Floats) -> Floats:
    """Return at most 100 cuts that lie between neighbouring values, as many values between two cuts as between any others.

    >>> cuts_between(np.array([0.5, 0.25, 0.25])).tolist()
    [0.375]
    """
    distinct = np.unique(values)
    cuts = _halfway(distinct)
    if not len(cuts):
        return distinct
    chosen = np.linspace(0, len(cuts) - 1, min(_MOST_CUTS, len(cuts))).round().astype(np.intp)
    return cuts[chosen]


def cross_fitted(probabilities: ArrayLike, labels: ArrayLike, keys: Sequence[Hashable], *, seed: int = 0) -> Floats | None:
    """Return (n,) verdicts, each by a cut fitted on the other half of the clusters, averaged over 20 ways to halve them.

    None where there are fewer than two clusters to halve.
    """
    values, true = np.asarray(probabilities, dtype=np.float64), np.asarray(labels, dtype=bool)
    clusters = list(dict.fromkeys(keys))
    if len(clusters) < 2:  # noqa: PLR2004  # halves
        return None
    said = np.zeros(len(values))
    rng = random.Random(seed)  # noqa: S311  # folds, not secrets
    for _ in range(_FOLDINGS):
        half = set(rng.sample(clusters, len(clusters) // 2))
        inside = np.array([key in half for key in keys])
        for mine in (inside, ~inside):
            said[mine] += values[mine] >= best_cut(values[~mine], true[~mine])
    return said / _FOLDINGS


def _halfway(distinct: Floats) -> Floats:
    """Return the (n - 1,) cuts halfway between neighbours of n sorted values."""
    return np.asarray((distinct[1:] + distinct[:-1]) / 2)
