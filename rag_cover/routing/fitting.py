"""What fitting CAIMIRA minimises, with its gradient, and where the search starts.

With N observed responses, the objective is that of the paper and, beside it, Gaussian priors:

    mean cross-entropy + B λ_s mean Σ|s| + B λ_d mean Σ|d|                  the paper's; means over responses
    + [b (‖W_R‖² + ‖b_R‖²) + c ‖W̄_D‖² + c' Σ_k ‖W_Dk - W̄_D‖²
       + κ Σ_i ‖s_i - s̄_i‖² + κ' Σ_i (s̄_i - s̄)² + κ'' Σ_k (s̄_k - s̄)²] / 2N   priors

The priors are hierarchical: what makes a question hard in one dimension is held near what makes it hard at all (W̄_D, the mean
over the dimensions), an agent's skills near their mean s̄_i, agents' means near that of all (s̄), and the mean skill s̄_k of a
dimension too, since a difference there that all agents share is difficulty by another name. Where responses do not tell
dimensions apart, the model is then that of one dimension. The paper sums its penalties over the responses of a batch of 512:
B = 512 keeps their weight beside the mean cross-entropy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_cover.routing.irt import cross_entropy, probabilities, relevance
from rag_cover.routing.minimisation import Objective

__all__ = ["BATCH", "Layout", "Observations", "Priors", "objective_of", "observations_of", "starting_point"]

Floats = NDArray[np.float64]

BATCH = 512
_SMOOTH = 1e-8  # |x| as √(x² + this), which has a gradient at 0


@dataclass(frozen=True, slots=True)
class Priors:
    """How strongly what is fitted is held back: λ_s, λ_d, b, c, c', κ, κ', κ'' of the objective, in this order."""

    skill: float = 0.0
    difficulty: float = 0.0
    relevance: float = 0.0
    content: float = 0.0
    content_apart: float = 0.0
    skill_apart: float = 0.0
    agents_apart: float = 0.0
    dimensions_apart: float = 0.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parameters stand in one vector: skills (a, m), W_R (m, d), b_R (m), W_D (m, d)."""

    agents: int
    dimensions: int
    features: int

    @property
    def size(self) -> int:
        """Count the parameters."""
        return self.dimensions * (self.agents + 2 * self.features + 1)

    def split(self, point: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return views of skills, W_R, b_R and W_D."""
        a, m, d = self.agents, self.dimensions, self.features
        skills, weights, bias, content = np.split(point, np.cumsum([a * m, m * d, m]))
        return skills.reshape(a, m), weights.reshape(m, d), bias, content.reshape(m, d)


@dataclass(frozen=True, slots=True)
class Observations:
    """Centred features (n, d) with labels (n, a); ``seen`` (n, a) is 1 where a label was observed, else 0."""

    features: Floats
    labels: Floats
    seen: Floats

    def of(self, questions: NDArray[np.bool_]) -> Observations:
        """Keep some questions."""
        return Observations(self.features[questions], self.labels[questions], self.seen[questions])


def observations_of(features: Floats, values: Floats) -> Observations:
    """Take NaN for what was not observed."""
    seen = ~np.isnan(values)
    return Observations(features, np.where(seen, values, 0.0), seen.astype(np.float64))


def starting_point(layout: Layout, seed: int) -> Floats:
    """Draw skills and weights so that dimensions differ from the start: where all are alike the gradient cannot part them."""
    point = np.random.default_rng(seed).normal(0.0, 0.1, layout.size)
    layout.split(point)[2][:] = 0.0
    return point


def objective_of(observed: Observations, layout: Layout, priors: Priors, temperature: float) -> Objective:
    """Return the objective of the module's docstring and its gradient, as a function of the parameters in one vector."""
    n = float(observed.seen.sum())

    def objective(point: Floats) -> tuple[float, Floats]:
        gradient = np.zeros_like(point)
        parameters, into = layout.split(point), layout.split(gradient)
        value = _misfit(observed, parameters, into, priors, temperature, n)
        return value + _add_prior_penalty(parameters, into, priors, n), gradient

    return objective


_Four = tuple[Floats, Floats, Floats, Floats]


def _misfit(observed: Observations, parameters: _Four, into: _Four, priors: Priors, temperature: float, n: float) -> float:
    """Return the paper's loss and write its gradient."""
    skills, weights, bias, content = parameters
    relevances = relevance(observed.features, weights, bias, temperature)
    difficulties = observed.features @ content.T
    logits = relevances @ skills.T - (relevances * difficulties).sum(axis=1, keepdims=True)
    residuals = observed.seen * (probabilities(logits) - observed.labels) / n
    pull = residuals.sum(axis=1, keepdims=True)

    to_relevance = residuals @ skills - pull * difficulties
    to_scores = relevances * (to_relevance - (to_relevance * relevances).sum(axis=1, keepdims=True)) / temperature
    penalty_s, slope_s = _absolute(skills, BATCH * priors.skill * observed.seen.sum(axis=0)[:, None] / n)
    penalty_d, slope_d = _absolute(difficulties, BATCH * priors.difficulty * observed.seen.sum(axis=1)[:, None] / n)
    into[0][:] = residuals.T @ relevances + slope_s
    into[1][:] = to_scores.T @ observed.features
    into[2][:] = to_scores.sum(axis=0)
    into[3][:] = (slope_d - pull * relevances).T @ observed.features
    return float((observed.seen * cross_entropy(logits, observed.labels)).sum() / n) + penalty_s + penalty_d


def _absolute(values: Floats, weights: Floats) -> tuple[float, Floats]:
    sizes = np.sqrt(values**2 + _SMOOTH)
    return float((weights * sizes).sum()), weights * values / sizes


def _add_prior_penalty(parameters: _Four, into: _Four, priors: Priors, n: float) -> float:
    """Return the priors' value and add their gradient."""
    skills, weights, bias, content = parameters
    m = len(bias)
    means, shared = skills.mean(axis=1, keepdims=True), content.mean(axis=0, keepdims=True)
    apart, means_apart, content_apart = skills - means, means - means.mean(), content - shared
    common = skills.mean(axis=0) - skills.mean()
    held = priors.skill_apart * apart + priors.agents_apart * means_apart / m + priors.dimensions_apart * common / len(skills)
    into[0][:] += held / n
    into[1][:] += priors.relevance * weights / n
    into[2][:] += priors.relevance * bias / n
    into[3][:] += (priors.content_apart * content_apart + priors.content * shared / m) / n
    squares = (
        priors.relevance * ((weights**2).sum() + (bias**2).sum())
        + priors.content * (shared**2).sum()
        + priors.content_apart * (content_apart**2).sum()
        + priors.skill_apart * (apart**2).sum()
        + priors.agents_apart * (means_apart**2).sum()
        + priors.dimensions_apart * (common**2).sum()
    )
    return float(squares) / (2 * n)
