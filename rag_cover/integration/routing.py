"""Routers made from names, files and objects, and their decisions; a pipeline takes a default route where a router fails."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rag_cover.backends import Retriever, fingerprint_of
from rag_cover.errors import InvalidValueError, nearest
from rag_cover.registry import Models
from rag_cover.routing import Caimira, ComplexityRouter, Demand, Probe, Route, SkillRecord, SkillRouter
from rag_cover.routing.skill_report import record_path

__all__ = ["Decision", "complexity_router_by", "decide_or_default", "for_agents", "refuse_unknown_route", "skill_router_by"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a router decided; ``error`` says why it could not, and ``route`` is the default then, with no numbers."""

    route: Route
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data; an error that did not happen is absent."""
        return self.route.to_dict() | ({} if self.error is None else {"error": self.error})


def decide_or_default(route: Callable[[], Route], *, default: str | None) -> Decision:
    """Let a router decide; take the default where anything fails, such as its retriever.

    Raises:
        Exception: what failed, where there is no default.
    """
    try:
        return Decision(route())
    except Exception as failed:
        if default is None:
            raise
        error = f"{type(failed).__name__}: {failed}"
        return Decision(Route(default, None, {}, f"The router failed ({error}), so the default is taken."), error)


def complexity_router_by(
    retriever: Retriever, models: Models, demands: Collection[Demand], *, k: int, cut: float | None
) -> ComplexityRouter:
    """Open the judge and what tells relevance, and set up a router whose routes are called as the demands are.

    Raises:
        InvalidValueError: demands without "direct" or "complex", or others, k below 1, or a cut below 0.
    """
    opened = models.open(["scorer", "relevance"])
    return ComplexityRouter(
        {demand: demand for demand in demands},
        retriever=retriever,
        scorer=opened["scorer"],
        relevance=opened.get("relevance"),
        k=k,
        cut=cut,
    )


def skill_router_by(
    skills: Path | str | SkillRouter,
    models: Models,
    *,
    costs: Mapping[str, float] | None,
    target: float | None,
    budget: float | None,
    exchange: float | None,
    agents: Sequence[str] | None,
    probe: Probe | None,
) -> SkillRouter:
    """Return a router, or make one of skills that were kept, by the embedder of the models.

    Args:
        skills: what ``rag-cover skills fit`` or `Caimira.save` kept, or a router.
        models: the embedder that the skills were fitted with; a router has its own.
        costs: cost of one question, by agent; None: those that were kept with the skills.
        target: the predicted success that the cheapest agent must reach.
        budget: what a question may cost at most.
        exchange: what a unit of cost is worth in probability of success.
        agents: choose among these only; None: all that the skills know.
        probe: measures complexity, for skills that are adjusted by it.

    Raises:
        InvalidValueError: an unknown agent, settings that contradict each other or stand beside a router.
        InputError: there are no such skills.
        CorruptFileError: the skills are damaged.
        UnfitModelError: they were fitted with another embedder.
    """
    if isinstance(skills, SkillRouter):
        _refuse_settings(costs=costs, target=target, budget=budget, exchange=exchange, probe=probe)
        return skills
    embedder = models.open(["embedder"])["embedder"]
    lacks_costs = costs is None and any(each is not None for each in (target, budget, exchange))
    is_needed = probe is not None or (lacks_costs and record_path(Path(skills)).exists())
    record = SkillRecord.load(Path(skills)) if is_needed else None
    adjustment = record.adjustment if record else None
    if lacks_costs and record is not None:
        costs = record.costs or None
    return SkillRouter(
        Caimira.load(Path(skills), encoder=fingerprint_of(embedder)),
        costs,
        embedder=embedder,
        target=target,
        budget=budget,
        exchange=exchange,
        agents=agents,
        adjustment=adjustment,
        probe=probe if adjustment is not None else None,
    )


def for_agents(agents: Sequence[str], given: Mapping[str, T], *, called: str) -> dict[str, T]:
    """Return what is given for each agent that may be chosen; ``called`` is the parameter that names these.

    Raises:
        InvalidValueError: nothing is given for one.
    """
    for agent in agents:
        if agent not in given:
            message = f"no {called.removesuffix('s')} is named for the agent {agent!r}, which may be chosen; "
            raise InvalidValueError(message + f"{called} has: {', '.join(given)}")
    return {agent: given[agent] for agent in agents}


def refuse_unknown_route(default: str, routes: Collection[str]) -> None:
    """Refuse a default that names no route.

    Raises:
        InvalidValueError: the default names no route.
    """
    if default not in routes:
        message = f"no route is called {default!r}.{nearest(default, list(routes))} There are: {', '.join(routes)}."
        raise InvalidValueError(message)


def _refuse_settings(**settings: object) -> None:
    if given := [name for name, value in settings.items() if value is not None]:
        message = f"a router has its own settings; make it with {given[0]}=… instead"
        raise InvalidValueError(message)
