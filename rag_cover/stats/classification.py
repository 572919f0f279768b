"""Scores of verdicts against labels, as functions of sums over clusters, so that `bootstrap` can resample them.

A row of ``counts`` is (true positives, false positives, false negatives, true negatives); counts may be fractions, where a
verdict is an average over several cuts. Cohen's kappa: Cohen, "A coefficient of agreement for nominal scales" (1960). Area
under the ROC curve with clusters: Obuchowski, "Nonparametric analysis of clustered ROC curve data" (1997).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.stats.intervals import Interval, cluster_robust, jackknife

__all__ = ["accuracy", "area_under_roc", "by_cluster", "counts", "kappa", "kappa_interval", "precision", "recall"]

Floats = NDArray[np.float64]


def counts(verdicts: ArrayLike, labels: ArrayLike) -> Floats:
    """Return (n, 4) counts of verdicts against labels.

    >>> counts([True, True, False], [True, False, False]).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    said, true = np.asarray(verdicts, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    return np.stack([said * true, said * (1 - true), (1 - said) * true, (1 - said) * (1 - true)], axis=1)


def by_cluster(rows: ArrayLike, keys: Sequence[Hashable]) -> Floats:
    """Add up rows of (n, k) by their cluster, in the order in which the keys appear.

    >>> by_cluster([[1, 2], [3, 4], [5, 6]], ["a", "b", "a"]).tolist()
    [[6.0, 8.0], [3.0, 4.0]]
    """
    values = np.asarray(rows, dtype=np.float64)
    places: dict[Hashable, int] = {}
    index = [places.setdefault(key, len(places)) for key in keys]
    sums = np.zeros((len(places), values.shape[1]))
    np.add.at(sums, index, values)
    return sums


def accuracy(sums: Floats) -> Floats:
    """Return the share of verdicts that agree with the labels."""
    return _ratio(sums[..., 0] + sums[..., 3], sums.sum(axis=-1))


def precision(sums: Floats) -> Floats:
    """Return the share of positive verdicts that are right; NaN where there are none."""
    return _ratio(sums[..., 0], sums[..., 0] + sums[..., 1])


def recall(sums: Floats) -> Floats:
    """Return the share of positives that are found; NaN where there are none."""
    return _ratio(sums[..., 0], sums[..., 0] + sums[..., 2])


def kappa(sums: Floats) -> Floats:
    """Return the agreement beyond what the two margins give by chance; NaN where these leave no room.

    >>> round(float(kappa(np.array([20.0, 5.0, 10.0, 15.0]))), 6)
    0.4
    """
    n = sums.sum(axis=-1)
    said, true = sums[..., 0] + sums[..., 1], sums[..., 0] + sums[..., 2]
    chance = _ratio(said * true + (n - said) * (n - true), n * n)
    return _ratio(accuracy(sums) - chance, 1 - chance)


def kappa_interval(sums: ArrayLike) -> Interval | None:
    """Return kappa with its interval over clusters; None where it is undefined, without bounds where nothing can vary.

    Where one side gives one answer to everything, or both agree on everything, kappa is 0 or 1 whichever cluster is left out:
    that is no reason to be sure of it.

    >>> kappa_interval([[1, 1, 0, 0], [2, 0, 0, 0], [1, 2, 0, 0]])
    Interval(estimate=0.0, lower=None, upper=None, n=3)
    """
    found = jackknife(sums, kappa, low=-1.0, high=1.0)
    return replace(found, lower=None, upper=None) if found is not None and found.lower == found.upper else found


def area_under_roc(probabilities: ArrayLike, labels: ArrayLike, keys: Sequence[Hashable]) -> Interval | None:
    """Return how often a positive scores above a negative, ties counting half; None where there is only one of them.

    The influence of a row is (its share of wins - area) / (number of its kind).

    >>> area_under_roc([0.9, 0.8, 0.7, 0.6], [1, 0, 1, 0], "abcd").estimate
    0.75
    """
    values, true = np.asarray(probabilities, dtype=np.float64), np.asarray(labels, dtype=bool)
    positives, negatives = np.sort(values[true]), np.sort(values[~true])
    if not len(positives) or not len(negatives):
        return None
    won = np.where(true, _share_below(values, negatives), 1 - _share_below(values, positives))
    area = float(won[true].mean())
    influences = (won - area) / np.where(true, len(positives), len(negatives))
    interval = cluster_robust(area, by_cluster(influences[:, None], keys)[:, 0])
    if interval.lower is None or interval.upper is None:
        return interval
    return Interval(area, max(0.0, interval.lower), min(1.0, interval.upper), interval.n)


def _share_below(values: Floats, others: Floats) -> Floats:
    """Return for each value the share of the others (sorted) that it exceeds, equal ones counting half."""
    below, not_above = np.searchsorted(others, values, "left"), np.searchsorted(others, values, "right")
    share: Floats = (below + not_above) / (2 * len(others))
    return share


def _ratio(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole != 0)
    return share
