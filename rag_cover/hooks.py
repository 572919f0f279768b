"""The hooks a plugin may implement, and the marker to do it with.

A plugin is a module named by an entry point of the group ``rag_cover``::

    from rag_cover.hooks import hook

    @hook
    def backends() -> list[Backend]:
        return [Backend(scheme="mine", summary="…", scorer=_scorer)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_cover.backends import Backend
    from rag_cover.engines import Engine
    from rag_cover.measures import Measure, TraceResult

__all__ = ["PROJECT", "hook"]

PROJECT = "rag_cover"

_spec = pluggy.HookspecMarker(PROJECT)
hook = pluggy.HookimplMarker(PROJECT)


@_spec
def backends() -> list[Backend]:  # type: ignore[empty-body]  # a specification has no body
    """Return the model backends this plugin brings."""


@_spec
def engines() -> Mapping[str, type[Engine]]:  # type: ignore[empty-body]
    """Return the engines this plugin brings, by name."""


@_spec
def commands() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Return the CLI commands this plugin brings: command name to 'module:typer_app', imported when called.

    A name of two words, such as ``"train judge"``, stands in a group that several plugins may add to.
    """


@_spec
def measures() -> list[Measure]:  # type: ignore[empty-body]
    """Return the measures this plugin brings: evaluated by name, and read from any store."""


@_spec
def on_result(result: TraceResult) -> None:
    """Observe one finished result, for telemetry exporters; called from the thread that runs the evaluation."""
