r"""A share with the judge's errors in its interval: from how often the judge was right on texts that people labelled.

Of texts that people call positive a judge finds the sensitivity s, of the others it rightly refuses the specificity c. It
calls q = s π + (1 - c)(1 - π) of the texts positive where a share π is (Rogan and Gladen, "Estimating prevalence from the
results of a screening test", 1978). Neither s nor c is known for new texts. They vary between sets of texts, and each set with
labels shows them by few texts; both at once is the bivariate random-effects model of diagnostic tests on the logit scale
(Reitsma et al., "Bivariate analysis of sensitivity and specificity …", 2005), fitted here by moments (DerSimonian and Laird,
1986). Its predictive distribution for one new set is the prior of (s, c); the prior of π is flat, so that the posterior is

    P(π | k of n positive) ∝ Σ_(s, c) q^k (1 - q)^(n - k)

with k and n divided by the design effect where verdicts of one question are alike (Kish, 1965). A judge no better than chance
leaves π anywhere in [0, 1], as it should.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError
from rag_cover.stats.intervals import Interval
from rag_cover.stats.logistic import probabilities

__all__ = ["ErrorRates", "design_effect", "difference_interval", "fit_error_rates", "share_interval"]

Floats = NDArray[np.float64]

_DRAWS = 4000
_GRID = 501
_LEAST_SETS = 3
_EDGE = 1e-6


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Sensitivity and specificity of a judge on one new set of texts: a bivariate normal on the logit scale.

    ``mean`` (2,) and ``covariance`` (2, 2) are of logit sensitivity and logit specificity; ``sets`` and ``labels`` count what
    they rest on.
    """

    mean: tuple[float, float]
    covariance: tuple[tuple[float, float], tuple[float, float]]
    sets: int
    labels: int

    def draw(self, draws: int = _DRAWS, *, seed: int = 0) -> Floats:
        """Draw (draws, 2) sensitivities and specificities of a new set, by Student's t with sets - 1 degrees of freedom."""
        rng = np.random.default_rng(seed)
        free = max(self.sets - 1, 1)
        normal = rng.multivariate_normal(np.zeros(2), np.array(self.covariance), size=draws, method="eigh")
        heavier = np.sqrt(free / rng.chisquare(free, size=(draws, 1)))
        return probabilities(np.array(self.mean) + normal * heavier)


def fit_error_rates(counts: ArrayLike) -> ErrorRates:
    """Fit the error rates of a judge to its verdicts on labelled sets.

    Args:
        counts: (sets, 4) of each set: positives found, positives, negatives refused, negatives. Each set has both.

    Raises:
        InvalidValueError: fewer than three sets, a set without positives or negatives, or more found than there are.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 4 or len(table) < _LEAST_SETS:  # noqa: PLR2004 - the four columns
        message = f"error rates need (sets, 4) counts of three sets at least, not {table.shape}"
        raise InvalidValueError(message)
    right, n = table[:, [0, 2]], table[:, [1, 3]]
    if (n < 1).any() or (right < 0).any() or (right > n).any():
        message = "each set needs positives and negatives, and no more of them found than there are"
        raise InvalidValueError(message)
    shares = (right + 0.5) / (n + 1)
    values: Floats = np.log(shares / (1 - shares))
    within = 1 / (right + 0.5) + 1 / (n - right + 0.5)
    between = _between(values, within)
    weights = 1 / (within + np.diag(between))
    mean = (weights * values).sum(axis=0) / weights.sum(axis=0)
    covariance = between + np.diag(1 / weights.sum(axis=0))
    (a, b), (c, d) = covariance.tolist()
    return ErrorRates((float(mean[0]), float(mean[1])), ((a, b), (c, d)), len(table), int(n.sum()))


def share_interval(positives: float, n: float, rates: ErrorRates, *, effect: float = 1.0, seed: int = 0) -> Interval:
    """Return the share of texts that people would call positive, with its central 95% posterior interval.

    Args:
        positives: how many of the texts the judge calls positive.
        n: how many texts there are, at least 1.
        rates: of the judge, on texts like these.
        effect: the design effect of clustering (`design_effect`), at least 1.
        seed: seed of the random generator.

    Raises:
        InvalidValueError: no texts, or more positives than texts.
    """
    if n < 1 or not 0 <= positives <= n:
        message = f"a share needs 0 <= positives <= n and n >= 1, not {positives} of {n}"
        raise InvalidValueError(message)
    grid = np.linspace(0, 1, _GRID)
    posterior = _likelihoods(positives / effect, n / effect, rates.draw(seed=seed), grid).sum(axis=0)
    return Interval(*_central(grid, posterior), n=int(n))


def difference_interval(
    sums_a: ArrayLike, sums_b: ArrayLike, rates: ErrorRates, *, draws: int = _DRAWS, seed: int = 0
) -> Interval | None:
    """Return the difference B - A of two shares on the same questions, with a 95% interval that holds the judge's errors.

    The judge errs alike on both sides, so that the difference of shares is the difference of verdicts divided by s + c - 1.
    None for fewer than two questions.

    Args:
        sums_a: (questions, 2): positive verdicts and verdicts of each question, of one side.
        sums_b: the same of the other side, row by row the same questions.
        rates: of the judge, on texts like these.
        draws: how many error rates and resamples are drawn.
        seed: seed of the random generator.
    """
    a, b = np.asarray(sums_a, dtype=np.float64), np.asarray(sums_b, dtype=np.float64)
    if len(a) < 2 or a.shape != b.shape:  # noqa: PLR2004 - an interval needs two
        return None
    rng = np.random.default_rng(seed)
    picked = rng.multinomial(len(a), np.full(len(a), 1 / len(a)), size=draws).astype(np.float64)
    of_a, of_b = picked @ a, picked @ b
    with np.errstate(invalid="ignore", divide="ignore"):
        differences = of_b[:, 0] / of_b[:, 1] - of_a[:, 0] / of_a[:, 1]
    rates_drawn = rates.draw(draws, seed=seed)
    skill = rates_drawn.sum(axis=1) - 1
    totals = a.sum(axis=0) + b.sum(axis=0)
    weights = _likelihoods(totals[0], totals[1], rates_drawn, np.linspace(0, 1, 101)).sum(axis=1)
    usable = ~np.isnan(differences) & (skill > _EDGE)
    if not usable.any():
        return None
    values = np.clip(differences[usable] / skill[usable], -1, 1)
    order = np.argsort(values)
    mass = np.cumsum(weights[usable][order])
    ends = [float(values[order][min(np.searchsorted(mass, part * mass[-1]), len(order) - 1)]) for part in (0.5, 0.025, 0.975)]
    return Interval(ends[0], ends[1], ends[2], len(a))


def design_effect(sums: ArrayLike) -> float:
    """Return how many times the variance of a share is that of independent verdicts, at least 1.

    Args:
        sums: (questions, 2): positive verdicts and verdicts of each question.

    >>> design_effect([(2, 2), (0, 2), (2, 2), (0, 2)])
    2.6666666666666665
    """
    rows = np.asarray(sums, dtype=np.float64)
    rows = rows[rows[:, 1] > 0]
    n = rows[:, 1].sum()
    if len(rows) < 2:  # noqa: PLR2004 - a variance needs two
        return 1.0
    share = rows[:, 0].sum() / n
    if share in (0.0, 1.0):
        return max(1.0, float((rows[:, 1] ** 2).sum() / n))  # all alike: nothing tells that they are not
    residuals = rows[:, 0] - share * rows[:, 1]
    clustered = len(rows) / (len(rows) - 1) * float(residuals @ residuals) / n**2
    return max(1.0, float(clustered / (share * (1 - share) / n)))


def _between(values: Floats, within: Floats) -> Floats:
    """Estimate the covariance (2, 2) between sets by moments: what the spread exceeds that of sampling."""
    variances = []
    for column in range(2):
        weights = 1 / within[:, column]
        centre = (weights * values[:, column]).sum() / weights.sum()
        excess = (weights * (values[:, column] - centre) ** 2).sum() - (len(values) - 1)
        scale = weights.sum() - (weights**2).sum() / weights.sum()
        variances.append(max(0.0, float(excess / scale)))
    covariance = float(np.cov(values.T)[0, 1])  # sampling errors of the two are independent, and add nothing
    bound = 0.95 * float(np.sqrt(variances[0] * variances[1]))
    covariance = min(max(covariance, -bound), bound)
    return np.array([[variances[0], covariance], [covariance, variances[1]]])


def _likelihoods(positives: float, n: float, rates: Floats, grid: Floats) -> Floats:
    """Return (draws, grid) likelihoods of k of n positive verdicts, relative to the highest of them."""
    called = np.clip(rates[:, :1] * grid + (1 - rates[:, 1:]) * (1 - grid), _EDGE, 1 - _EDGE)
    logs = positives * np.log(called) + (n - positives) * np.log1p(-called)
    return np.asarray(np.exp(logs - logs.max()))


def _central(grid: Floats, density: Floats) -> tuple[float, float, float]:
    """Return the median and the central 95% of a density on a grid, by linear interpolation."""
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    median, lower, upper = np.interp(np.array([0.5, 0.025, 0.975]) * mass[-1], mass, grid)
    return float(median), float(lower), float(upper)
