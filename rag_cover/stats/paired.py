"""The numbers of a component study: paired differences with their tests, Holm's correction, the frontier of worth and length.

Questions are the units: a difference is the mean over questions of after - before, its interval is Student's t's, its
p-value swaps the two sides of a question (Good, 2005, ch. 3). Of m tests, Holm's step-down procedure compares the i-th
smallest p-value with α/(m - i + 1), so that any false finding among them has probability at most α (Holm, 1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError
from rag_cover.stats.intervals import Interval, jackknife, swaps

__all__ = ["PairedDifference", "compare_pairs", "frontier_shares", "holm", "mean_intervals", "on_frontier"]

Floats = NDArray[np.float64]

_AT_ONCE = 4_000_000  # comparisons, or weights, held in memory
_ROUNDING = 1e-9  # what a sum of differences may be off by
_DIGITS = 12  # means that differ by less are equal: their sums were rounded


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean over questions of after - before, with its 95% interval and the two-sided p-value of the paired test."""

    interval: Interval
    p_value: float


def mean_intervals(values: ArrayLike) -> list[Interval]:
    """Give the mean of each column of (questions, columns) its 95% interval (Student's t).

    >>> [interval.estimate for interval in mean_intervals([[0.5, 0.0], [0.5, 1.0]])]
    [0.5, 0.5]

    Raises:
        InvalidValueError: no questions, or a value that is undefined (NaN).
    """
    table = np.asarray(values, dtype=np.float64)
    if not len(table):
        message = "a mean over questions needs one at least"
        raise InvalidValueError(message)
    if np.isnan(table).any():
        message = "a mean over questions needs a number of each; leave out the questions without one"
        raise InvalidValueError(message)
    rows = np.stack([table.T, np.ones_like(table.T)], axis=2)
    return [interval for each in rows if (interval := jackknife(each, _mean))]


def compare_pairs(before: ArrayLike, after: ArrayLike, *, permutations: int = 10_000, seed: int = 0) -> list[PairedDifference]:
    """Compare pairs of settings, column by column of (questions, pairs), question by question.

    Few questions are swapped in all ways; of many, the observed arrangement counts among those drawn, so that no p-value is 0.

    >>> (paired,) = compare_pairs([[0.1], [0.2], [0.3]], [[0.3], [0.4], [0.5]])
    >>> round(paired.interval.estimate, 6), round(paired.p_value, 2)
    (0.2, 0.25)

    Raises:
        InvalidValueError: tables of two shapes, no questions, or a value that is undefined (NaN).
    """
    if np.shape(before) != np.shape(after):
        message = f"both sides need the same questions and pairs, not {np.shape(before)} and {np.shape(after)}"
        raise InvalidValueError(message)
    differences = np.round(np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64), _DIGITS)
    observed = np.abs(differences.sum(axis=0)) - _ROUNDING
    at_least, tried = np.zeros(differences.shape[1]), 0
    for signs in swaps(len(differences), permutations=permutations, seed=seed):
        at_least += (np.abs(signs @ differences) >= observed).sum(axis=0)
        tried += len(signs)
    intervals = mean_intervals(differences)
    return [PairedDifference(interval, float(p_value)) for interval, p_value in zip(intervals, at_least / tried, strict=True)]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust the p-values of one family of tests, in their order; compare the result with α itself.

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    adjusted = [0.0] * len(p_values)
    reached = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = reached
    return tuple(adjusted)


def on_frontier(worth: ArrayLike, length: ArrayLike) -> NDArray[np.bool_]:
    """Return which settings (last axis) no other beats: at least as much worth at no more length, and better in one.

    >>> on_frontier([0.1, 0.3, 0.2], [100, 200, 300]).tolist()
    [True, True, False]
    """
    worths, lengths = np.round(np.asarray(worth, float), _DIGITS), np.round(np.asarray(length, float), _DIGITS)
    more, less = worths[..., None, :] >= worths[..., :, None], lengths[..., None, :] <= lengths[..., :, None]
    better = (worths[..., None, :] > worths[..., :, None]) | (lengths[..., None, :] < lengths[..., :, None])
    return np.asarray(~(more & less & better).any(axis=-1))


def frontier_shares(worth: ArrayLike, length: ArrayLike, *, resamples: int = 2000, seed: int = 0) -> Floats:
    """Return in what share of resampled question sets each setting is on the frontier, so how sure its place there is.

    Args:
        worth: (questions, settings).
        length: (questions, settings).
        resamples: how many question sets to draw.
        seed: seed of the random generator.
    """
    worths, lengths = np.asarray(worth, dtype=np.float64), np.asarray(length, dtype=np.float64)
    times = np.zeros(worths.shape[1])
    for weights in _resample_questions(len(worths), resamples, seed, worths.shape[1] ** 2):
        times += on_frontier(weights @ worths, weights @ lengths).sum(axis=0)
    return times / resamples


def _resample_questions(questions: int, resamples: int, seed: int, width: int) -> Iterator[Floats]:
    """Draw question sets as (draws, questions) weights that sum to 1, few enough at once for (draws, width) results, too."""
    share, rng = np.full(questions, 1 / questions), np.random.default_rng(seed)
    at_once = max(1, _AT_ONCE // max(questions, width))
    for done in range(0, resamples, at_once):
        yield rng.multinomial(questions, share, size=min(at_once, resamples - done)) / questions


def _mean(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])
