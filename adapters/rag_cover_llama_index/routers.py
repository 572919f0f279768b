"""Selectors for LlamaIndex's routers: by what retrieval brings back for a question, or by what each pipeline can do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.base_selector import BaseSelector, MultiSelection, SelectorResult, SingleSelection
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.indices.base import BaseIndex
from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolMetadata
from pydantic import Field, SerializeAsAny

from rag_cover.backends import Embedder, Relevance, Retriever, Scorer
from rag_cover.errors import InvalidValueError, nearest
from rag_cover.integration import Decision, complexity_router_by, decide_or_default, for_agents, refuse_blank, skill_router_by
from rag_cover.routing import Demand, Route, SkillRouter
from rag_cover_llama_index.models import models_of, retriever_of
from rag_cover_llama_index.searches import to_retriever

__all__ = [
    "Choice",
    "RetrievalComplexitySelector",
    "RoutedResult",
    "RoutedSelection",
    "RoutingSelector",
    "SkillSelector",
    "place_of",
]

Choice = str | int
"""A tool: its name, or its place among the choices."""

_DEFAULT = "default"


class RoutedSelection(SingleSelection):
    """A choice with what it rests on, as `rag_cover.routing.Route` has it.

    Attributes:
        route: what the question demands (``"direct"``, ``"complex"``, ``"unanswerable"``), or the agent; None where the router
            failed.
        tool: the chosen tool's name, None where it has none.
        probability: what was decided by, in [0, 1] (`rag_cover.routing.Route`); None where nothing tells.
        scores: the numbers it was weighed against, by name, such as each agent's predicted success.
        error: why the router failed and the default was taken; else None.
    """

    route: str | None = None
    tool: str | None = None
    probability: float | None = None
    scores: dict[str, float] = Field(default_factory=dict)
    error: str | None = None


class RoutedResult(MultiSelection):
    """A selection that is written out with all its fields."""

    selections: list[SerializeAsAny[SingleSelection]]


class RoutingSelector(BaseSelector):
    """Lets a router of rag_cover choose one tool; where it fails, takes the default or raises."""

    def __init__(self, route: Callable[[str], Route], tools: Mapping[str, Choice], default: Choice | None) -> None:
        self._route, self._tools, self._default = route, dict(tools), default

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Do nothing: there are no templates."""

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        places = {name: place_of(choice, choices) for name, choice in self._tools.items()}
        default = None if self._default is None else place_of(self._default, choices)
        decision = decide_or_default(
            lambda: self._route_question(query.query_str), default=None if default is None else _DEFAULT
        )
        if default is not None and decision.error is not None:
            return _result(_default_selection(default, choices, decision))
        return _result(_selection_of(decision.route, places[decision.route.name], choices))

    def _route_question(self, question: str) -> Route:
        refuse_blank(question)
        return self._route(question)

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return await asyncio.to_thread(self._select, choices, query)


class RetrievalComplexitySelector(RoutingSelector):
    """Chooses by what a retriever brings back: one passage answers, several together may, or this corpus does not.

    Gabburo et al., "Measuring retrieval complexity in question answering systems" (ACL Findings 2024), as
    `rag_cover.routing.ComplexityRouter` decides; that explains the settings. The retriever is asked once for each question.
    On small corpora such as FAQ pages it sends many questions that they answer to ``"unanswerable"``: try it on questions of
    your own before you give a route for these (docs/guides/complexity.md).

    Args:
        retriever: the one to probe; of an index, one that finds ``k`` nodes.
        routes: the tool for each demand, by name or place: ``{"direct": "vector_tool", "complex": "sub_question_tool"}``.
            Without one for ``"unanswerable"``, such questions go the complex way.
        judge: decides whether a passage answers the question; a language model judges, too.
        relevance: decides which words of the question a passage is about; None: the judge, where it can.
        k: how many passages to look at.
        cut: send a question the complex way from this P(complex) on; None: as the rule decides.
        default: the tool to take where probing or judging fails; None: the error is raised.

    Raises:
        InvalidValueError: routes without "direct" or "complex", or with others, k below 1, or a cut below 0.
    """

    def __init__(
        self,
        retriever: BaseRetriever | BaseIndex[Any] | Retriever,
        routes: Mapping[Demand, Choice],
        *,
        judge: str | Scorer | LLM = "embedded",
        relevance: str | Relevance | None = None,
        k: int = 10,
        cut: float | None = None,
        default: Choice | None = None,
    ) -> None:
        probed = to_retriever(retriever, top_k=k) if isinstance(retriever, BaseIndex) else retriever
        models = models_of(judge=judge, relevance=relevance)
        self.router = complexity_router_by(retriever_of(probed), models, routes, k=k, cut=cut)
        super().__init__(self.router.route, {str(demand): choice for demand, choice in routes.items()}, default)


class SkillSelector(RoutingSelector):
    """Chooses by the skills of each pipeline: the one most likely to succeed, or the cheapest that is likely enough.

    CAIMIRA (Gor et al., EMNLP 2024), as `rag_cover.routing.SkillRouter` decides; that explains the settings.

    Args:
        skills: what ``rag-cover skills fit`` or `Caimira.save` kept, or a router.
        tools: the tool for each agent that may be chosen, by name or place; None: tools are called as the agents are.
        embedder: the embedder that the skills were fitted with; a router has its own.
        costs: cost of one question, by agent; None: those that were kept with the skills, where any were.
        target: the predicted success that the cheapest agent must reach.
        budget: maximum cost of a question.
        exchange: probability of success that a unit of cost is worth.
        probe: measures complexity, for skills that are adjusted by it.
        default: the tool to take where the router fails; None: the error is raised.

    Raises:
        InvalidValueError: an unknown agent, one without a tool, settings that contradict each other or stand beside a router.
        InputError: there are no such skills.
        CorruptFileError: the skills are damaged.
        UnfitModelError: they were fitted with another embedder.
    """

    def __init__(  # noqa: PLR0913  # all but two by name
        self,
        skills: Path | str | SkillRouter,
        tools: Mapping[str, Choice] | None = None,
        *,
        embedder: str | Embedder | BaseEmbedding = "embedded",
        costs: Mapping[str, float] | None = None,
        target: float | None = None,
        budget: float | None = None,
        exchange: float | None = None,
        probe: RetrievalComplexitySelector | None = None,
        default: Choice | None = None,
    ) -> None:
        self.router = skill_router_by(
            skills,
            models_of(embedder=embedder),
            costs=costs,
            target=target,
            budget=budget,
            exchange=exchange,
            agents=None if tools is None else tuple(tools),
            probe=None if probe is None else probe.router.complexity,
        )
        agents = self.router.agents
        chosen = {agent: agent for agent in agents} if tools is None else for_agents(agents, tools, called="tools")
        super().__init__(self.router.route, chosen, default)


def place_of(choice: Choice, choices: Sequence[ToolMetadata]) -> int:
    """Find a tool among the choices.

    Raises:
        InvalidValueError: the router has no such tool.
    """
    names = [tool.name for tool in choices]
    if isinstance(choice, int) and 0 <= choice < len(names):
        return choice
    if isinstance(choice, str) and choice in names:
        return names.index(choice)
    known = [name for name in names if name]
    hint = nearest(choice, known) if isinstance(choice, str) else f" Places go from 0 to {len(names) - 1}."
    message = f"no tool is called {choice!r}.{hint} The router has: {', '.join(known) or 'none with a name'}."
    raise InvalidValueError(message)


def _selection_of(route: Route, place: int, choices: Sequence[ToolMetadata]) -> RoutedSelection:
    return RoutedSelection(
        index=place,
        reason=route.reason,
        route=route.name,
        tool=choices[place].name,
        probability=route.probability,
        scores=dict(route.scores),
    )


def _default_selection(place: int, choices: Sequence[ToolMetadata], decision: Decision) -> RoutedSelection:
    return RoutedSelection(index=place, reason=decision.route.reason, tool=choices[place].name, error=decision.error)


def _result(selection: RoutedSelection) -> RoutedResult:
    return RoutedResult(selections=[selection])
