"""Scores of verdicts, as functions of sums over clusters, so that `rag_cover.stats.intervals.bootstrap` can resample them.

Those that `rag_cover.judge_check` has are its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.stats.classification import accuracy, by_cluster, counts, kappa, precision, recall
from rag_cover.stats.intervals import Interval, bootstrap

__all__ = [
    "accuracy",
    "auc",
    "balanced_accuracy",
    "best_cut",
    "by_cluster",
    "correlation",
    "counts",
    "cross_fitted",
    "estimate",
    "f1",
    "kappa",
    "mean",
    "moments",
    "precision",
    "ranks",
    "ratio",
    "recall",
]

Floats = NDArray[np.float64]

FOLDINGS = 20


def f1(sums: Floats) -> Floats:
    """Return the harmonic mean of precision and recall.

    >>> float(f1(np.array([2.0, 1.0, 1.0, 6.0])))
    0.6666666666666666
    """
    return ratio(2 * sums[..., 0], 2 * sums[..., 0] + sums[..., 1] + sums[..., 2])


def balanced_accuracy(sums: Floats) -> Floats:
    """Return the mean of the shares of positives and of negatives that are found."""
    return (recall(sums) + ratio(sums[..., 3], sums[..., 1] + sums[..., 3])) / 2


def ratio(part: Floats, whole: Floats) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole != 0)


def correlation(sums: Floats) -> Floats:
    """Return Pearson's r of sums of (1, x, y, x², y², x·y)."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    return ratio(n * xy - x * y, np.sqrt(np.maximum((n * xx - x * x) * (n * yy - y * y), 0)))


def moments(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return (n, 6) rows whose sums `correlation` takes."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return np.stack([np.ones_like(a), a, b, a * a, b * b, a * b], axis=1)


def ranks(values: ArrayLike) -> Floats:
    """Rank values from 1; equal values share their mean rank.

    >>> ranks([10, 30, 20, 20]).tolist()
    [1.0, 4.0, 2.5, 2.5]
    """
    array = np.asarray(values, dtype=np.float64)
    distinct, places, count = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[places] if len(distinct) else array


def auc(scores: ArrayLike, truth: ArrayLike, keys: Sequence[Hashable], *, seed: int = 0) -> Interval | None:
    """Return the area under the ROC curve with an interval from resampled clusters; ties count half.

    Clusters are resampled as weights w: with A the wins of cluster against cluster, AUC = wᵀAw / (wᵀP · wᵀN).

    >>> auc([0.9, 0.8, 0.7, 0.6], [1, 0, 1, 0], "abcd").estimate
    0.75
    """
    values, true = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=bool)
    found: dict[Hashable, int] = {}
    places = np.array([found.setdefault(key, len(found)) for key in keys])
    positive, negative = np.bincount(places[true], minlength=len(found)), np.bincount(places[~true], minlength=len(found))
    wins = np.zeros((len(found), len(found)))
    for place, score in zip(places[true], values[true], strict=True):
        beaten = (score > values[~true]) + 0.5 * (score == values[~true])
        wins[place] += np.bincount(places[~true], weights=beaten, minlength=len(found))

    def area(weights: Floats) -> Floats:
        return ratio(((weights @ wins) * weights).sum(axis=-1), (weights @ positive) * (weights @ negative))

    return bootstrap(np.eye(len(found)), area, seed=seed)


def best_cut(scores: Floats, truth: NDArray[np.bool_]) -> float:
    """Choose the cut (positive from there on) with the highest accuracy; of equally good ones the middle one.

    >>> best_cut(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]))
    0.5
    """
    values = np.unique(scores)
    cuts = np.concatenate([[values[0] - 1e-6], (values[1:] + values[:-1]) / 2, [values[-1] + 1e-6]])
    right = ((scores >= cuts[:, None]) == truth).sum(axis=1)
    good = cuts[right == right.max()]
    return float(good[(len(good) - 1) // 2])


def cross_fitted(scores: ArrayLike, truth: ArrayLike, keys: Sequence[Hashable], *, seed: int = 0) -> Floats:
    """Return (n,) verdicts, each by a cut fitted on the other half of the clusters, averaged over 20 ways to halve them."""
    values, true = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=bool)
    clusters = list(dict.fromkeys(keys))
    said = np.zeros(len(values))
    rng = random.Random(seed)  # noqa: S311  # folds, not secrets
    for _ in range(FOLDINGS):
        half = set(rng.sample(clusters, len(clusters) // 2))
        inside = np.array([key in half for key in keys])
        for mine in (inside, ~inside):
            said[mine] += values[mine] >= best_cut(values[~mine], true[~mine])
    return said / FOLDINGS


def estimate(
    rows: Floats, keys: Sequence[Hashable], statistic: Callable[[Floats], Floats], *, seed: int = 0
) -> Interval | None:
    """Give a statistic of rows its interval, resampling their clusters."""
    return bootstrap(by_cluster(rows, keys), statistic, seed=seed)


def mean(values: Floats, keys: Sequence[Hashable], *, seed: int = 0) -> Interval | None:
    """Return the mean of values with an interval from resampled clusters.

    >>> mean(np.array([1.0, 0.0, 1.0, 0.0]), "aabb").estimate
    0.5
    """
    rows = np.stack([values, np.ones_like(values)], axis=1)
    return estimate(rows, keys, lambda sums: ratio(sums[..., 0], sums[..., 1]), seed=seed)
