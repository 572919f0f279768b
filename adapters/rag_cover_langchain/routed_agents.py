"""The base class of the agent middleware: one routing decision for each question, and the model, tools and depth it implies."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable, run_in_executor
from langchain_core.tools import BaseTool

from rag_cover.errors import InvalidValueError, RagCoverError, nearest
from rag_cover.integration import Decision, describe_argument, refuse_below, refuse_unknown_route
from rag_cover.routing import Route
from rag_cover_langchain.route_events import adispatch_decision, decision_on, dispatch_decision


class MissingLangChainError(RagCoverError, ImportError):
    """Middleware for agents, where only the core of LangChain is installed."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"Middleware needs the package {package!r}, which is not installed: pip install langchain", name=package
        )
        self.package = package


try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse, ToolCallRequest
    from langchain.chat_models import init_chat_model
    from langgraph.errors import GraphBubbleUp
    from langgraph.runtime import Runtime
except ModuleNotFoundError as missing:
    if missing.name is None or (package := missing.name.partition(".")[0]) not in ("langchain", "langgraph"):
        raise
    raise MissingLangChainError(package) from missing

__all__ = ["Means", "MissingLangChainError", "RoutingMiddleware", "means_by_route"]

_LOG = logging.getLogger(__name__)

Name = TypeVar("Name", bound=str)

Call = Callable[[ModelRequest[Any]], ModelResponse[Any]]
AsyncCall = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
ToolCall = Callable[[ToolCallRequest], Any]


@dataclass(frozen=True, slots=True)
class Means:
    """What an agent works with on one route: a model, tools by name, a depth of retrieval; None leaves the agent's own."""

    model: BaseChatModel | None = None
    tools: tuple[str, ...] | None = None
    depth: int | None = None


class RoutingMiddleware(AgentMiddleware[Any, Any, Any]):
    """Decides on the last human message before an agent runs, and gives it the means of that route until the next one.

    ``key`` is where the decision stands in the agent's state: ``route``, ``probability``, ``scores``, ``reason``, an ``error``
    if there was one, the ``depth`` where one is set, and the ``message`` that it is for.
    """

    key: ClassVar[str]

    def __init__(self, means: Mapping[str, Means], *, default: str | None, depth_argument: str) -> None:
        super().__init__()
        if default is not None:
            refuse_unknown_route(default, means)
        self.means, self.default, self.depth_argument = dict(means), default, depth_argument

    @abstractmethod
    def _route(self, question: str) -> Route:
        """Choose a route by name."""

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002  # the hook's
        """Decide, unless that was done for this message; where that fails, the agent goes on with its own means."""
        asked = self._find_undecided(state)
        if asked is None:
            return None
        decision = self._decision_or_none(asked)
        if decision is None:
            return self._without_decision(state)
        dispatch_decision(decision)
        return self._state_update(decision, asked)

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Decide in a worker thread, unless that was done for this message, as `before_agent` does."""
        asked = self._find_undecided(state)
        if asked is None:
            return None
        decision = await run_in_executor(None, self._decision_or_none, asked)
        if decision is None:
            return self._without_decision(state)
        await adispatch_decision(decision)
        return self._state_update(decision, asked)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Call) -> ModelResponse[Any]:
        """Call the model of the route, with its tools."""
        return handler(self._with_means(request))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncCall) -> ModelResponse[Any]:
        """Call the model of the route, with its tools."""
        return await handler(self._with_means(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: ToolCall) -> Any:
        """Call a tool that takes a depth with that of the route."""
        return handler(self._with_depth(request))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolCall) -> Any:
        """Call a tool that takes a depth with that of the route."""
        return await handler(self._with_depth(request))

    def _find_undecided(self, state: AgentState[Any]) -> list[HumanMessage] | None:
        """Return the last human message, none at all where nobody spoke; None where it was decided on."""
        asked = next((each for each in reversed(state["messages"]) if isinstance(each, HumanMessage)), None)
        if asked is None:
            return []
        decided = state.get(self.key)
        known = isinstance(decided, Mapping) and asked.id is not None and decided["message"] == asked.id
        return None if known else [asked]

    def _decision_or_none(self, asked: Sequence[HumanMessage]) -> Decision | None:
        """Decide; where the message is blank or the router fails, and there is no default, warn and return None."""
        try:
            return decision_on(asked, self._route, config=None, default=self.default)
        except GraphBubbleUp:  # no failure: the graph is interrupted
            raise
        except Exception as error:  # noqa: BLE001  # a hook that the framework calls: an agent answers without a route, too
            _LOG.warning("%s decided nothing: %s: %s", type(self).__name__, type(error).__name__, error)
            return None

    def _without_decision(self, state: AgentState[Any]) -> dict[str, Any] | None:
        """Forget what was decided for an earlier message."""
        return {self.key: None} if self.key in state else None

    def _state_update(self, decision: Decision, asked: Sequence[HumanMessage]) -> dict[str, Any]:
        depth = self.means[decision.route.name].depth
        told = {} if depth is None else {"depth": depth}
        return {self.key: decision.to_dict() | told | {"message": asked[0].id if asked else None}}

    def _means_of(self, state: object) -> Means:
        decided = state.get(self.key) if isinstance(state, Mapping) else getattr(state, self.key, None)
        return Means() if decided is None else self.means[decided["route"]]

    def _with_means(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        chosen = self._means_of(request.state)
        if chosen.model is not None:
            request = request.override(model=chosen.model)
        if chosen.tools is not None:
            request = request.override(tools=_select_tools(request.tools, chosen.tools))
        return request

    def _with_depth(self, request: ToolCallRequest) -> ToolCallRequest:
        depth = self._means_of(request.state).depth
        if depth is None or request.tool is None or self.depth_argument not in request.tool.args:
            return request
        arguments = {**request.tool_call["args"], self.depth_argument: depth}
        return request.override(tool_call={**request.tool_call, "args": arguments})


def means_by_route(
    routes: Sequence[Name],
    *,
    models: Mapping[Name, str | BaseChatModel],
    tools: Mapping[Name, Sequence[str | BaseTool]],
    depths: Mapping[Name, int],
) -> dict[str, Means]:
    """Return what an agent works with on each route; models that are named are opened as ``create_agent`` opens them.

    Raises:
        InvalidValueError: a depth below 1, one tool where several are meant, or a model that is no chat model.
    """
    refuse_below(1, **{f"the depth of {name!r}": depth for name, depth in depths.items()})
    opened = {name: _model_of(model) for name, model in models.items()}
    named = {name: _names_of(given) for name, given in tools.items()}
    return {name: Means(opened.get(name), named.get(name), depths.get(name)) for name in routes}


def _model_of(model: object) -> Any:
    """Return a chat model, by its name or as it is, or one that a configuration chooses.

    Anything else would be found out in the midst of a conversation.
    """
    if isinstance(model, str):
        return init_chat_model(model)
    if isinstance(model, Runnable):
        return model
    message = f"{describe_argument(model)} is no model for an agent; give a chat model, or what init_chat_model takes, such as "
    message += "'openai:gpt-4.1-mini'"
    raise InvalidValueError(message)


def _names_of(tools: object) -> tuple[str, ...]:
    """Return tools by name; the characters of one name would pass for several."""
    if isinstance(tools, Sequence) and not isinstance(tools, str):
        return tuple(map(_name_of, tools))
    message = f"the tools of a route are {describe_argument(tools)}; give a list of names or tools, even of one"
    raise InvalidValueError(message)


def _select_tools(tools: Sequence[BaseTool | dict[str, Any]], names: Sequence[str]) -> list[BaseTool | dict[str, Any]]:
    there = {_name_of(tool): tool for tool in tools}
    for name in names:
        if name not in there:
            message = f"the agent has no tool {name!r}.{nearest(name, list(there))} It has: {', '.join(there) or 'none'}."
            raise InvalidValueError(message)
    return [tool for name, tool in there.items() if name in names]


def _name_of(tool: str | BaseTool | Mapping[str, Any]) -> str:
    match tool:
        case str():
            return tool
        case Mapping():  # a provider's own, such as {"type": "web_search"}
            return str(tool.get("name") or tool.get("type"))
        case _:
            return tool.name
