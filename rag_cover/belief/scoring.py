"""From sampled answers to a belief: weights, scores, entropy, and how far a score would vary with other samples.

Dai et al., "SePer: measure retrieval utility through the lens of semantic perplexity reduction" (ICLR 2025), §3, as their
release computes it: l_i = mean_t log p(t) and w_i = exp(l_i) / Σ_k exp(l_k) (their eq. 7 has the sum over tokens).

A *kernel* is the (n, references) matrix of how far each of n answers agrees with each reference, in [0, 1]. A belief is the
kernel's weighted sum over the answers, for the reference where that is highest, or its mean over the references.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import InvalidValueError

__all__ = [
    "Over",
    "agreements_of",
    "bootstrap_scores",
    "cluster_masses",
    "entropy_of",
    "hard_kernel",
    "likelihood_weights",
    "score_of",
    "soft_kernel",
    "uniform_weights",
]

Floats = NDArray[np.float64]
Over = Literal["best", "mean"]
"""What a belief is taken over: the reference it is highest in, or the mean of all."""

_TOLERANCE = 1e-6  # servers round log-probabilities of certain tokens to a hair above 0


def likelihood_weights(token_logprobs: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Weigh each answer by exp of its mean token log-probability; the weights sum to 1.

    An answer with a token at -inf weighs 0. Equal answers are not merged: each counts.

    >>> [round(weight, 3) for weight in likelihood_weights([[math.log(0.6)], [math.log(0.1), math.log(0.4)]])]
    [0.75, 0.25]

    Raises:
        InvalidValueError: no answers, one without log-probabilities, a NaN or positive one, or no answer of any probability.
    """
    if not token_logprobs:
        message = "there are no samples; a belief needs at least one"
        raise InvalidValueError(message)
    means = [_mean_of(logprobs, position) for position, logprobs in enumerate(token_logprobs)]
    peak = max(means)  # subtracted so that exp() cannot underflow to 0/0
    if peak == -math.inf:
        message = f"all {len(means)} samples have probability 0 (a token at -inf in each); nothing can be weighed by that"
        raise InvalidValueError(message)
    likelihoods = [math.exp(mean - peak) for mean in means]
    total = math.fsum(likelihoods)
    return tuple(likelihood / total for likelihood in likelihoods)


def _mean_of(logprobs: Sequence[float], position: int) -> float:
    if not len(logprobs):
        message = (
            f"samples[{position}] has no token log-probabilities; leave the preset out, or use 'unbiased', which needs none"
        )
        raise InvalidValueError(message)
    for token, value in enumerate(logprobs):
        if math.isnan(value) or value > _TOLERANCE:
            message = f"samples[{position}].token_logprobs[{token}] is {value}; a log-probability is at most 0, and a number"
            raise InvalidValueError(message)
    return -math.inf if -math.inf in logprobs else math.fsum(logprobs) / len(logprobs)


def uniform_weights(n: int) -> tuple[float, ...]:
    """Weigh n sampled answers alike, which is unbiased: likely answers are already sampled more often.

    Raises:
        InvalidValueError: no answers.
    """
    if n < 1:
        message = "there are no samples; a belief needs at least one"
        raise InvalidValueError(message)
    return (1 / n,) * n


def soft_kernel(forward: Floats, backward: Floats) -> Floats:
    """Take the higher of P(answer entails reference) and P(reference entails answer), each (n, references)."""
    kernel: Floats = np.maximum(forward, backward)
    return kernel


def hard_kernel(clusters: Sequence[int], founders_agree: Mapping[int, Sequence[bool]]) -> Floats:
    """Give every answer the verdict on its cluster's founder, (n, references).

    >>> hard_kernel([0, 1, 0], {0: [True], 1: [False]}).tolist()
    [[1.0], [0.0], [1.0]]
    """
    return np.array([founders_agree[cluster] for cluster in clusters], dtype=np.float64)


def score_of(weights: Sequence[float], kernel: Floats, *, over: Over) -> float:
    """Sum up the belief, in [0, 1]; the order of the answers does not change it, not even by a rounding.

    >>> kernel = np.array([[1.0, 0.0], [0.5, 0.25]])
    >>> score_of([0.5, 0.5], kernel, over="best"), score_of([0.5, 0.5], kernel, over="mean")
    (0.75, 0.4375)
    """
    toward = _toward_each(weights, kernel)
    return min(1.0, max(toward) if over == "best" else math.fsum(toward) / len(toward))


def agreements_of(weights: Sequence[float], kernel: Floats, *, over: Over) -> tuple[float, ...]:
    """Return each answer's share in the score: Σ_i w_i · agreement_i is `score_of`."""
    if over == "mean":
        return tuple(map(float, kernel.mean(axis=1)))
    toward = _toward_each(weights, kernel)
    return tuple(map(float, kernel[:, toward.index(max(toward))]))


def _toward_each(weights: Sequence[float], kernel: Floats) -> list[float]:
    return [math.fsum(weight * value for weight, value in zip(weights, column, strict=True)) for column in kernel.T.tolist()]


def cluster_masses(weights: Sequence[float], clusters: Sequence[int]) -> tuple[float, ...]:
    """Add up the weights in each cluster: p(C) = Σ_{i∈C} w_i, by cluster number.

    >>> cluster_masses([0.5, 0.25, 0.25], [0, 1, 0])
    (0.75, 0.25)
    """
    return tuple(
        math.fsum(weight for weight, each in zip(weights, clusters, strict=True) if each == cluster)
        for cluster in range(max(clusters, default=-1) + 1)
    )


def entropy_of(masses: Sequence[float]) -> float:
    """Return -Σ p ln p in nats; what has no mass says nothing.

    >>> round(entropy_of([0.5, 0.5, 0.0]), 6), entropy_of([1.0])
    (0.693147, 0.0)
    """
    return max(0.0, -math.fsum(mass * math.log(mass) for mass in masses if mass > 0))


def bootstrap_scores(
    weights: Sequence[float], kernel: Floats, *, over: Over, seed: Sequence[int], resamples: int = 2000
) -> Floats | None:
    """Score bootstrap resamples of the answers, (resamples,), each with its weights summing to 1 again.

    None where there are fewer than two answers. Resamples of answers that weigh nothing are NaN.
    """
    n = len(weights)
    if n < 2:  # noqa: PLR2004  # one answer cannot vary
        return None
    drawn = _resample_counts(n, resamples, tuple(seed)) * np.asarray(weights)
    totals = drawn.sum(axis=1, keepdims=True)
    toward = np.divide(drawn @ kernel, totals, out=np.full((resamples, kernel.shape[1]), np.nan), where=totals > 0)
    scores: Floats = toward.max(axis=1) if over == "best" else toward.mean(axis=1)
    return scores


@lru_cache(maxsize=64)
def _resample_counts(n: int, resamples: int, seed: tuple[int, ...]) -> Floats:
    """Draw how often each of n answers is in each resample; kept, since drawing costs far more than scoring."""
    counts: Floats = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)
    counts.setflags(write=False)
    return counts
