"""How sure a figure is: Wilson, bootstrap and cluster-robust intervals, and the paired permutation test.

Statistics are functions of *sums over clusters* (here: questions), so a resample is a reweighting: with ``sums`` of shape
(clusters, k), a bootstrap is ``weights @ sums`` with multinomial weights (Efron & Tibshirani, 1993, ch. 6), and a paired
permutation swaps the two sides of a cluster (Good, 2005, ch. 3). Where each cluster's influence on an estimate is known in
closed form, its variance is G/(G-1) times the sum of their squares over the G clusters (Cameron & Miller, 2015, §II).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError

__all__ = [
    "SIGNIFICANT",
    "Interval",
    "Statistic",
    "bootstrap",
    "bootstrap_share",
    "cluster_robust",
    "permutation_p_value",
    "resample_clusters",
    "wilson",
]

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Maps sums (..., k) to values (...); NaN where undefined."""

SIGNIFICANT = 0.05
"""The usual level of a test: from this p-value on a difference may be chance."""
_Z95 = 1.959963984540054
_LEAST_CLUSTERS = 4  # from which the expansion of Student's t holds to three digits


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate with its 95% interval; ``n`` is the number of units (clusters) it rests on.

    ``lower`` and ``upper`` are None where too few clusters (for the bootstrap fewer than two) leave nothing to judge it by.
    """

    estimate: float
    lower: float | None
    upper: float | None
    n: int


def wilson(successes: int, n: int) -> Interval:
    """Give a proportion its Wilson score interval (Wilson, 1927).

    >>> interval = wilson(8, 10)
    >>> round(interval.lower, 3), round(interval.upper, 3)
    (0.49, 0.943)

    Raises:
        InvalidValueError: no trials, or successes outside 0..n.
    """
    if n < 1 or not 0 <= successes <= n:
        message = f"a proportion needs 0 <= successes <= n and n >= 1, not {successes} of {n}"
        raise InvalidValueError(message)
    share, z2 = successes / n, _Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    lower, upper = max(0.0, centre - half) if successes else 0.0, min(1.0, centre + half) if successes < n else 1.0
    return Interval(share, lower, upper, n)


def bootstrap(
    sums: ArrayLike, statistic: Statistic, *, resamples: int = 2000, seed: int = 0, drawn: Floats | None = None
) -> Interval | None:
    """Give a statistic of cluster sums its percentile interval, resampling whole clusters.

    Resamples in which the statistic is undefined are left out; where it is undefined on the data, the result is None.

    Args:
        sums: (clusters, k), one row of additive quantities per cluster.
        statistic: maps (resamples, k) to (resamples,).
        resamples: how many times to draw.
        seed: of the draws.
        drawn: what `resample_clusters` drew of these sums before, for another statistic.
    """
    rows = np.asarray(sums, dtype=np.float64)
    if not len(rows):
        return None
    estimate = float(statistic(rows.sum(axis=0, keepdims=True))[0])
    if math.isnan(estimate):
        return None
    if len(rows) == 1:
        return Interval(estimate, None, None, 1)
    values = statistic(resample_clusters(rows, resamples=resamples, seed=seed) if drawn is None else drawn)
    values = values[~np.isnan(values)]
    lower, upper = np.quantile(values, [0.025, 0.975]) if len(values) else (None, None)
    return Interval(estimate, _float(lower), _float(upper), len(rows))


def resample_clusters(sums: Floats, *, resamples: int = 2000, seed: int = 0) -> Floats:
    """Draw whole clusters with replacement, so many times, and return the sums (resamples, k) of each draw."""
    rng = np.random.default_rng(seed)
    share = np.full(len(sums), 1 / len(sums))
    parts = [rng.multinomial(len(sums), share, size=size).astype(np.float64) @ sums for size in _chunks(resamples, len(sums))]
    return np.concatenate(parts)


def bootstrap_share(sums: ArrayLike, statistic: Statistic, *, seed: int = 0, drawn: Floats | None = None) -> Interval | None:
    """Give a share its interval as `bootstrap` does; one that is 0 or 1 gets that of a proportion of as many clusters.

    Where every cluster says the same, resamples cannot differ, which is no reason to be sure.

    >>> interval = bootstrap_share([(0, 1)] * 20, lambda sums: sums[..., 0] / sums[..., 1])
    >>> interval.estimate, interval.lower, round(interval.upper, 3)
    (0.0, 0.0, 0.161)
    """
    interval = bootstrap(sums, statistic, seed=seed, drawn=drawn)
    if interval is None or interval.lower is None or interval.estimate not in (0.0, 1.0):
        return interval
    return wilson(round(interval.estimate) * interval.n, interval.n)


def cluster_robust(estimate: float, influences: ArrayLike, *, degrees: int | None = None) -> Interval:
    """Give an estimate its interval from the influence of each cluster on it; fewer than four clusters give none.

    The quantile is Student's t with ``degrees`` of freedom; None: the clusters less one.

    >>> shares = np.array([1.0, 0.0] * 25)
    >>> interval = cluster_robust(0.5, (shares - 0.5) / 50)
    >>> round(interval.lower, 3), round(interval.upper, 3)
    (0.356, 0.644)
    """
    values = np.asarray(influences, dtype=np.float64)
    free = len(values) - 1 if degrees is None else degrees
    if free + 1 < _LEAST_CLUSTERS:
        return Interval(estimate, None, None, len(values))
    half = _student_t(free) * math.sqrt((free + 1) / free * float(values @ values))
    return Interval(estimate, estimate - half, estimate + half, len(values))


def permutation_p_value(
    sums_a: ArrayLike, sums_b: ArrayLike, statistic: Statistic, *, permutations: int = 10_000, seed: int = 0
) -> float | None:
    """Return the two-sided p-value of statistic(A) - statistic(B) when each cluster's two sides may be swapped.

    The observed arrangement counts among the permutations, so the value is never 0. None where the difference is undefined.

    Args:
        sums_a: (clusters, k) of the one side.
        sums_b: (clusters, k) of the other, row by row the same clusters.
        statistic: maps (..., k) to (...).
        permutations: how many swaps to draw.
        seed: of the draws.
    """
    a, b = np.asarray(sums_a, dtype=np.float64), np.asarray(sums_b, dtype=np.float64)
    if a.shape != b.shape or not len(a):
        message = f"a paired test needs the same clusters on both sides, not {a.shape} and {b.shape}"
        raise InvalidValueError(message)
    observed = float(statistic(a.sum(0, keepdims=True))[0] - statistic(b.sum(0, keepdims=True))[0])
    if math.isnan(observed):
        return None
    rng = np.random.default_rng(seed)
    total, difference = a.sum(0) + b.sum(0), a - b
    at_least = 1
    for size in _chunks(permutations, len(a)):
        signs = rng.integers(0, 2, (size, len(a))) * 2.0 - 1.0
        swing = signs @ difference
        gaps = statistic((total + swing) / 2) - statistic((total - swing) / 2)
        at_least += int(np.sum(np.abs(gaps) >= abs(observed) - 1e-12))
    return at_least / (permutations + 1)


def _student_t(degrees: int) -> float:
    """Return the 97.5% quantile of Student's t by its expansion (Abramowitz & Stegun, 1964, 26.7.5)."""
    z = _Z95
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / degrees**power for power, term in enumerate(terms, 1))


def _chunks(draws: int, clusters: int) -> list[int]:
    """Split the draws so that no weight matrix exceeds about 32 MB."""
    size = max(1, min(draws, 4_000_000 // clusters))
    return [size] * (draws // size) + ([draws % size] if draws % size else [])


def _float(value: np.float64 | None) -> float | None:
    return None if value is None else float(value)
