"""The base class of routers as Runnables: one of several chains is chosen for each question and called in its place."""

# ruff: noqa: A002  # what is called input is so called by LangChain

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Annotated, Any

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable, run_in_executor
from langchain_core.runnables.base import RunnableLike, coerce_to_runnable
from langchain_core.runnables.config import patch_config
from langchain_core.runnables.utils import ConfigurableFieldSpec, Input, Output, get_unique_config_specs
from pydantic import ConfigDict, SkipValidation

from rag_cover.errors import InvalidValueError
from rag_cover.integration import Decision, Reconstructible, refuse_unknown_route
from rag_cover.routing import Route
from rag_cover_langchain.route_events import EVENT, adispatch_decision, decision_on, dispatch_decision

__all__ = ["Default", "RoutedChain", "chain_of", "chains_of"]

Default = str | RunnableLike[Any, Any] | None
"""What is called where a router fails: a route by its name, or a chain of its own; None: the error is raised."""

_DEFAULT = "default"


class RoutedChain(Reconstructible, RunnableSerializable[Input, Output]):
    """Calls the chain that a router of rag_cover chooses; where that fails, calls the default or raises.

    The decision goes to callbacks as the custom event `EVENT`, and the chosen chain's runs have the route's name under the same
    key in their metadata. The router's own runs, such as a probed retriever's, are its children, tagged `PROBE`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    routes: Annotated[Mapping[str, Runnable[Any, Any]], SkipValidation]
    default: Annotated[str | Runnable[Any, Any] | None, SkipValidation] = None

    @abstractmethod
    def _route(self, question: str) -> Route:
        """Choose a route by name."""

    @property
    def InputType(self) -> Any:  # noqa: N802  # LangChain's name
        """Return what the chains take, of which nothing is known."""
        return Any

    @property
    def OutputType(self) -> Any:  # noqa: N802  # LangChain's name
        """Return Any: what the chains return is not known."""
        return Any

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """List what the chains can be configured by."""
        chains = [*self.routes.values(), *([self.default] if isinstance(self.default, Runnable) else [])]
        return get_unique_config_specs(spec for chain in chains for spec in chain.config_specs)

    def route(self, input: Input, config: RunnableConfig | None = None) -> Route:
        """Choose without calling the chain; the default where the router fails, which the reason says then.

        Raises:
            InvalidValueError: there is no question in the input, and no default; any other failure of the router, likewise.
        """
        return self._decision(input, config).route

    async def aroute(self, input: Input, config: RunnableConfig | None = None) -> Route:
        """Choose without blocking the loop."""
        return await run_in_executor(None, self.route, input, config)

    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        """Call the chosen chain."""
        return self._call_with_config(self._invoke, input, config, **kwargs)

    async def ainvoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        """Call the chosen chain; the decision is made in a worker thread."""
        return await self._acall_with_config(self._ainvoke, input, config, **kwargs)

    def transform(self, input: Iterator[Input], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Output]:
        """Read the input to its end, then stream what the chosen chain gives."""
        yield from self._transform_stream_with_config(input, self._transform, config, **kwargs)

    async def atransform(
        self, input: AsyncIterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        """Read the input to its end, then stream what the chosen chain gives."""
        async for part in self._atransform_stream_with_config(input, self._atransform, config, **kwargs):
            yield part

    def stream(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Output]:
        """Stream what the chosen chain gives."""
        yield from self.transform(iter([input]), config, **kwargs)

    async def astream(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Output]:
        """Stream what the chosen chain gives."""

        async def stream_input() -> AsyncIterator[Input]:
            yield input

        async for part in self.atransform(stream_input(), config, **kwargs):
            yield part

    def _invoke(self, given: Input, run_manager: CallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any) -> Output:
        chain, under = self._chain_of_route(self._decide_and_dispatch(given, config), config, run_manager)
        output: Output = chain.invoke(given, under, **kwargs)
        return output

    async def _ainvoke(
        self, given: Input, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> Output:
        chain, under = self._chain_of_route(await self._adecide_and_dispatch(given, config), config, run_manager)
        output: Output = await chain.ainvoke(given, under, **kwargs)
        return output

    def _transform(
        self, parts: Iterator[Input], run_manager: CallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> Iterator[Output]:
        given: Input = _join(list(parts))
        chain, under = self._chain_of_route(self._decide_and_dispatch(given, config), config, run_manager)
        yield from chain.stream(given, under, **kwargs)

    async def _atransform(
        self,
        parts: AsyncIterator[Input],
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> AsyncIterator[Output]:
        given: Input = _join([part async for part in parts])
        chain, under = self._chain_of_route(await self._adecide_and_dispatch(given, config), config, run_manager)
        async for part in chain.astream(given, under, **kwargs):
            yield part

    def _decision(self, given: Input, config: RunnableConfig | None) -> Decision:
        default = self.default if self.default is None or isinstance(self.default, str) else _DEFAULT
        return decision_on(given, self._route, config=config, default=default)

    def _decide_and_dispatch(self, given: Input, config: RunnableConfig) -> Decision:
        decision = self._decision(given, config)
        dispatch_decision(decision, config)
        return decision

    async def _adecide_and_dispatch(self, given: Input, config: RunnableConfig) -> Decision:
        decision = await run_in_executor(None, self._decision, given, config)
        await adispatch_decision(decision, config)
        return decision

    def _chain_of_route(
        self,
        decision: Decision,
        config: RunnableConfig,
        run_manager: CallbackManagerForChainRun | AsyncCallbackManagerForChainRun,
    ) -> tuple[Runnable[Any, Any], RunnableConfig]:
        """Return the chain, and what it is called with: as a child of this run that says which way it was sent."""
        name = decision.route.name
        own = self.default if decision.error is not None else None
        chain = own if isinstance(own, Runnable) else self.routes[name]
        under = patch_config(config, callbacks=run_manager.get_child(tag=f"route:{name}"))
        under["metadata"] = {**under.get("metadata", {}), EVENT: name}
        return chain, under


def chains_of(routes: Mapping[str, RunnableLike[Any, Any]]) -> dict[str, Runnable[Any, Any]]:
    """Return routes as Runnables, as LangChain takes them: functions and mappings of Runnables, too."""
    return {name: coerce_to_runnable(chain) for name, chain in routes.items()}


def chain_of(default: Default, routes: Mapping[str, object]) -> str | Runnable[Any, Any] | None:
    """Return a default as a Runnable, or as the name of a route.

    Raises:
        InvalidValueError: no route has this name.
    """
    if isinstance(default, str):
        refuse_unknown_route(default, routes)
        return default
    return None if default is None else coerce_to_runnable(default)


def _join(parts: Sequence[Any]) -> Any:
    """Add up what came in parts; of what cannot be added, the last counts, as in LangChain's own Runnables."""
    if not parts:
        message = "nothing was given; a router needs a question to choose by"
        raise InvalidValueError(message)
    whole = parts[0]
    for part in parts[1:]:
        try:
            whole = whole + part
        except TypeError:
            whole = part
    return whole
