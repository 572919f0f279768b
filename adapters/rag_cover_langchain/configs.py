"""Calls of our own, in the run that they are part of: LangChain tells parts by the config that is set while they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, set_config_context

__all__ = ["called_under"]

T = TypeVar("T")


def called_under(config: RunnableConfig | None, call: Callable[[], T], *, tags: Sequence[str] = ()) -> T:
    """Call what runs LangChain's parts somewhere inside, so that their runs belong to a config, with tags besides its own.

    A config without callbacks belongs to the run that is going on.
    """
    under = ensure_config(config)
    under["tags"] = [*under["tags"], *tags]
    for own in ("run_id", "run_name"):
        under.pop(own, None)  # type: ignore[misc]  # a config need not have them
    with set_config_context(under) as context:
        return context.run(call)
