"""Defaults of a command's options from ``rag-cover.toml``: a command line option wins, and what may not be set is refused.

The table ``[common]`` is for every command that has the option, ``[evaluate]`` or ``[judge.check]`` for one command. Click
takes the defaults from a context's ``default_map``, so that a command needs to know nothing of it.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.main import get_command

from rag_cover.cli.command_table import COMMANDS
from rag_cover.cli.config_file import CONFIG_NAME, ConfigFile, find_config, read_config
from rag_cover.cli.config_rules import (
    COMMON_OPTIONS,
    MODEL_OPTIONS,
    WRITTEN_OPTIONS,
    model_problem,
    outside_problem,
    refusal_of,
)
from rag_cover.cli.config_values import is_of_type, plain_types, takes_pairs, type_in_words, wanted_in_words
from rag_cover.cli.console import warn
from rag_cover.cli.options import INPUT
from rag_cover.errors import nearest
from rag_cover.plugin_manager import find_commands

__all__ = ["configure"]

_COMMON = "common"


def configure(command: Any, name: str) -> Any:
    """Let a command, and those in it, take defaults of its options from the configuration file; return it."""
    members = getattr(command, "commands", None)
    for word, member in (members or {}).items():
        configure(member, f"{name} {word}")
    if members is None:
        command.params[-1:-1] = _config_options()
        _Configured(command, name, command.parse_args).install()
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
                help="Take defaults of options from this file.",
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
                help="Take no defaults from a file.",
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

    def install(self) -> None:
        self.command.parse_args = self.parse_args

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the arguments; say on stderr which options of the file count."""
        given = self._given(ctx, args)
        config = None if given is None else _chosen_config(given)
        if config is None or given is None:
            return self.parse(ctx, args)
        keys = _keys_of(self.command)
        ctx.default_map = dict(_Defaults(config, self.name, self.command, keys, _siblings_in(ctx)).values())
        try:
            rest = self.parse(ctx, args)
        except typer.BadParameter as wrong:
            name = wrong.param.name if wrong.param else None
            if name is None or name not in ctx.default_map or given.get(name) is not None:
                raise
            table = _table_with(config, self.name, keys, name)
            raise config.error(str(wrong.message).removeprefix("Input ").rstrip("."), *table) from wrong
        self._tell(ctx, config, keys)
        return rest

    def _given(self, ctx: Any, args: list[str]) -> Mapping[str, Any] | None:
        """Return what is given on the command line; None where help is asked for, or a shell completes a line."""
        if ctx.resilient_parsing or (not args and self.command.no_args_is_help):
            return None
        given, _, _ = self.command.make_parser(ctx).parse_args(args=list(args))
        return None if given.get("help") else dict(given)

    def _tell(self, ctx: Any, config: ConfigFile, keys: Mapping[str, Any]) -> None:
        changed = [
            key
            for key, option in keys.items()
            if getattr(ctx.get_parameter_source(option.name), "name", "") == "DEFAULT_MAP"
            and ctx.params.get(option.name) != option.default
        ]
        if changed and not ctx.params.get("quiet"):
            warn(f"Options from {_shown(config.path)}: {', '.join(changed)}.", style="dim")


def _chosen_config(given: Mapping[str, Any]) -> ConfigFile | None:
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


@dataclass(frozen=True, slots=True)
class _Defaults:
    """The defaults that a configuration file gives to the options of one command."""

    config: ConfigFile
    name: str
    command: Any
    keys: Mapping[str, Any]
    siblings: Collection[str]

    def values(self) -> Iterator[tuple[str, Any]]:
        """Yield each option's name and default; the command's own table counts more than the common one.

        Raises:
            ConfigError: a key that may not be set, that nobody knows, or whose value is of another type.
        """
        _check_tables(self.config)
        _check_members(self.config, self.name, self.siblings)
        hints = _hints_of(self.command)
        for table in ((_COMMON,), tuple(self.name.split(" "))):
            for key, value in _table(self.config, table).items():
                option = self._option(key, table)
                if option is not None:
                    yield option.name, self._value(option, hints.get(option.name, str), value, (*table, key))

    def _option(self, key: str, table: tuple[str, ...]) -> Any | None:
        word = key.replace("-", "_")
        is_common = table == (_COMMON,)
        if word in self.keys and (not is_common or word in COMMON_OPTIONS):
            return self.keys[word]
        if is_common and word in COMMON_OPTIONS:
            return None  # an option of other commands
        if is_common and word in self.keys:
            problem = f"this means something else in other commands; put it into the table [{self.name.replace(' ', '.')}]"
            raise self.config.error(problem, *table, key)
        known = sorted(each for each in (COMMON_OPTIONS if is_common else self.keys) if not refusal_of(each))
        whose = "there is no such option for all commands" if is_common else f"'rag-cover {self.name}' has no such option"
        message = f"{whose}.{nearest(word, known)} There are: {', '.join(known)}"
        raise self.config.error(message, *table, key)

    def _value(self, option: Any, hint: Any, value: Any, keys: tuple[str, ...]) -> Any:
        if isinstance(value, dict) and takes_pairs(option):
            value = [f"{each}={number}" for each, number in value.items()]
        if not is_of_type(value, hint):
            message = f"this is {type_in_words(value)}; give {wanted_in_words(hint, option)}"
            raise self.config.error(message, *keys)
        folder, word = self.config.path.parent, keys[-1].replace("-", "_")
        texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
        if word in MODEL_OPTIONS:
            self._refuse(next((problem for each in texts if (problem := model_problem(each, folder))), None), keys)
            scheme, mark, path = str(value).partition(":")
            return f"{scheme}:{_from_here(folder, path)}" if mark else value
        if Path not in set(plain_types(hint)):
            return value
        if word in WRITTEN_OPTIONS:
            self._refuse(outside_problem(texts, folder), keys)
        moved = [_from_here(folder, each) for each in texts]
        return moved if isinstance(value, list) else moved[0]

    def _refuse(self, problem: str | None, keys: tuple[str, ...]) -> None:
        if problem:
            option = f"--{keys[-1].replace('_', '-')}"
            message = f"{problem}; take it out of the file, and give {option} in the command"
            raise self.config.error(message, *keys)


def _check_tables(config: ConfigFile) -> None:
    """Refuse what no command may take from a file, wherever it stands, and tables that belong to no command.

    Raises:
        ConfigError: names the key, and what to do.
    """
    words = {_COMMON, *COMMANDS}
    for key, value in config.tables.items():
        _refuse_keys(config, (key,), value)
        if not isinstance(value, dict):
            problem = f"this is no table; put options for all commands into [{_COMMON}], for one into a table of its name"
            raise config.error(problem, key)
        if key not in words and key not in (theirs := {name.partition(" ")[0] for name in find_commands()}):
            known = sorted(words | theirs)
            message = f"no command is called {key!r}.{nearest(key, known)} There are: {', '.join(known)}"
            raise config.error(message, key)


def _check_members(config: ConfigFile, name: str, siblings: Collection[str]) -> None:
    """Refuse options in the table of a group, and tables of commands that it does not have.

    Raises:
        ConfigError: names the key, and what to do.
    """
    group, _, member = name.partition(" ")
    for key, value in _table(config, (group,)).items() if member else ():
        if not isinstance(value, dict):
            problem = f"{group!r} is a group of commands; put its options into a table of one, such as [{group}.{member}]"
            raise config.error(problem, group, key)
        if key not in siblings:
            problem = f"no command is called '{group} {key}'.{nearest(key, siblings)} There are: {', '.join(siblings)}"
            raise config.error(problem, group, key)


def _siblings_in(ctx: Any) -> Collection[str]:
    return tuple(getattr(ctx.parent.command, "commands", ())) if ctx.parent else ()


def _refuse_keys(config: ConfigFile, keys: tuple[str, ...], value: Any) -> None:
    if why := refusal_of(keys[-1].replace("-", "_")):
        problem = f"this {why}; take it out of the file, and give it in the command or the environment"
        raise config.error(problem, *keys)
    for key, inner in value.items() if isinstance(value, dict) else ():
        _refuse_keys(config, (*keys, key), inner)


def _table(config: ConfigFile, path: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the table of a command; of a group, the table within its own.

    Raises:
        ConfigError: a command's name is given a value that is no table.
    """
    found: dict[str, Any] = dict(config.tables)
    for depth, word in enumerate(path, start=1):
        found = found.get(word, {})
        if not isinstance(found, dict):
            message = "this is no table; give options in a table of this name"
            raise config.error(message, *path[:depth])
    return found


def _table_with(config: ConfigFile, name: str, keys: Mapping[str, Any], option: str) -> tuple[str, ...]:
    """Return the keys under which an option's default stands."""
    own = tuple(name.split(" "))
    word = next(key for key, each in keys.items() if each.name == option)
    for table in (own, (_COMMON,)):
        for key in _table(config, table):
            if key.replace("-", "_") == word:
                return (*table, key)
    return own


def _keys_of(command: Any) -> dict[str, Any]:
    """Return the options of a command by the key that stands for them in a file: the long name, with underscores."""
    options = (each for each in command.params if each.param_type_name == "option" and each.name not in ("config", "no_config"))
    return {max(each.opts, key=len).lstrip("-").replace("-", "_"): each for each in options}


def _hints_of(command: Any) -> dict[str, Any]:
    """Return the types of a command's parameters by their names."""
    function = inspect.unwrap(command.callback)
    hints = getattr(function, "__annotations__", {})
    if any(isinstance(each, str) for each in hints.values()):
        hints = get_type_hints(function, include_extras=True)
    return {name: get_args(hint)[0] if get_origin(hint) is Annotated else hint for name, hint in hints.items()}


def _from_here(folder: Path, path: str) -> str:
    """Return a path that a file in a folder names as the working directory sees it."""
    return os.path.relpath(folder / path)


def _shown(path: Path) -> str:
    return str(path) if not path.is_absolute() else os.path.relpath(path)
