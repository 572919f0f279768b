"""The defaults that a configuration file gives to the options of one command, checked key by key."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from rag_cover.cli.command_table import COMMANDS
from rag_cover.cli.config_file import ConfigFile
from rag_cover.cli.config_rules import (
    COMMON_OPTIONS,
    MODEL_OPTIONS,
    WRITTEN_OPTIONS,
    is_named_judge,
    model_problem,
    outside_problem,
    refusal_of,
)
from rag_cover.cli.config_values import describe_wanted, is_of_type, plain_types, takes_pairs, type_in_words
from rag_cover.errors import nearest
from rag_cover.plugin_manager import find_commands

__all__ = ["COMMON_TABLE", "OptionDefaults", "describe_unknown_keys", "table_of"]

COMMON_TABLE = "common"
_SHOWN_TABLES = 3

TablesWith = Callable[[str], Sequence[tuple[str, ...]]]
"""Gives the tables of the commands that have an option, by its key."""


@dataclass(frozen=True, slots=True)
class OptionDefaults:
    """The defaults that a configuration file gives to the options of one command.

    ``tables_with`` gives the tables of the commands that have an option, by its key.
    """

    config: ConfigFile
    name: str
    command: Any
    keys: Mapping[str, Any]
    siblings: Collection[str]
    tables_with: TablesWith

    def values(self) -> Iterator[tuple[str, Any]]:
        """Yield each option's name and default; the command's own table counts more than the common one.

        Raises:
            ConfigError: a key that may not be set, that nobody knows, that is given twice, or whose value is of another type.
        """
        _check_tables(self.config)
        _check_members(self.config, self.name, self.siblings)
        hints = _hints_of(self.command)
        for table in ((COMMON_TABLE,), tuple(self.name.split(" "))):
            _check_spellings(self.config, table)
            for key, value in table_of(self.config, table).items():
                option = self._option(key, table)
                if option is not None:
                    yield option.name, self._value(option, hints.get(option.name, str), value, (*table, key))

    def _option(self, key: str, table: tuple[str, ...]) -> Any | None:
        word = key.replace("-", "_")
        is_common = table == (COMMON_TABLE,)
        if word in self.keys and (not is_common or word in COMMON_OPTIONS):
            return self.keys[word]
        if is_common and word in COMMON_OPTIONS:
            return None  # an option of other commands
        if is_common and word in self.keys:
            problem = (
                f"this means something else in other commands; put it into the table {self.config.table(*self.name.split())}"
            )
            raise self.config.error(problem, *table, key)
        known = sorted(each for each in (COMMON_OPTIONS if is_common else self.keys) if not refusal_of(each))
        whose = "there is no such option for all commands" if is_common else f"'rag-cover {self.name}' has no such option"
        owners = _name_tables(self.config, self.tables_with(word))
        message = f"{whose}{owners}" if owners else f"{whose}.{nearest(word, known)} There are: {', '.join(known)}"
        raise self.config.error(message, *table, key)

    def _value(self, option: Any, hint: Any, value: Any, keys: tuple[str, ...]) -> Any:
        if isinstance(value, dict) and takes_pairs(option):
            value = [f"{each}={_write_value(number)}" for each, number in value.items()]
        if not is_of_type(value, hint):
            message = f"this is {type_in_words(value)}; give {describe_wanted(hint, option)}"
            raise self.config.error(message, *keys)
        folder, word = self.config.path.parent, keys[-1].replace("-", "_")
        texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
        if word in MODEL_OPTIONS:
            self._refuse(next((problem for each in texts if (problem := model_problem(each, folder))), None), keys)
            if is_named_judge(str(value), folder):
                return value
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


def _check_spellings(config: ConfigFile, table: tuple[str, ...]) -> None:
    """Refuse an option that one table sets twice, with hyphens and with underscores.

    Raises:
        ConfigError: names the second key, and the first.
    """
    first: dict[str, str] = {}
    for key in table_of(config, table):
        if (other := first.setdefault(key.replace("-", "_"), key)) != key:
            problem = f"this table sets the option as {other!r}, too; keep one of them"
            raise config.error(problem, *table, key)


def _check_tables(config: ConfigFile) -> None:
    """Refuse what no command may take from a file, wherever it stands, and tables that belong to no command.

    Raises:
        ConfigError: names the key, and what to do.
    """
    words = {COMMON_TABLE, *COMMANDS}
    for key, value in config.tables.items():
        _refuse_keys(config, (key,), value)
        if not isinstance(value, dict):
            common = config.table(COMMON_TABLE)
            problem = f"this is no table; put options for all commands into {common}, for one into a table of its name"
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
    for key, value in table_of(config, (group,)).items() if member else ():
        if not isinstance(value, dict):
            problem = (
                f"{group!r} is a group of commands; put its options into a table of one, such as {config.table(group, member)}"
            )
            raise config.error(problem, group, key)
        if key not in siblings:
            problem = f"no command is called '{group} {key}'.{nearest(key, siblings)} There are: {', '.join(siblings)}"
            raise config.error(problem, group, key)


def _refuse_keys(config: ConfigFile, keys: tuple[str, ...], value: Any) -> None:
    if why := refusal_of(keys[-1].replace("-", "_")):
        problem = f"this {why}; take it out of the file, and give it in the command or the environment"
        raise config.error(problem, *keys)
    for key, inner in value.items() if isinstance(value, dict) else ():
        _refuse_keys(config, (*keys, key), inner)


def table_of(config: ConfigFile, path: tuple[str, ...]) -> Mapping[str, Any]:
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


def describe_unknown_keys(
    config: ConfigFile,
    name: str,
    keys_of: Callable[[str], Mapping[str, Collection[str]]],
    tables_with: TablesWith,
) -> Iterator[str]:
    """Yield a sentence for each key in the table of another command that has no such option, with its line and the nearest.

    ``keys_of`` gives the options of a command by its name, ``""``; of a group those of each command in it. Where other
    commands have the option (``tables_with``), their tables are named instead of the nearest name.
    """
    own = name.partition(" ")[0]
    for word, table in config.tables.items():
        if word not in COMMANDS or word == own or not isinstance(table, dict):
            continue
        known = keys_of(word)
        tables = {(word,): table} if "" in known else {(word, each): table[each] for each in table}
        for path, options in tables.items():
            yield from _unknown_in(config, path, options, known, tables_with)


def _unknown_in(
    config: ConfigFile,
    path: tuple[str, ...],
    options: Any,
    known: Mapping[str, Collection[str]],
    tables_with: TablesWith,
) -> Iterator[str]:
    command = " ".join(path)
    keys = known.get(path[1] if len(path) > 1 else "")
    if keys is None:
        yield str(config.error(f"no command is called {command!r}.{nearest(path[-1], known)}", *path))
        return
    for key in options if isinstance(options, dict) else ():
        if (word := key.replace("-", "_")) not in keys:
            hint = _name_tables(config, tables_with(word)) or f".{nearest(word, keys)}"
            yield str(config.error(f"'rag-cover {command}' has no such option{hint}", *path, key))


def _name_tables(config: ConfigFile, tables: Sequence[tuple[str, ...]]) -> str:
    """Say to which tables an option belongs; empty where no command has it."""
    if not tables:
        return ""
    others = "tables of other commands, such as " if len(tables) > _SHOWN_TABLES else ""
    return f"; it belongs to {others}{' or '.join(config.table(*each) for each in tables[:_SHOWN_TABLES])}"


def _write_value(value: Any) -> str:
    """Write a value as it stands in a file of TOML."""
    return str(value).lower() if isinstance(value, bool) else str(value)


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
