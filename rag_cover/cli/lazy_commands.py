"""Commands that are imported when they are called: listing them, and completing their names, imports none of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from rag_cover.cli.command_table import COMMANDS, ListedCommand
from rag_cover.cli.help_texts import tidy_help
from rag_cover.errors import PluginError, RagCoverError

__all__ = ["CommandsByName", "LazyCommand", "load_command", "load_plugin_command"]


class LazyCommand(TyperCommand):
    """What stands in the list of commands for one that is imported when it is called, and then takes its place."""

    def __init__(self, listed: ListedCommand, *, is_ours: bool) -> None:
        super().__init__(listed.name.rpartition(" ")[2], help=listed.summary, rich_help_panel=listed.panel)
        self._listed, self._is_ours = listed, is_ours

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Import the command and read its arguments; the context that comes of it calls the command itself."""
        return self._load().make_context(info_name, args, parent, **extra)

    def read_help(self) -> None:
        """Import the command and take over what it says of itself; one that cannot be imported keeps its summary."""
        with suppress(RagCoverError):
            self.help = self._load().help or self.help

    def _load(self) -> Any:
        return (load_command if self._is_ours else load_plugin_command)(self._listed)


class CommandsByName(Mapping[str, Any]):
    """The commands of the package as typer's own, each imported when it is looked up."""

    def __init__(self, listed: Mapping[str, ListedCommand]) -> None:
        self._listed = listed
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Import a command."""
        if name not in self._loaded:
            self._loaded[name] = load_command(self._listed[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        """Name the commands."""
        return iter(self._listed)

    def __len__(self) -> int:
        """Count the commands."""
        return len(self._listed)


def load_command(listed: ListedCommand) -> Any:
    """Import a command of the package, or a group of them."""
    module, _, attribute = listed.target.partition(":")
    target = getattr(import_module(module), attribute)
    if isinstance(target, typer.Typer):
        command: Any = get_group(target)
        command.name, command.rich_help_panel = listed.name, listed.panel
    else:
        holder = typer.Typer(add_completion=False, rich_markup_mode="rich")
        holder.command(listed.name, rich_help_panel=listed.panel)(target)
        command = get_command(holder)
    return _finish(command, listed.name)


def load_plugin_command(listed: ListedCommand) -> Any:
    """Import a command that a plugin brings.

    Raises:
        PluginError: it cannot be imported, or is no typer app.
    """
    return _finish(get_command(_plugin_app(listed.name, listed.target)), listed.name)


def _finish(command: Any, name: str) -> Any:
    from rag_cover.cli.configuration import configure  # with which the options of all commands come

    return tidy_help(configure(command, name, lambda other: load_command(COMMANDS[other])))


def _plugin_app(name: str, target: str) -> typer.Typer:
    module, _, attribute = target.partition(":")
    try:
        app = getattr(import_module(module), attribute)
    except RagCoverError:
        raise  # such as a missing extra, which says itself what to install
    except (ImportError, AttributeError) as broken:
        message = f"The command {name!r} of a plugin ({target}) could not be loaded: {broken}. Repair or uninstall it."
        raise PluginError(message) from broken
    if not isinstance(app, typer.Typer):
        message = f"The command {name!r} of a plugin ({target}) is a {type(app).__name__}, not a typer app."
        raise PluginError(message)
    return app
