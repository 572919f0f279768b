"""How sure a figure is: Wilson, jackknife, bootstrap and cluster-robust intervals, and the paired permutation test.

Statistics are functions of *sums over clusters* (here: questions). With ``sums`` of shape (clusters, k), the jackknife leaves
out one cluster after another (Efron & Tibshirani, 1993, ch. 11), a bootstrap is ``weights @ sums`` with multinomial weights
(ch. 6), and a paired permutation swaps the two sides of a cluster (Good, 2005, ch. 3). Where each cluster's influence on an
estimate is known in closed form, its variance is G/(G-1) times the sum of their squares over the G clusters (Cameron & Miller,
2015, §II).

The percentiles of a bootstrap are too narrow where there are few clusters; the jackknife with Student's t is not, and that is
what summaries use. The bootstrap is for statistics that the jackknife is wrong for, such as medians and areas under curves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError

__all__ = [
    "SIGNIFICANT",
    "Z95",
    "Interval",
    "Statistic",
    "bootstrap",
    "cluster_robust",
    "jackknife",
    "jackknife_share",
    "permutation_p_value",
    "swaps",
    "wilson",
]

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Maps sums (..., k) to values (...); NaN where undefined."""

SIGNIFICANT = 0.05
"""The usual level of a test: from this p-value on a difference may be chance."""
Z95 = 1.959963984540054
"""The quantile of the normal distribution that a 95% interval reaches to."""
_ROUNDING = 1e-12  # what a statistic may be off by
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
    share = successes / n
    lower, upper = _score_bounds(share, n, Z95)
    return Interval(share, lower, upper, n)


def jackknife(sums: ArrayLike, statistic: Statistic, *, low: float = -math.inf, high: float = math.inf) -> Interval | None:
    """Return a smooth statistic of cluster sums with its interval: Student's t times the jackknife's standard error.

    Where the statistic is undefined on the data, the result is None; where it is undefined without one of the clusters, there
    are no bounds.

    >>> interval = jackknife([(1, 1), (2, 1), (3, 1), (4, 1)], lambda sums: sums[..., 0] / sums[..., 1])
    >>> interval.estimate, round(interval.lower, 2), round(interval.upper, 2)
    (2.5, 0.45, 4.55)

    Args:
        sums: (clusters, k), one row of additive quantities per cluster.
        statistic: maps (draws, k) to (draws,).
        low: the lowest value that the statistic can have: the lower bound is cut off there, unless the estimate lies below it.
        high: the highest, likewise.
    """
    found = _leave_one_out(sums, statistic)
    if found is None:
        return None
    estimate, variance, clusters = found
    if math.isnan(variance):
        return Interval(estimate, None, None, clusters)
    half = _student_t(clusters - 1) * math.sqrt(variance)
    lower, upper = estimate - half, estimate + half
    return Interval(
        estimate, lower if estimate < low else max(low, lower), upper if estimate > high else min(high, upper), clusters
    )


def jackknife_share(sums: ArrayLike, statistic: Statistic) -> Interval | None:
    """Return a share of cluster sums with its interval: Wilson's, of as many independent trials as vary as much.

    With the jackknife's variance v, a share p is as sure as one of p(1 - p)/v trials (Korn & Graubard, "Confidence intervals
    for proportions with small expected number of positive counts estimated from survey data", 1998), with Student's t quantile.
    A share that is 0 or 1 gets the interval of a proportion of as many clusters: that all say the same is no reason to be sure.

    >>> interval = jackknife_share([(0, 1)] * 20, lambda sums: sums[..., 0] / sums[..., 1])
    >>> interval.estimate, interval.lower, round(interval.upper, 3)
    (0.0, 0.0, 0.161)

    Args:
        sums: (clusters, k), one row of additive quantities per cluster.
        statistic: maps (draws, k) to (draws,), in [0, 1].
    """
    found = _leave_one_out(sums, statistic)
    if found is None:
        return None
    estimate, variance, clusters = found
    if math.isnan(variance):
        return Interval(estimate, None, None, clusters)
    if estimate in (0.0, 1.0):
        return wilson(round(estimate) * clusters, clusters)
    trials = estimate * (1 - estimate) / variance if variance else float(clusters)
    lower, upper = _score_bounds(estimate, trials, _student_t(clusters - 1))
    return Interval(estimate, lower, upper, clusters)


def bootstrap(sums: ArrayLike, statistic: Statistic, *, resamples: int = 2000, seed: int = 0) -> Interval | None:
    """Return a statistic of cluster sums with its percentile interval, resampling whole clusters.

    Resamples in which the statistic is undefined are left out; where it is undefined on the data, the result is None.

    Args:
        sums: (clusters, k), one row of additive quantities per cluster.
        statistic: maps (resamples, k) to (resamples,).
        resamples: how many times to draw.
        seed: seed of the random generator.
    """
    rows = np.asarray(sums, dtype=np.float64)
    if not len(rows):
        return None
    estimate = float(statistic(rows.sum(axis=0, keepdims=True))[0])
    if math.isnan(estimate):
        return None
    if len(rows) == 1:
        return Interval(estimate, None, None, 1)
    rng, share = np.random.default_rng(seed), np.full(len(rows), 1 / len(rows))
    drawn = [rng.multinomial(len(rows), share, size=size).astype(np.float64) @ rows for size in _chunks(resamples, len(rows))]
    values = statistic(np.concatenate(drawn))
    values = values[~np.isnan(values)]
    lower, upper = np.quantile(values, [0.025, 0.975]) if len(values) else (None, None)
    return Interval(estimate, _float(lower), _float(upper), len(rows))


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

    Where there are no more than ``permutations`` ways to swap them, all are tried and the value is exact. Else the observed
    arrangement counts among those drawn, so the value is never 0. Arrangements in which the difference is undefined are left
    out; where it is undefined on the data, the result is None.

    Args:
        sums_a: (clusters, k) of the one side.
        sums_b: (clusters, k) of the other, row by row the same clusters.
        statistic: maps (..., k) to (...).
        permutations: how many swaps to draw.
        seed: seed of the random generator.

    Raises:
        InvalidValueError: no clusters, or not the same on both sides.
    """
    a, b = np.asarray(sums_a, dtype=np.float64), np.asarray(sums_b, dtype=np.float64)
    if a.shape != b.shape or not len(a):
        message = f"a paired test needs the same clusters on both sides, not {a.shape} and {b.shape}"
        raise InvalidValueError(message)
    observed = float(statistic(a.sum(0, keepdims=True))[0] - statistic(b.sum(0, keepdims=True))[0])
    if math.isnan(observed):
        return None
    total, difference = a.sum(0) + b.sum(0), a - b
    at_least = tried = 0
    for signs in swaps(len(a), permutations=permutations, seed=seed):
        swing = signs @ difference
        gaps = statistic((total + swing) / 2) - statistic((total - swing) / 2)
        at_least += int(np.sum(np.abs(gaps) >= abs(observed) - _ROUNDING))
        tried += int(np.sum(~np.isnan(gaps)))
    return at_least / tried


def swaps(clusters: int, *, permutations: int = 10_000, seed: int = 0) -> Iterator[Floats]:
    """Yield signs (some, clusters) of all arrangements; where they are more than ``permutations``, of that many at random.

    The observed arrangement, all +1, is the first.
    """
    if clusters < permutations.bit_length():
        numbers = np.arange(2**clusters)[:, None]
        yield (1 - 2 * (numbers >> np.arange(clusters) & 1)).astype(np.float64)
        return
    rng = np.random.default_rng(seed)
    yield np.ones((1, clusters))
    for size in _chunks(permutations, clusters):
        yield rng.integers(0, 2, (size, clusters), dtype=np.int8).astype(np.float64) * 2 - 1


def _leave_one_out(sums: ArrayLike, statistic: Statistic) -> tuple[float, float, int] | None:
    """Return the statistic, its jackknife variance (NaN: there is none) and the number of clusters; None where undefined."""
    rows = np.asarray(sums, dtype=np.float64)
    if not len(rows):
        return None
    total = rows.sum(axis=0, keepdims=True)
    estimate = float(statistic(total)[0])
    if math.isnan(estimate):
        return None
    if len(rows) == 1:
        return estimate, math.nan, 1
    values = statistic(total - rows)
    variance = (len(rows) - 1) / len(rows) * float(np.square(values - values.mean()).sum())
    return estimate, 0.0 if variance < _ROUNDING**2 else variance, len(rows)


def _score_bounds(share: float, n: float, z: float) -> tuple[float, float]:
    """Return the bounds of Wilson's interval of a share of n trials, which need not be a whole number, at the quantile z."""
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - half) if share > 0 else 0.0, min(1.0, centre + half) if share < 1 else 1.0


def _student_t(degrees: int) -> float:
    """Return the 97.5% quantile of Student's t: in closed form, or by its expansion (Abramowitz & Stegun, 1964, 26.7.5)."""
    if degrees == 1:
        return math.tan(0.475 * math.pi)
    if degrees == 2:  # noqa: PLR2004 - the other closed form
        return 0.95 / math.sqrt(2 * 0.975 * 0.025)
    z = Z95
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
