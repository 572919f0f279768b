"""Calls within a LangChain run: LangChain assigns nested runs to the config that is set while they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, set_config_context

__all__ = ["call_under_config"]

T = TypeVar("T")


def call_under_config(config: RunnableConfig | None, call: Callable[[], T], *, tags: Sequence[str] = ()) -> T:
    """Call a function with a config set, so that the LangChain runs inside it belong to that config, with further tags.

    A config without callbacks belongs to the run that is going on.
    """
    under = ensure_config(config)
    under["tags"] = [*under["tags"], *tags]
    for own in ("run_id", "run_name"):
        under.pop(own, None)  # type: ignore[misc]  # a config need not have them
    with set_config_context(under) as context:
        return context.run(call)
