"""The installed plugins: modules named by entry points of the group ``rag_cover``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import pluggy

from rag_cover import hooks
from rag_cover.errors import PluginError

if TYPE_CHECKING:
    from rag_cover.measures import Measure, TraceResult

__all__ = ["find_commands", "find_measures", "notify_plugins", "plugins"]


@cache
def plugins() -> pluggy.PluginManager:
    """Load every installed plugin, once.

    Raises:
        PluginError: a plugin that cannot be imported or does not fit the hooks, by name.
    """
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    for entry in sorted(entry_points(group=hooks.PROJECT), key=lambda entry: entry.name):
        try:
            manager.register(entry.load(), name=entry.name)
            manager.check_pending()
        except Exception as broken:
            message = f"Plugin {entry.name!r} ({entry.value}) could not be loaded: {broken}. Repair or uninstall it."
            raise PluginError(message) from broken
    return manager


def find_commands() -> Mapping[str, str]:
    """Return the CLI commands that plugins bring: name to 'module:app', not yet imported.

    Raises:
        PluginError: two plugins claim one name, or one claims as a command what another has commands under.
    """
    found: dict[str, str] = {}
    for name, target in ((name, target) for several in plugins().hook.commands() for name, target in several.items()):
        if name in found:
            message = f"Two plugins bring the command {name!r} ({found[name]}, {target}); uninstall one of them."
            raise PluginError(message)
        found[name] = target
    for group in {name.partition(" ")[0] for name in found if " " in name} & set(found):
        message = f"One plugin brings the command {group!r} ({found[group]}), another commands under it; uninstall one of them."
        raise PluginError(message)
    return dict(sorted(found.items()))


def find_measures() -> Mapping[str, Measure]:
    """Return the measures that plugins bring, by name.

    Raises:
        PluginError: two plugins bring a measure of one name.
    """
    found: dict[str, Measure] = {}
    for measure in (measure for several in plugins().hook.measures() for measure in several):
        if measure.name in found:
            message = f"Two plugins bring the measure {measure.name!r}; uninstall one of them."
            raise PluginError(message)
        found[measure.name] = measure
    return found


def notify_plugins(result: TraceResult) -> None:
    """Show a finished result to the plugins that observe results."""
    plugins().hook.on_result(result=result)
