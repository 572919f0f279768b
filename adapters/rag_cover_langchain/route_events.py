"""What routers decide on what LangChain's parts are called with, and where it is told: callbacks, traces, event streams."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import RunnableConfig

from rag_cover.errors import InvalidValueError
from rag_cover.integration import Decision, decided
from rag_cover.routing import Route
from rag_cover_langchain.configs import called_under
from rag_cover_langchain.payloads import question_in
from rag_cover_langchain.tags import PROBE

__all__ = ["EVENT", "atell", "decision_on", "tell"]

EVENT = "rag_cover_route"
"""The custom event that tells a decision: ``route``, ``probability``, ``scores``, ``reason``, ``error`` if there was one."""


def decision_on(
    given: object, route: Callable[[str], Route], *, config: RunnableConfig | None, default: str | None
) -> Decision:
    """Decide on the question in a text, a mapping or messages; what is probed for it is tagged `PROBE`.

    Raises:
        InvalidValueError: there is no question in it, and no default; any other failure of the router, likewise.
    """

    def routed() -> Route:
        question = question_in(given)
        if question is None:
            message = "there is no question in what was given; give a text, messages, or a mapping with a 'question'"
            raise InvalidValueError(message)
        return route(question)

    return called_under(config, lambda: decided(routed, default=default), tags=[PROBE])


def tell(decision: Decision, config: RunnableConfig | None = None) -> None:
    """Tell callbacks a decision, within the run that a config belongs to, or that is going on."""
    dispatch_custom_event(EVENT, decision.to_dict(), config=config)


async def atell(decision: Decision, config: RunnableConfig | None = None) -> None:
    """Tell callbacks a decision without blocking the loop."""
    await adispatch_custom_event(EVENT, decision.to_dict(), config=config)
