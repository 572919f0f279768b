"""A skill model described for people: skills, what each dimension means, groups of questions, what routing gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.routing.costs import costs_of
from rag_cover.routing.frontiers import Frontier, trace_frontier
from rag_cover.routing.interpretation.clusters import QuestionCluster, cluster_questions, mean_success
from rag_cover.routing.interpretation.dimensions import Dimension, interpret_dimensions
from rag_cover.routing.skill_report import SkillRecord
from rag_cover.stats.intervals import Interval

__all__ = ["AgentSkills", "MapPoint", "SkillDescription", "describe_skills"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AgentSkills:
    """One agent: its success on the questions it was asked, its skill in each dimension, its cost where that is known.

    ``success`` is None where it was asked none.
    """

    name: str
    success: Interval | None
    skills: tuple[Interval, ...]
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class MapPoint:
    """One question on the map: its effective difficulty in two dimensions, its cluster, the share of agents that succeed."""

    question: str
    x: float
    y: float
    cluster: int
    success: float


@dataclass(frozen=True, slots=True)
class SkillDescription:
    """All that is reported about a skill model.

    ``axes`` are the dimensions, from 1, that the map shows: those in which questions differ most. ``best`` and ``oracle`` are
    the success of the best single agent and of always asking one that succeeds, over questions that all were asked; None
    where there are none. ``frontier`` is None without costs.
    """

    record: SkillRecord
    agents: tuple[AgentSkills, ...]
    dimensions: tuple[Dimension, ...]
    clusters: tuple[QuestionCluster, ...]
    points: tuple[MapPoint, ...]
    axes: tuple[int, ...]
    best: Interval | None
    oracle: Interval | None
    frontier: Frontier | None


def describe_skills(
    record: SkillRecord,
    skills: ArrayLike,
    intervals: ArrayLike,
    *,
    costs: Mapping[str, float] | None = None,
    clusters: int = 5,
    seed: int = 0,
) -> SkillDescription:
    """Describe a skill model by the record kept beside it.

    Args:
        record: what it was learnt from.
        skills: (a, m) of the record's agents.
        intervals: (a, m, 2) their 95% intervals.
        costs: of each agent, per question; None: those of the record, and without any no frontier.
        clusters: into how many groups the questions are put.
        seed: seed of the random generator (clusters and the frontier's resamples).

    Raises:
        InvalidValueError: a cost of an unknown agent, or none of a known one.
    """
    responses = record.responses
    given = record.costs or None if costs is None else costs
    prices = None if given is None else costs_of(given, responses.agents)
    effective = record.effective_difficulty
    found = cluster_questions(effective, responses.values, responses.agents, clusters=clusters, seed=seed)
    axes = tuple(int(place) for place in np.argsort(-effective.var(axis=0), kind="stable")[:2])
    best, oracle = _ends(responses.values)
    return SkillDescription(
        record=record,
        agents=_agents(record, np.asarray(skills, dtype=np.float64), np.asarray(intervals, dtype=np.float64), prices),
        dimensions=interpret_dimensions(record.relevance, responses.questions),
        clusters=found,
        points=_points(record, found, axes),
        axes=tuple(place + 1 for place in axes),
        best=best,
        oracle=oracle,
        frontier=None if prices is None else _frontier(record, prices, seed),
    )


def _agents(record: SkillRecord, skills: Floats, intervals: Floats, prices: Floats | None) -> tuple[AgentSkills, ...]:
    agents = [
        AgentSkills(
            name=name,
            success=mean_success(record.responses.values[:, place]),
            skills=tuple(_skill(value, bounds) for value, bounds in zip(skills[place], intervals[place], strict=True)),
            cost=None if prices is None else float(prices[place]),
        )
        for place, name in enumerate(record.responses.agents)
    ]
    return tuple(sorted(agents, key=lambda agent: -agent.success.estimate if agent.success else 0.0))


def _skill(value: float, bounds: Floats) -> Interval:
    lower, upper = (None if np.isnan(bound) else float(bound) for bound in bounds)
    return Interval(float(value), lower, upper, 0)


def _ends(values: Floats) -> tuple[Interval | None, Interval | None]:
    whole = values[~np.isnan(values).any(axis=1)]
    if not len(whole):
        return None, None
    best = whole[:, int(whole.mean(axis=0).argmax())]
    return mean_success(best), mean_success(whole.max(axis=1))


def _points(record: SkillRecord, clusters: Sequence[QuestionCluster], axes: Sequence[int]) -> tuple[MapPoint, ...]:
    belongs = {place: cluster.number for cluster in clusters for place in cluster.members}
    effective, values = record.effective_difficulty, record.responses.values
    success = [float(np.nanmean(row)) if not np.isnan(row).all() else float("nan") for row in values]
    ups = effective[:, axes[1]] if len(axes) > 1 else 1 - np.array(success)
    return tuple(
        MapPoint(question, float(x), float(y), belongs[place], share)
        for place, (question, x, y, share) in enumerate(
            zip(record.responses.questions, effective[:, axes[0]], ups, success, strict=True)
        )
    )


def _frontier(record: SkillRecord, prices: Floats, seed: int) -> Frontier | None:
    values = record.responses.values
    if np.isnan(values).any(axis=1).all():
        return None
    return trace_frontier(values, record.predicted, prices, agents=record.responses.agents, policy="exchange", seed=seed)
