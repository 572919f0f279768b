"""The group of all commands: ours and, imported only when called, those that plugins bring."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from rag_cover.cli.console import warn
from rag_cover.cli.exit_codes import ExitCode, report_error, report_lost_output, report_usage_error
from rag_cover.cli.help_texts import tidy_help
from rag_cover.errors import PluginError, RagCoverError
from rag_cover.registry import find_commands

__all__ = ["CommandGroup"]

_CLICK_ERROR: type[Any] = typer.BadParameter.__mro__[2]
"""What wrong usage raises: a class of the click that typer uses, which is its own, or in older versions the package."""


class CommandGroup(TyperGroup):
    """Ends every command that fails in a sentence and an exit code, and finds the commands of plugins."""

    def __init__(self, **about: Any) -> None:
        super().__init__(**about)
        tidy_help(self)

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
        ours = super().list_commands(ctx)
        theirs = dict.fromkeys(name.partition(" ")[0] for name in find_commands())
        return [*ours, *(name for name in theirs if name not in ours)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Find a command, or a group of plugins' commands, by its name."""
        ours = super().get_command(ctx, cmd_name)
        if ours is not None:
            return ours
        theirs = find_commands()
        if cmd_name in theirs:
            return _stand_in(cmd_name, theirs[cmd_name])
        members = {name: target for name, target in theirs.items() if name.startswith(f"{cmd_name} ")}
        return _group_of(cmd_name, members) if members else None


def _stand_in(name: str, target: str) -> Any:
    stand_in = typer.Typer(add_completion=False)
    _hand_over(stand_in, name, target)
    return get_command(stand_in)


def _group_of(group: str, members: Mapping[str, str]) -> Any:
    """Make a group of the commands whose names begin with its own."""
    listed = typer.Typer(name=group, add_completion=False, no_args_is_help=True, help=f"Commands of plugins under '{group}'.")
    listed.callback(rich_help_panel="Plugins")(lambda: None)  # so that a single member does not become the group itself
    for name, target in members.items():
        _hand_over(listed, name, target)
    return tidy_help(get_command(listed))


def _hand_over(app: typer.Typer, name: str, target: str) -> None:
    """Add a command that hands all its words, ``--help`` too, to the plugin's own app."""
    words = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}

    @app.command(
        name.rpartition(" ")[2],
        context_settings=words,
        help=f"A plugin's command ({target.partition(':')[0]}).",
        rich_help_panel="Plugins",
    )
    def run(ctx: typer.Context) -> None:
        command: Any = tidy_help(get_command(_app_of(name, target)))
        with command.make_context(f"rag-cover {name}", [*ctx.args]) as own:
            command.invoke(own)


def _app_of(name: str, target: str) -> typer.Typer:
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
