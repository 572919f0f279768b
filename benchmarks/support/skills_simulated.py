"""Responses drawn from a known model, to see whether a fit finds what they were drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from rag_cover.routing import Caimira, Responses

__all__ = ["Recovery", "World", "recovered", "simulated"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A model that is known, the features of questions, and responses drawn from it."""

    model: Caimira
    features: Floats
    responses: Responses


@dataclass(frozen=True, slots=True)
class Recovery:
    """How well a fit found skills and effective difficulties, by correlation; how many intervals hold the truth."""

    skills: float
    difficulties: float
    covered: int
    intervals: int


def simulated(questions: int, agents: int, dimensions: int, *, features: int = 16, seed: int = 0) -> World:
    """Draw a world: features, skills and difficulties standard normal, difficulties centred on these questions."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(questions, features))
    skills = rng.normal(size=(agents, dimensions))
    relevance = rng.normal(size=(dimensions, features)) * 2 / np.sqrt(features)
    difficulty = rng.normal(size=(dimensions, features)) / np.sqrt(features)
    model = Caimira.from_parameters(skills, relevance, np.zeros(dimensions), difficulty, (rows @ difficulty.T).mean(axis=0))
    values = (rng.random((questions, agents)) < model.predict(rows)).astype(np.float64)
    return World(model, rows, Responses(model.agents, [f"question {number}" for number in range(questions)], values))


def recovered(world: World, fitted: Caimira) -> Recovery:
    """Compare a fit with the world it was fitted to, dimensions in the order that suits it best."""
    order = max(_orders(world.model.skills.shape[1]), key=lambda each: _alike(world.model.skills, fitted.skills[:, each]))
    truth = world.model.relevance(world.features) * world.model.difficulty(world.features)
    found = (fitted.relevance(world.features) * fitted.difficulty(world.features))[:, order]
    ends = fitted.skill_intervals[:, order]
    inside = (ends[..., 0] <= world.model.skills) & (world.model.skills <= ends[..., 1])
    return Recovery(
        skills=_alike(world.model.skills, fitted.skills[:, order]),
        difficulties=_alike(truth, found),
        covered=int(inside.sum()),
        intervals=inside.size,
    )


def _orders(dimensions: int) -> Iterator[list[int]]:
    return map(list, permutations(range(dimensions)))


def _alike(a: Floats, b: Floats) -> float:
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])
