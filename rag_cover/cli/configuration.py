"""Defaults of a command's options from ``rag-cover.toml``: a command line option wins, and what may not be set is refused.

The table ``[common]`` is for every command that has the option, ``[evaluate]`` or ``[judge.check]`` for one command. Click
takes the defaults from a context's ``default_map``, so that a command needs to know nothing of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from rag_cover.cli.command_table import COMMANDS
from rag_cover.cli.config_defaults import COMMON_TABLE, OptionDefaults, describe_unknown_keys, table_of
from rag_cover.cli.config_file import CONFIG_NAME, ConfigFile, find_config, read_config
from rag_cover.cli.console import warn
from rag_cover.cli.options import INPUT

__all__ = ["LoadCommand", "configure"]

_CONFIG = "rag_cover.config"
"""The key of a context's ``meta`` that holds the file of which its command takes defaults."""

LoadCommand = Callable[[str], Any]
"""Imports a command of the package by its name."""


def configure(command: Any, name: str, load: LoadCommand) -> Any:
    """Let a command, and those in it, take defaults of its options from the configuration file; return it.

    ``load`` imports other commands where the file has tables for them, whose keys are checked, too.
    """
    members = getattr(command, "commands", None)
    for word, member in (members or {}).items():
        configure(member, f"{name} {word}", load)
    if members is None:
        command.params[-1:-1] = _config_options()
        _Configured(command, name, command.parse_args, command.invoke, load).install()
    return command


def _config_options() -> list[Any]:
    """Make ``--config`` and ``--no-config``, which the command itself does not see."""
    holder = typer.Typer(add_completion=False)

    @holder.command()
    def take(
        *,
        config: Annotated[
            Path | None,
            typer.Option(
                "--config",
                help="Read the defaults of options from this file.",
                metavar="FILE",
                rich_help_panel=INPUT,
                show_default=f"{CONFIG_NAME} here or in a folder above",
                expose_value=False,
            ),
        ] = None,
        no_config: Annotated[
            bool,
            typer.Option(
                "--no-config",
                help="Read no configuration file.",
                rich_help_panel=INPUT,
                show_default=False,
                expose_value=False,
            ),
        ] = False,
    ) -> None:
        del config, no_config

    return [each for each in get_command(holder).params if each.name in ("config", "no_config")]


@dataclass(frozen=True, slots=True)
class _Configured:
    """A command whose arguments are read with the defaults of the configuration file."""

    command: Any
    name: str
    parse: Any
    call: Any
    load: LoadCommand

    def install(self) -> None:
        self.command.parse_args, self.command.invoke = self.parse_args, self.invoke

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the arguments; say on stderr which options of the file count."""
        given = self._value_given(ctx, args)
        config = None if given is None else _choose_config(given)
        if config is None or given is None:
            return self.parse(ctx, args)
        keys = _keys_of(self.command)
        defaults = OptionDefaults(config, self.name, self.command, keys, _siblings_in(ctx), self._tables_with)
        ctx.default_map = dict(defaults.values())
        try:
            rest = self.parse(ctx, args)
        except typer.BadParameter as wrong:
            name = wrong.param.name if wrong.param else None
            if name is None or name not in ctx.default_map or given.get(name) is not None:
                raise
            table = _table_with(config, self.name, keys, name)
            raise config.error(str(wrong.message).removeprefix("Input ").rstrip("."), *table) from wrong
        self._tell(ctx, config, keys)
        for unknown in describe_unknown_keys(config, self.name, self._keys_of_other, self._tables_with):
            warn(f"Warning: {unknown}")
        ctx.meta[_CONFIG] = config
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; where it refuses a value that came from the file, the error names the file and the line.

        Raises:
            BadParameter: the command refuses a value.
        """
        try:
            return self.call(ctx)
        except typer.BadParameter as wrong:
            config, place = ctx.meta.get(_CONFIG), wrong.param_hint
            for option in _keys_of(self.command).values() if config else ():
                if place in option.opts and _is_from_file(ctx, option):
                    table = _table_with(config, self.name, _keys_of(self.command), option.name)
                    raise typer.BadParameter(wrong.message, ctx=ctx, param_hint=config.place_of(*table)) from wrong
            raise

    def _tables_with(self, key: str) -> Sequence[tuple[str, ...]]:
        """Return the tables of the commands that have an option, from the file's key for it."""
        word = key.replace("-", "_")
        names = ((name, member) for name in COMMANDS for member, keys in self._keys_of_other(name).items() if word in keys)
        return [(name, *([member] if member else [])) for name, member in names]

    def _keys_of_other(self, name: str) -> Mapping[str, Collection[str]]:
        command = self.load(name)
        return {word: _keys_of(each) for word, each in getattr(command, "commands", {"": command}).items()}

    def _value_given(self, ctx: Any, args: list[str]) -> Mapping[str, Any] | None:
        """Return what is given on the command line; None where help is asked for, or a shell completes a line."""
        if ctx.resilient_parsing or (not args and self.command.no_args_is_help):
            return None
        given, _, _ = self.command.make_parser(ctx).parse_args(args=list(args))
        return None if given.get("help") else dict(given)

    def _tell(self, ctx: Any, config: ConfigFile, keys: Mapping[str, Any]) -> None:
        changed = [
            key for key, option in keys.items() if _is_from_file(ctx, option) and ctx.params.get(option.name) != option.default
        ]
        if changed and not ctx.params.get("quiet"):
            warn(f"Options from {_show_path(config.path)}: {', '.join(changed)}.", style="dim")


def _is_from_file(ctx: Any, option: Any) -> bool:
    return getattr(ctx.get_parameter_source(option.name), "name", "") == "DEFAULT_MAP"


def _choose_config(given: Mapping[str, Any]) -> ConfigFile | None:
    """Read the file that is named, or the one that is found.

    Raises:
        BadParameter: a file is named, and none is to be read.
        ConfigError: it cannot be read.
    """
    named, none = given.get("config"), given.get("no_config")
    if none and named is not None:
        message = "one of --config and --no-config, not both"
        raise typer.BadParameter(message, param_hint="--config")
    if none:
        return None
    return find_config(Path()) if named is None else read_config(Path(named))


def _table_with(config: ConfigFile, name: str, keys: Mapping[str, Any], option: str) -> tuple[str, ...]:
    """Return the keys under which an option's default stands."""
    own = tuple(name.split(" "))
    word = next(key for key, each in keys.items() if each.name == option)
    for table in (own, (COMMON_TABLE,)):
        for key in table_of(config, table):
            if key.replace("-", "_") == word:
                return (*table, key)
    return own


def _keys_of(command: Any) -> dict[str, Any]:
    """Return the options of a command by the key that stands for them in a file: the long name, with underscores."""
    options = (each for each in command.params if each.param_type_name == "option" and each.name not in ("config", "no_config"))
    return {max(each.opts, key=len).lstrip("-").replace("-", "_"): each for each in options}


def _siblings_in(ctx: Any) -> Collection[str]:
    return tuple(getattr(ctx.parent.command, "commands", ())) if ctx.parent else ()


def _show_path(path: Path) -> str:
    return str(path) if not path.is_absolute() else os.path.relpath(path)
