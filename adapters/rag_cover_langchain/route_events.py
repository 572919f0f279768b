"""Routing decisions for the inputs of LangChain's parts, reported as custom events to callbacks, traces and event streams."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import RunnableConfig

from rag_cover.errors import InvalidValueError
from rag_cover.integration import Decision, decide_or_default
from rag_cover.routing import Route
from rag_cover_langchain.configs import call_under_config
from rag_cover_langchain.payloads import question_in
from rag_cover_langchain.tags import PROBE

__all__ = ["EVENT", "adispatch_decision", "decision_on", "dispatch_decision"]

EVENT = "rag_cover_route"
"""The custom event that tells a decision: ``route``, ``probability``, ``scores``, ``reason``, ``error`` if there was one."""


def decision_on(
    given: object, route: Callable[[str], Route], *, config: RunnableConfig | None, default: str | None
) -> Decision:
    """Decide on the question in a text, a mapping or messages; what is probed for it is tagged `PROBE`.

    Raises:
        InvalidValueError: there is no question in it, and no default; any other failure of the router, likewise.
    """

    def decide() -> Route:
        question = question_in(given)
        if question is None:
            message = "there is no question in what was given; give a text, messages, or a mapping with a 'question'"
            raise InvalidValueError(message)
        return route(question)

    return call_under_config(config, lambda: decide_or_default(decide, default=default), tags=[PROBE])


def dispatch_decision(decision: Decision, config: RunnableConfig | None = None) -> None:
    """Report a decision to callbacks, within the run of a config or the current run."""
    dispatch_custom_event(EVENT, decision.to_dict(), config=config)


async def adispatch_decision(decision: Decision, config: RunnableConfig | None = None) -> None:
    """Report a decision to callbacks without blocking the event loop."""
    await adispatch_custom_event(EVENT, decision.to_dict(), config=config)
