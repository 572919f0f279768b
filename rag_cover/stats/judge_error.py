r"""Intervals that hold a judge's errors: how far its probabilities lie off on texts of a new kind.

A judge's probabilities p are calibrated on the texts that it was fitted on. On another set they lie off by a shift δ of their
logits, the same for all of the set ("calibration in the large": Cox, "Two further applications of a model for binary
regression", 1958; Steyerberg, "Clinical Prediction Models", 2009, §15.3):

    P(a person says yes) = sigmoid(logit p + δ)

δ of each labelled set is its maximum-likelihood estimate (`estimate_shift`). Over sets it is normally distributed, with flat
priors of mean and standard deviation (Gelman, "Prior distributions for variance parameters in hierarchical models", 2006); mean
and standard deviation of the predictive distribution of a new set are kept. Labels of the very texts make it surer
(`update_shift`). A share is then Σ sigmoid(logit p + δ) / n over questions drawn with replacement; the middle 95% of such draws
is its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.calibration_shift import CalibrationShift
from rag_cover.errors import InvalidValueError
from rag_cover.stats.intervals import Interval
from rag_cover.stats.logistic import PROBABILITY_EDGE, logits_of, probabilities

__all__ = [
    "difference_interval",
    "estimate_shift",
    "fit_shift",
    "loss_intervals",
    "share_interval",
    "update_shift",
]

Floats = NDArray[np.float64]
Judged = tuple[ArrayLike, ArrayLike]
"""Probabilities (n,) of a set of texts and their labels (n,), 0 or 1."""

_DRAWS = 1000
_MOST = 4_000_000  # probabilities of all draws: of more, fewer draws are made
_LEAST_DRAWS = 200
_AT_ONCE = 500_000  # probabilities computed together
_LEAST_SETS = 3
_FAR = 8.0
_WIDEST, _SPREADS = 4.0, 401  # the grid of standard deviations between sets, in logits


def fit_shift(sets: Sequence[Judged], *, cut: float = 0.5) -> CalibrationShift:
    """Fit the shift of a new set of texts to labelled sets.

    Args:
        sets: probabilities and labels of each.
        cut: the probability from which the judge says yes, for `CalibrationShift.agreed`.

    Raises:
        InvalidValueError: fewer than three sets, or not one label for each probability.
    """
    if len(sets) < _LEAST_SETS:
        message = f"a shift between sets needs {_LEAST_SETS} sets at least, not {len(sets)}"
        raise InvalidValueError(message)
    shifts, variances = np.array([estimate_shift(*each) for each in sets]).T
    mean, spread = _predict(shifts, variances)
    labels = [np.asarray(each[1], dtype=bool) for each in sets]
    agreed = sum(int(((np.asarray(judged) >= cut) == truth).sum()) for (judged, _), truth in zip(sets, labels, strict=True))
    return CalibrationShift(
        shift=mean,
        spread=spread,
        sets=len(sets),
        labels=sum(map(len, labels)),
        agreed=agreed,
    )


def estimate_shift(judged: ArrayLike, labels: ArrayLike) -> tuple[float, float]:
    """Return the shift of the logits that makes the probabilities of one set add up to its labels, and its variance.

    Half a label is added to either side, so that labels of one kind do not shift without bound.

    Raises:
        InvalidValueError: no labels, or not one for each probability.
    """
    logits, truth = _logits(judged), np.asarray(labels, dtype=np.float64)
    if not len(truth) or len(truth) != len(logits):
        message = f"a shift needs labels, one for each probability, not {len(truth)} for {len(logits)}"
        raise InvalidValueError(message)
    wanted = (truth.sum() + 0.5) / (len(truth) + 1) * len(truth)
    low, high = -_FAR, _FAR
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if probabilities(logits + middle).sum() < wanted else (low, middle)
    shifted = probabilities(logits + low)
    return low, float(1 / (shifted * (1 - shifted)).sum())


def update_shift(prior: CalibrationShift | None, judged: ArrayLike, labels: ArrayLike) -> CalibrationShift:
    """Return the shift of a set of texts of which some are labelled: that of other sets and its own, each by its precision.

    Raises:
        InvalidValueError: no labels, or not one for each probability.
    """
    own, variance = estimate_shift(judged, labels)
    if prior is None:
        return CalibrationShift(own, float(np.sqrt(variance)), 1, len(np.asarray(labels)), _agreed(judged, labels))
    weights = np.array([1 / prior.spread**2, 1 / variance])
    mean = float(weights @ (prior.shift, own) / weights.sum())
    return CalibrationShift(
        mean,
        float(1 / np.sqrt(weights.sum())),
        prior.sets,
        len(np.asarray(labels)),
        _agreed(judged, labels),
    )


def share_interval(
    judged: ArrayLike, questions: Sequence[Hashable], shift: CalibrationShift, *, seed: int = 0
) -> Interval | None:
    """Return the share that people would say yes to, with its 95% interval; None without probabilities.

    Args:
        judged: (n,) probabilities, as if the cut were a half.
        questions: (n,) what is resampled as one.
        shift: the judge's calibration shift on texts like these.
        seed: seed of the random generator.
    """
    logits = _logits(judged)
    if not len(logits):
        return None
    places, count = _places(questions)
    drawn = _draw([logits], [shift], places, count, lambda chances, weights: _mean(chances[0], weights), seed)
    return _central(drawn, count)


def difference_interval(
    a: tuple[ArrayLike, Sequence[Hashable]],
    b: tuple[ArrayLike, Sequence[Hashable]],
    shift: CalibrationShift,
    *,
    seed: int = 0,
) -> Interval | None:
    """Return the difference b - a of two shares with its 95% interval; None where a side has no probabilities.

    The judge's shift is taken to be the same on both sides, and the same questions are resampled for both.

    Args:
        a: (n,) probabilities of the one side and the (n,) questions they are of.
        b: those of the other side.
        shift: the judge's calibration shift on texts like these.
        seed: seed of the random generator.
    """
    logits = np.concatenate([_logits(a[0]), _logits(b[0])])
    is_b = np.arange(len(logits)) >= len(a[1])
    if is_b.all() or not is_b.any():
        return None
    places, count = _places([*a[1], *b[1]])

    def difference(chances: Sequence[Floats], weights: Floats) -> Floats:
        return _mean(chances[0], weights * is_b) - _mean(chances[0], weights * ~is_b)

    return _central(_draw([logits], [shift], places, count, difference, seed), count)


def loss_intervals(
    evidence: ArrayLike, questions: Sequence[Hashable], reply: CalibrationShift, passage: CalibrationShift, *, seed: int = 0
) -> tuple[Interval, Interval, Interval] | None:
    """Return how many sub-questions were in the prompt and not used, dropped before it, never retrieved, as people would count.

    Each with its 95% interval; None without evidence.

    Args:
        evidence: (n, 3) probabilities that the answer, a passage of the prompt and a retrieved passage cover a sub-question.
        questions: (n,) what is resampled as one.
        reply: the judge's shift on replies.
        passage: that on passages.
        seed: seed of the random generator.
    """
    table = np.asarray(evidence, dtype=np.float64).reshape(-1, 3)
    if not len(table):
        return None
    places, count = _places(questions)

    def losses(chances: Sequence[Floats], weights: Floats) -> Floats:
        answered, prompt, retrieved = chances
        parts = (prompt, (1 - prompt) * retrieved, (1 - prompt) * (1 - retrieved))
        return np.stack([len(table) * _mean((1 - answered) * part, weights) for part in parts], axis=-1)

    drawn = _draw([*map(_logits, table.T)], [reply, passage, passage], places, count, losses, seed)
    unused, dropped, missing = (_central(drawn[:, column], count) for column in range(3))
    return (unused, dropped, missing) if unused and dropped and missing else None


def _draw(
    logits: Sequence[Floats],
    shifts: Sequence[CalibrationShift],
    places: NDArray[np.intp],
    count: int,
    statistic: Callable[[Sequence[Floats], Floats], Floats],
    seed: int,
) -> Floats:
    """Draw shifts, equal ones once, and questions with replacement, and return the statistic of each draw.

    The statistic maps chances, each (draws, n), and weights (draws, n) to (draws, ...).
    """
    rng = np.random.default_rng(seed)
    draws = min(_DRAWS, max(_LEAST_DRAWS, _MOST // len(places)))
    drawn = {shift: _draw_shift(shift, draws, rng) for shift in shifts}
    weights = rng.multinomial(count, np.full(count, 1 / count), size=draws).astype(np.float64)
    together = max(1, _AT_ONCE // len(places))
    parts = [slice(start, start + together) for start in range(0, draws, together)]
    return np.concatenate(
        [
            statistic(
                [probabilities(each + drawn[shift][part, None]) for each, shift in zip(logits, shifts, strict=True)],
                weights[part][:, places],
            )
            for part in parts
        ]
    )


def _draw_shift(shift: CalibrationShift, draws: int, rng: np.random.Generator) -> Floats:
    return np.asarray(shift.shift + shift.spread * rng.standard_normal(draws))


def _mean(values: Floats, weights: Floats) -> Floats:
    """Return weighted means along the last axis, NaN where there is no weight."""
    totals = weights.sum(axis=-1)
    sums = (values * weights).sum(axis=-1)
    return np.asarray(np.divide(sums, totals, out=np.full(totals.shape, np.nan), where=totals > 0))


def _central(drawn: Floats, questions: int) -> Interval | None:
    usable = drawn[~np.isnan(drawn)]
    if not len(usable):
        return None
    estimate, lower, upper = (float(each) for each in np.quantile(usable, [0.5, 0.025, 0.975]))
    return Interval(estimate, lower, upper, questions)


def _predict(shifts: Floats, variances: Floats) -> tuple[float, float]:
    """Return mean and standard deviation of a new set's shift: averages over the posterior of the spread between sets."""
    spreads = np.linspace(0, _WIDEST, _SPREADS)
    weights = 1 / (variances + spreads[:, None] ** 2)
    totals = weights.sum(axis=1)
    means = weights @ shifts / totals
    residuals = (weights * (shifts - means[:, None]) ** 2).sum(axis=1)
    logs = (np.log(weights).sum(axis=1) - np.log(totals) - residuals) / 2
    posterior = np.exp(logs - logs.max())
    posterior /= posterior.sum()
    mean = float(posterior @ means)
    return mean, float(np.sqrt(posterior @ (spreads**2 + 1 / totals + (means - mean) ** 2)))


def _agreed(judged: ArrayLike, labels: ArrayLike) -> int:
    return int(((np.asarray(judged) >= 0.5) == np.asarray(labels, dtype=bool)).sum())  # noqa: PLR2004 - the cut


def _logits(judged: ArrayLike) -> Floats:
    return logits_of(judged, edge=PROBABILITY_EDGE)


def _places(questions: Sequence[Hashable]) -> tuple[NDArray[np.intp], int]:
    found: dict[Hashable, int] = {}
    places = np.array([found.setdefault(each, len(found)) for each in questions], dtype=np.intp)
    return places, len(found)
