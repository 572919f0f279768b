"""Routers as middleware of ``create_agent``: they choose the model, the tools or the depth of retrieval for each question.

    agent = create_agent(large, [search], middleware=[ComplexityRoutingMiddleware(retriever, models={"direct": small})])

What was decided stands in the agent's state until the next question, and goes to callbacks as the custom event
``rag_cover_route``. Needs ``pip install langchain``, which the rest of the adapter does without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypeVar

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from rag_cover import routing
from rag_cover.backends import Embedder, Relevance, Scorer
from rag_cover.complexity import Complexity
from rag_cover.errors import InvalidValueError
from rag_cover.integration import complexity_router_by, for_agents, skill_router_by
from rag_cover.questions import Question
from rag_cover.routing import Demand, Route
from rag_cover_langchain.models import Writer, models_of, retriever_of
from rag_cover_langchain.routed_agents import RoutingMiddleware, means_by_route
from rag_cover_langchain.routers import Probed

from langchain.agents.middleware import AgentState  # isort: skip  # who lacks it is told so by routed_agents
from langchain.agents.middleware.types import PrivateStateAttr  # isort: skip

__all__ = ["ComplexityRoutedState", "ComplexityRoutingMiddleware", "SkillRoutedState", "SkillRoutingMiddleware"]

Name = TypeVar("Name", bound=str)

_ALWAYS: tuple[Demand, ...] = ("direct", "complex")
"""The demands that a router needs a route for."""


class ComplexityRoutedState(AgentState[Any]):
    """An agent's state with what a `ComplexityRoutingMiddleware` decided."""

    rag_cover_complexity: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class SkillRoutedState(AgentState[Any]):
    """An agent's state with what a `SkillRoutingMiddleware` decided."""

    rag_cover_skill: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class ComplexityRoutingMiddleware(RoutingMiddleware):
    """Chooses an agent's model, tools or retrieval depth by what a retriever finds for the question.

    Gabburo et al., "Measuring retrieval complexity in question answering systems" (ACL Findings 2024), as
    `rag_cover.routing.ComplexityRouter` decides; that explains the settings. The retriever is asked once for each question: the
    last human message, before the agent runs. The decision stands in the state under ``rag_cover_complexity``, which
    ``get_state`` shows with a checkpointer, and under ``routes`` in the metadata of the recorded trace.

    What is named for no demand stays the agent's own. A question that is unanswerable by the corpus goes the complex way unless
    something is named for ``"unanswerable"``.

    Args:
        retriever: the one to probe, for ``k`` documents where it may be asked for a number.
        models: the model for each demand, ``"direct"``, ``"complex"`` or ``"unanswerable"``: a chat model, or what
            ``init_chat_model`` takes.
        tools: the only tools that the model is shown, likewise: names of the agent's, or tools, which it then has.
        depths: how many documents to retrieve, likewise: tools with the argument ``depth_argument`` are called with it,
            whatever the model asked for; others find it as ``state["rag_cover_complexity"]["depth"]`` of their ``ToolRuntime``.
        depth_argument: what tools call that number.
        judge: decides whether a passage answers the question; a chat model judges, too.
        relevance: decides which words of the question a passage is about; None: the judge, where it can.
        k: how many documents to look at.
        cut: send a question the complex way from this P(complex) on; None: as the rule decides.
        default: the demand to assume where probing or judging fails; None: the agent's own model and tools, with a warning in
            the log.

    Raises:
        InvalidValueError: nothing to choose, a demand that there is not, a number out of range; on a call, a tool that the
            agent does not have.
    """

    key = "rag_cover_complexity"
    state_schema = ComplexityRoutedState

    def __init__(  # noqa: PLR0913  # all but the retriever by name
        self,
        retriever: Probed,
        *,
        models: Mapping[Demand, str | BaseChatModel] | None = None,
        tools: Mapping[Demand, Sequence[str | BaseTool]] | None = None,
        depths: Mapping[Demand, int] | None = None,
        depth_argument: str = "k",
        judge: str | Scorer | Writer = "embedded",
        relevance: str | Relevance | None = None,
        k: int = 10,
        cut: float | None = None,
        default: Demand | None = None,
    ) -> None:
        demands = _list_names(models, tools, depths)
        demands += [each for each in _ALWAYS if each not in demands]
        asked = models_of(judge=judge, relevance=relevance)
        self.router = complexity_router_by(retriever_of(retriever), asked, demands, k=k, cut=cut)
        means = means_by_route(demands, models=models or {}, tools=tools or {}, depths=depths or {})
        super().__init__(means, default=default, depth_argument=depth_argument)
        self.tools = _tools_in(tools)

    def complexity(self, question: Question | str) -> Complexity:
        """Return how complex a question is for what is retrieved for it.

        Raises:
            ModelFailedError: the judge failed on every passage.
        """
        return self.router.complexity(question)

    def _route(self, question: str) -> Route:
        return self.router.route(question)


class SkillRoutingMiddleware(RoutingMiddleware):
    """Chooses an agent's model, tools or retrieval depth by the skills of each choice.

    CAIMIRA (Gor et al., EMNLP 2024), as `rag_cover.routing.SkillRouter` decides; that explains the settings. What the skills
    call agents are here the choices among models, tools or depths: ``models={"small": …, "large": …}``. The decision is made
    for the last human message, before the agent runs, and stands in the state under ``rag_cover_skill``.

    Args:
        skills: path of the skills that ``rag-cover skills fit`` or `rag_cover.routing.Caimira.save` wrote, or a router of
            rag_cover's.
        models: the model for each that may be chosen: a chat model, or what ``init_chat_model`` takes.
        tools: the only tools that the model is shown, likewise: names of the agent's, or tools, which it then has.
        depths: how many documents to retrieve, likewise: tools with the argument ``depth_argument`` are called with it,
            whatever the model asked for; others find it as ``state["rag_cover_skill"]["depth"]`` of their ``ToolRuntime``.
        depth_argument: what tools call that number.
        embedder: the embedder that the skills were fitted with; a router of rag_cover's has its own.
        costs: cost of one question, by agent.
        target: the predicted success that the cheapest agent must reach.
        budget: maximum cost of a question.
        exchange: probability of success that a unit of cost is worth.
        probe: measures complexity, for skills that are adjusted by it.
        default: the one to take where the router fails; None: the agent's own model and tools, with a warning in the log.

    Raises:
        InvalidValueError: nothing to choose, an unknown agent, settings that contradict each other or stand beside a router; on
            a call, a tool that the agent does not have.
        InputError: there are no such skills.
        CorruptFileError: the skills are damaged.
        UnfitModelError: they were fitted with another embedder.
    """

    key = "rag_cover_skill"
    state_schema = SkillRoutedState

    def __init__(  # noqa: PLR0913  # all but the skills by name
        self,
        skills: Path | str | routing.SkillRouter,
        *,
        models: Mapping[str, str | BaseChatModel] | None = None,
        tools: Mapping[str, Sequence[str | BaseTool]] | None = None,
        depths: Mapping[str, int] | None = None,
        depth_argument: str = "k",
        embedder: str | Embedder | Embeddings = "embedded",
        costs: Mapping[str, float] | None = None,
        target: float | None = None,
        budget: float | None = None,
        exchange: float | None = None,
        probe: ComplexityRoutingMiddleware | None = None,
        default: str | None = None,
    ) -> None:
        agents = _list_names(models, tools, depths)
        self.router = skill_router_by(
            skills,
            models_of(embedder=embedder),
            costs=costs,
            target=target,
            budget=budget,
            exchange=exchange,
            agents=agents,
            probe=None if probe is None else probe.complexity,
        )
        means = means_by_route(agents, models=models or {}, tools=tools or {}, depths=depths or {})
        given = {"models": models, "tools": tools, "depths": depths}
        chosen = for_agents(self.router.agents, means, called=next(name for name, each in given.items() if each))
        super().__init__(chosen, default=default, depth_argument=depth_argument)
        self.tools = _tools_in(tools)

    def _route(self, question: str) -> Route:
        return self.router.route(question)


def _list_names(*given: Mapping[Name, object] | None) -> list[Name]:
    """List for whom something is given, once each.

    Raises:
        InvalidValueError: nothing is given for anybody.
    """
    names = list(dict.fromkeys(name for each in given for name in each or {}))
    if not names:
        message = "there is nothing to choose; give models=…, tools=… or depths=…, such as models={'direct': small}"
        raise InvalidValueError(message)
    return names


def _tools_in(tools: Mapping[Name, Sequence[str | BaseTool]] | None) -> list[BaseTool]:
    """List the tools that are given as such, once each; the agent has them, too."""
    given = [tool for each in (tools or {}).values() for tool in each if not isinstance(tool, str)]
    return list({tool.name: tool for tool in given}.values())
