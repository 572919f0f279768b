"""What CAIMIRA is held against: means, item response theory without content, and two simple learners on embeddings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rag_cover.routing.irt import cross_entropy, probabilities
from rag_cover.routing.minimisation import minimise

__all__ = ["agent_mean", "item_response", "logistic", "majority", "neighbours", "question_mean", "subject_mean"]

Floats = NDArray[np.float64]

_PRIOR = 1.0  # responses at the mean that a share starts with
_RIDGE = 3.0
_SHARPNESS = 0.3  # prior deviation of the logarithm of a question's discrimination
_HARDNESS = 6.0  # prior variance of difficulties: many questions are right for nearly all, or for nearly none
_ITERATIONS = 500


def majority(values: Floats, asked: int) -> Floats:
    """Say 1 everywhere, or 0, whichever is more frequent in values (n, a); for (asked, a)."""
    return np.full((asked, values.shape[1]), float(np.nanmean(values) >= 0.5))  # noqa: PLR2004 - the middle


def agent_mean(values: Floats, asked: int) -> Floats:
    """Say each agent's share of right responses."""
    return np.tile(np.nanmean(values, axis=0), (asked, 1))


def subject_mean(values: Floats, subjects: NDArray[np.str_], asked: NDArray[np.str_], *, prior: float = 5.0) -> Floats:
    """Say each agent's share of right responses in the subject of each question asked, with some responses at its mean."""
    means = np.nanmean(values, axis=0)
    found = np.tile(means, (len(asked), 1))
    for subject in set(asked.tolist()) & set(subjects.tolist()):
        inside = values[subjects == subject]
        counts = (~np.isnan(inside)).sum(axis=0)
        found[asked == subject] = (np.nansum(inside, axis=0) + prior * means) / (counts + prior)
    return found


def question_mean(values: Floats) -> Floats:
    """Say each question's share of right responses, with one response at the mean of all; (n, a) like the values."""
    seen = ~np.isnan(values)
    shares = (np.nansum(values, axis=1) + _PRIOR * np.nanmean(values)) / (seen.sum(axis=1) + _PRIOR)
    return np.repeat(shares[:, None], values.shape[1], axis=1)


def item_response(values: Floats, *, discriminates: bool) -> Floats:
    """Fit σ(a_j (θ_i - d_j)) with θ from N(mean, 1) and d from N(0, 6); a_j = 1 (1PL), or log-normal about 1 (2PL).

    Returns (n, a) like the values. It knows nothing of questions that nobody was asked.
    """
    n, a = values.shape
    seen, right = ~np.isnan(values), np.nan_to_num(values)

    def split(point: Floats) -> tuple[Floats, Floats, Floats]:
        return point[:a], point[a : a + n], point[a + n :] if discriminates else np.zeros(n)

    def objective(point: Floats) -> tuple[float, Floats]:
        ability, hard, sharp = split(point)
        slope, gap = np.exp(sharp)[:, None], ability - hard[:, None]
        pull = np.where(seen, probabilities(slope * gap) - right, 0.0)
        spread = ability - ability.mean()
        parts = [(slope * pull).sum(axis=0) + spread, -(slope * pull).sum(axis=1) + hard / _HARDNESS]
        held = (spread @ spread + hard @ hard / _HARDNESS) / 2
        if discriminates:
            parts.append((slope * gap * pull).sum(axis=1) + sharp / _SHARPNESS**2)
            held += sharp @ sharp / _SHARPNESS**2 / 2
        return float(np.where(seen, cross_entropy(slope * gap, right), 0.0).sum() + held), np.concatenate(parts)

    found = minimise(objective, np.zeros(a + n * (2 if discriminates else 1)), iterations=_ITERATIONS)
    ability, hard, sharp = split(found)
    return probabilities(np.exp(sharp)[:, None] * (ability - hard[:, None]))


def logistic(values: Floats, embeddings: Floats, asked: Floats) -> Floats:
    """Fit one logistic regression for each agent, and predict (asked, a)."""
    columns = [_regression(embeddings[seen], column[seen]) for column in values.T if (seen := ~np.isnan(column)).any()]
    return np.column_stack([probabilities(asked @ weights[:-1] + weights[-1]) for weights in columns])


def _regression(features: Floats, right: Floats) -> Floats:
    def objective(weights: Floats) -> tuple[float, Floats]:
        logits = features @ weights[:-1] + weights[-1]
        pull = probabilities(logits) - right
        held = _RIDGE * weights[:-1]
        value = cross_entropy(logits, right).sum() + held @ weights[:-1] / 2
        return float(value), np.append(features.T @ pull + held, pull.sum())

    return minimise(objective, np.zeros(features.shape[1] + 1), iterations=_ITERATIONS, tolerance=1e-4)


def neighbours(values: Floats, embeddings: Floats, asked: Floats, *, count: int = 100, prior: float = 10.0) -> Floats:
    """Say each agent's share among the nearest questions by cosine, with some responses at its mean."""
    means = np.nanmean(values, axis=0)
    nearest = np.argsort(-(asked @ embeddings.T), axis=1, kind="stable")[:, :count]
    near = values[nearest]
    return np.asarray((np.nansum(near, axis=1) + prior * means) / ((~np.isnan(near)).sum(axis=1) + prior))
