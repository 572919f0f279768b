"""The group of all commands: ours and those that plugins bring, each imported only when called."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from rag_cover.cli.command_table import COMMANDS, ListedCommand
from rag_cover.cli.console import warn
from rag_cover.cli.exit_codes import ExitCode, report_error, report_lost_output, report_usage_error
from rag_cover.cli.help_texts import tidy_help
from rag_cover.cli.lazy_commands import CommandsByName, LazyCommand
from rag_cover.errors import RagCoverError
from rag_cover.plugin_manager import find_commands

__all__ = ["CommandGroup"]

_CLICK_ERROR: type[Any] = typer.BadParameter.__mro__[2]
"""What wrong usage raises: a class of the click that typer uses, which is its own, or in older versions the package."""

_PLUGINS = "Plugins"


class CommandGroup(TyperGroup):
    """Ends every command that fails in a sentence and an exit code, and finds the commands of plugins."""

    def __init__(self, **about: Any) -> None:
        super().__init__(**about)
        tidy_help(self)
        self.commands: Any = CommandsByName(COMMANDS)

    def main(self, *args: Any, **extra: Any) -> Any:  # typer's own signature, which has changed between versions
        """Run a command."""
        try:
            code = super().main(*args, **extra | {"standalone_mode": False})
        except RagCoverError as error:
            sys.exit(report_error(error))
        except _CLICK_ERROR as error:
            sys.exit(report_usage_error(error))
        except BrokenPipeError:
            raise
        except OSError as unwritable:
            sys.exit(report_lost_output(unwritable))
        except typer.Abort:
            warn("Aborted.", style="red")
            sys.exit(1)
        sys.exit(code if isinstance(code, int) else ExitCode.OK)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; where the command itself does not say more, an interrupt is one line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            warn("Interrupted.", style="red")
            raise typer.Exit(ExitCode.INTERRUPTED) from None

    def list_commands(self, ctx: Any) -> list[str]:
        """Name all commands, ours first; a group of several plugins' commands once."""
        del ctx
        theirs = dict.fromkeys(name.partition(" ")[0] for name in find_commands())
        return [*COMMANDS, *(name for name in theirs if name not in COMMANDS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Find a command, or a group of plugins' commands, by its name; it is imported when it is called."""
        del ctx
        if cmd_name in COMMANDS:
            return LazyCommand(COMMANDS[cmd_name], is_ours=True)
        theirs = find_commands()
        if cmd_name in theirs:
            return _plugin_command(cmd_name, theirs)
        members = [name for name in theirs if name.startswith(f"{cmd_name} ")]
        return _group_of(cmd_name, members, theirs) if members else None


class _PluginCommands(TyperGroup):
    """Commands of plugins whose names begin with the same word; its help imports them, to say what each does."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        for command in self.commands.values():
            if isinstance(command, LazyCommand):
                command.read_help()
        super().format_help(ctx, formatter)


def _group_of(group: str, names: Iterable[str], targets: Mapping[str, str]) -> Any:
    """Make a group of the commands whose names begin with its own."""
    about = f"Commands of plugins under '{group}'."
    members = [_plugin_command(name, targets) for name in names]
    return tidy_help(_PluginCommands(name=group, commands=members, no_args_is_help=True, help=about, rich_help_panel=_PLUGINS))


def _plugin_command(name: str, targets: Mapping[str, str]) -> LazyCommand:
    summary = f"A plugin's command ({targets[name].partition(':')[0]})."
    return LazyCommand(ListedCommand(name, _PLUGINS, targets[name], summary), is_ours=False)
