"""How sure fitted skills are: Laplace's approximation, with what is unknown of the questions taken into account.

The curvature of the objective at its minimum is the expected information of all parameters together (skills, W_R, b_R, W_D)
plus the priors' precision. A skill's covariance is its block of the inverse of the whole: with questions taken as known (the
inverse of the block) intervals come out too narrow, because where the questions' difficulties go the skills go with them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rag_cover.routing.fitting import Layout, Observations, Priors
from rag_cover.routing.irt import probabilities, relevance

__all__ = ["skill_covariances"]

Floats = NDArray[np.float64]

_JITTER = 1e-9  # of the largest curvature: without priors a shift of all relevance scores changes nothing


def skill_covariances(observed: Observations, layout: Layout, priors: Priors, temperature: float, point: Floats) -> Floats:
    """Return (a, m, m), the covariance of each agent's skills at the minimum ``point``."""
    a, m = layout.agents, layout.dimensions
    skills, weights, bias, content = layout.split(point)
    relevances = relevance(observed.features, weights, bias, temperature)
    difficulties = observed.features @ content.T
    predicted = probabilities(relevances @ skills.T - (relevances * difficulties).sum(axis=1, keepdims=True))
    curvature = observed.seen * predicted * (1 - predicted)
    slopes = _slopes(skills, relevances, difficulties, temperature)
    tables = [np.hstack([observed.features, np.ones((len(relevances), 1))])] * m + [observed.features] * m

    of_items = _information(curvature, slopes, tables) + _item_priors(layout, priors)
    across = np.hstack(
        [_cross_information(relevances, curvature * slope, table) for slope, table in zip(slopes, tables, strict=True)]
    )
    of_skills = _skill_information(curvature, relevances) + _skill_priors(layout, priors)
    whole = _add_jitter(of_skills - across @ np.linalg.solve(_add_jitter(of_items), across.T))
    inverse = np.linalg.inv(whole).reshape(a, m, a, m)
    return np.stack([inverse[agent, :, agent, :] for agent in range(a)])


def _slopes(skills: Floats, relevances: Floats, difficulties: Floats, temperature: float) -> Floats:
    """Return (2m, n, a): how each logit moves with the question's m relevance scores and its m difficulties."""
    gaps = skills.T[:, None, :] - difficulties.T[:, :, None]
    mean = (relevances.T[:, :, None] * gaps).sum(axis=0)
    by_score = relevances.T[:, :, None] * (gaps - mean) / temperature
    return np.concatenate([by_score, np.broadcast_to(-relevances.T[:, :, None], by_score.shape)])


def _information(curvature: Floats, slopes: Floats, tables: list[Floats]) -> Floats:
    blocks = [
        [(left.T * (curvature * slopes[i] * slopes[j]).sum(axis=1)) @ right for j, right in enumerate(tables)]
        for i, left in enumerate(tables)
    ]
    return np.asarray(np.block(blocks), dtype=np.float64)


def _cross_information(relevances: Floats, moved: Floats, table: Floats) -> Floats:
    """Return (a·m, f): the information that skills and one column of weights share."""
    both = moved[:, :, None] * relevances[:, None, :]
    return np.asarray(both.reshape(len(both), -1).T @ table)


def _skill_information(curvature: Floats, relevances: Floats) -> Floats:
    a, m = curvature.shape[1], relevances.shape[1]
    found = np.zeros((a, m, a, m))
    for agent in range(a):
        found[agent, :, agent, :] = (relevances.T * curvature[:, agent]) @ relevances
    return found.reshape(a * m, a * m)


def _skill_priors(layout: Layout, priors: Priors) -> Floats:
    a, m = layout.agents, layout.dimensions
    apart, means_apart = np.eye(m) - 1 / m, np.eye(a) - 1 / a
    between = np.kron(means_apart, np.full((m, m), priors.agents_apart / m**2))
    common = np.kron(np.full((a, a), priors.dimensions_apart / a**2), apart)
    return np.asarray(np.kron(np.eye(a), priors.skill_apart * apart) + between + common, dtype=np.float64)


def _item_priors(layout: Layout, priors: Priors) -> Floats:
    m, d = layout.dimensions, layout.features
    shared = priors.content_apart * (np.eye(m) - 1 / m) + np.full((m, m), priors.content / m**2)
    found = np.zeros((m * (2 * d + 1), m * (2 * d + 1)))
    scores = m * (d + 1)
    found[:scores, :scores] = priors.relevance * np.eye(scores)
    found[scores:, scores:] = np.kron(shared, np.eye(d))
    return found


def _add_jitter(matrix: Floats) -> Floats:
    return np.asarray(matrix + _JITTER * np.abs(matrix).max() * np.eye(len(matrix)))
