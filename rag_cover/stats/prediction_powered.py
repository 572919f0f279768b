"""A share from few labels and many judgments: prediction-powered inference.

Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, "Prediction-powered inference" (Science, 2023), for a mean; with the power
tuning of Angelopoulos, Duchi and Zrnic, "PPI++" (2023), §6. With labels y and judgments f of the n labelled rows L and
judgments of the N unlabelled rows U:

    estimate(λ) = mean_L(y - λ f) + λ mean_U(f)

which is right on average for every λ, however wrong the judge; a good judge makes it surer. Rows of one question are one
cluster c, labelled or not, whose influence on the estimate is a_c - λ b_c:

    a_c = Σ_{L∩c} (y - mean_L y) / n        b_c = Σ_{L∩c} (f - mean_L f) / n - Σ_{U∩c} (f - mean_U f) / N

The variance is the sum of their squares (see `cluster_robust`); λ = Σ a_c b_c / Σ b_c², kept in [0, 1], makes it smallest. For
clusters of one row that is PPI++'s λ = Cov(y, f) / (Var_L(f) + n/N Var_U(f)). A useless judge has λ = 0: what is left are the
labels alone.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError
from rag_cover.stats.intervals import Z95, Interval, cluster_robust

__all__ = [
    "LEAST_LABELS",
    "LEAST_QUESTIONS",
    "Powered",
    "count_labels_needed",
    "estimate_labelled_share",
    "estimate_powered_share",
    "half_width_of_all",
]

Floats = NDArray[np.float64]

LEAST_LABELS = 50
"""The labels from which a share is given an interval (Angelopoulos et al. speak of large samples)."""
LEAST_QUESTIONS = 10
"""And the questions these must be of: the rows of one question are one observation."""
_ROUNDING = 1e-24  # squares of what is left of equal judgments when their mean is taken from them


@dataclass(frozen=True, slots=True)
class Powered:
    """A share with its interval; ``weight`` is λ, from 0 (the judge is of no use) to 1.

    ``gap`` is how far the judgments of labelled rows lie above those of unlabelled ones: away from 0, the labelled rows are
    no random sample of all, and the share means nothing. None without unlabelled rows.
    """

    share: Interval
    weight: float
    gap: Interval | None


def estimate_labelled_share(labels: ArrayLike, keys: Sequence[Hashable]) -> Interval:
    """Return the share of positive labels with its cluster-robust interval, from the labels alone.

    >>> interval = estimate_labelled_share([1, 0] * 30, range(60))
    >>> interval.estimate, round(interval.lower, 3)
    (0.5, 0.37)

    Raises:
        InvalidValueError: there are no labels.
    """
    return estimate_powered_share(labels, np.zeros(len(keys)), keys, [], []).share


def estimate_powered_share(
    labels: ArrayLike,
    judged: ArrayLike,
    keys: Sequence[Hashable],
    judged_unlabelled: ArrayLike,
    keys_unlabelled: Sequence[Hashable],
) -> Powered:
    """Return the share of positive labels over labelled and unlabelled rows.

    Args:
        labels: (n,) of the labelled rows.
        judged: (n,) what the judge says of them: verdicts or probabilities.
        keys: their clusters.
        judged_unlabelled: (N,) what it says of the unlabelled rows; there may be none.
        keys_unlabelled: their clusters; one may hold labelled and unlabelled rows.

    Raises:
        InvalidValueError: there are no labels, or not as many judgments and keys as rows.
    """
    y, f, unlabelled = (np.asarray(values, dtype=np.float64) for values in (labels, judged, judged_unlabelled))
    if not len(y) or not len(y) == len(f) == len(keys) or len(unlabelled) != len(keys_unlabelled):
        message = (
            f"a share needs labels, and a judgment and a key for each row, not {len(y)} labels, {len(f)} judgments and "
            f"{len(keys)} keys, {len(unlabelled)} judgments and {len(keys_unlabelled)} keys of unlabelled rows"
        )
        raise InvalidValueError(message)
    own, others, clusters = _places(keys, keys_unlabelled)
    free = len(set(keys)) - 1  # the labelled clusters decide how sure the variance is
    a = _means_by_cluster(y, own, clusters)
    b = _means_by_cluster(f, own, clusters)
    if len(unlabelled):
        b -= _means_by_cluster(unlabelled, others, clusters)
    weight = _weight(a, b) if len(unlabelled) else 0.0
    difference = float(f.mean() - unlabelled.mean()) if len(unlabelled) else 0.0
    share = cluster_robust(float(y.mean()) - weight * difference, a - weight * b, degrees=free)
    gap = cluster_robust(difference, b, degrees=free) if len(unlabelled) else None
    return Powered(_within_0_and_1(share), weight, gap)


def count_labels_needed(
    labels: ArrayLike,
    judged: ArrayLike,
    keys: Sequence[Hashable],
    judged_unlabelled: ArrayLike,
    keys_unlabelled: Sequence[Hashable],
    *,
    half_width: float,
) -> int | None:
    """Estimate how many labels, those at hand among them, make the interval of a share this narrow; None where all do not.

    The labels' part of the variance is taken to shrink as 1/n, with λ chosen anew; that of the unlabelled rows stays:

        n' = min over λ of n V_L(λ) / ((half_width / 1.96)² - V_U(λ))

    with V_L and V_U the sums over clusters of the squared influences of labelled and of unlabelled rows. It is no less than
    `LEAST_LABELS`.

    >>> labels = [1, 0] * 30
    >>> count_labels_needed(labels, [0.5] * 60, range(60), [0.5] * 900, range(100, 1000), half_width=0.05)
    385

    Raises:
        InvalidValueError: there are no labels.
    """
    y, f, others = (np.asarray(values, dtype=np.float64) for values in (labels, judged, judged_unlabelled))
    if not len(y):
        message = "how many labels are needed can be told from some labels; there are none"
        raise InvalidValueError(message)
    own, theirs, clusters = _places(keys, keys_unlabelled)
    a, b = (_means_by_cluster(values, own, clusters) for values in (y, f))
    c = _means_by_cluster(others, theirs, clusters) if len(others) else np.zeros(clusters)
    weights = np.linspace(0, 1, 21) if len(others) else np.zeros(1)
    left = (half_width / Z95) ** 2 - weights**2 * float(c @ c)
    influences = a[None, :] - weights[:, None] * b[None, :]
    needed = len(y) * np.square(influences).sum(axis=1)[left > 0] / left[left > 0]
    least = max(LEAST_LABELS, math.ceil(round(float(needed.min()), 6)))
    return least if least <= len(y) + len(others) else None


def half_width_of_all(labels: ArrayLike, keys: Sequence[Hashable], rows: int) -> float:
    """Estimate the half-width of a share's interval once all rows are labelled: the variance shrinks as 1/n.

    >>> round(half_width_of_all([1, 0] * 30, range(60), 240), 3)
    0.063

    Raises:
        InvalidValueError: there are no labels.
    """
    y = np.asarray(labels, dtype=np.float64)
    if not len(y):
        message = "how narrow an interval can become can be told from some labels; there are none"
        raise InvalidValueError(message)
    own, _, clusters = _places(keys, [])
    a = _means_by_cluster(y, own, clusters)
    return Z95 * math.sqrt(float(a @ a) * len(y) / rows)


def _places(keys: Sequence[Hashable], others: Sequence[Hashable]) -> tuple[list[int], list[int], int]:
    found: dict[Hashable, int] = {}
    own, theirs = ([found.setdefault(key, len(found)) for key in each] for each in (keys, others))
    return own, theirs, len(found)


def _means_by_cluster(values: Floats, places: Sequence[int], clusters: int) -> Floats:
    """Return what each cluster adds to the mean, less the mean's own share in it."""
    sums = np.zeros(clusters)
    np.add.at(sums, places, values - values.mean())
    return sums / len(values)


def _weight(a: Floats, b: Floats) -> float:
    spread = float(b @ b)
    return min(1.0, max(0.0, float(a @ b) / spread)) if spread > _ROUNDING else 0.0


def _within_0_and_1(interval: Interval) -> Interval:
    lower, upper = (None if end is None else min(1.0, max(0.0, end)) for end in (interval.lower, interval.upper))
    return Interval(min(1.0, max(0.0, interval.estimate)), lower, upper, interval.n)
