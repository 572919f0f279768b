"""The configuration file: where it is looked for, how it is read, and on which line a key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_cover.errors import ConfigError

__all__ = ["CONFIG_NAME", "ConfigFile", "find_config", "read_config"]

CONFIG_NAME = "rag-cover.toml"
_PROJECT = "pyproject.toml"
_SECTION = ("tool", "rag-cover")
_MOST_BYTES = 256 << 10  # the time that a TOML reader takes for dotted keys grows with their square


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A configuration file as it was read: its tables, and its text, in which the lines of keys are found."""

    path: Path
    tables: Mapping[str, Any]
    section: tuple[str, ...]
    text: str

    def error(self, problem: str, *keys: str) -> ConfigError:
        """Make the error about a key, with the line on which it stands."""
        return ConfigError(problem, file=self.path, line=self.line_of(*keys), field=".".join(keys) or None)

    def place_of(self, *keys: str) -> str:
        """Say where a key stands: the file, the line, and the key with its tables."""
        line = self.line_of(*keys)
        return ", ".join([str(self.path), *([f"line {line}"] if line else []), f"at {'.'.join(keys)}"])

    def table(self, *keys: str) -> str:
        """Return how the head of a table reads in this file."""
        return f"[{'.'.join((*self.section, *keys))}]"

    def line_of(self, *keys: str) -> int | None:
        """Find the line of a key, or of the innermost table around it that is found (``tomllib`` tells no lines)."""
        path = (*self.section, *keys)
        return next((line for end in range(len(path), 0, -1) if (line := _line(self.text, path[:end]))), None)


def find_config(folder: Path) -> ConfigFile | None:
    """Find the configuration of a folder: there, or in the nearest of its parents up to the root of its repository.

    In one folder ``rag-cover.toml`` comes before ``[tool.rag-cover]`` of ``pyproject.toml``. Outside of a repository no parent
    is searched, so that nobody's file in a shared folder is taken.

    Raises:
        ConfigError: the file is there and cannot be read.
    """
    for each in _folders_to_search(folder):
        if (own := each / CONFIG_NAME).is_file():
            return read_config(own)
        if (shared := each / _PROJECT).is_file() and _mentions_us(shared):
            return read_config(shared)
    return None


def read_config(path: Path) -> ConfigFile:
    """Read a configuration file; of one called ``pyproject.toml`` the table ``[tool.rag-cover]``.

    Raises:
        ConfigError: the file cannot be read, is no TOML, or has no such table.
    """
    text = _read(path)
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as broken:
        place = re.search(r" \(at line (\d+), column \d+\)$", str(broken))
        problem = f"this is no TOML: {str(broken)[: place.start()] if place else broken}"
        raise ConfigError(problem, file=path, line=int(place[1]) if place else None) from broken
    if path.name != _PROJECT:
        return ConfigFile(path, document, (), text)
    return ConfigFile(path, _section(path, document), _SECTION, text)


def _folders_to_search(folder: Path) -> Iterator[Path]:
    folders = [folder, *folder.resolve().parents]
    root = next((number for number, each in enumerate(folders) if (each / ".git").exists()), 0)
    yield from folders[: root + 1]


def _mentions_us(path: Path) -> bool:
    """Return whether a project's file has a table for us; one that is broken elsewhere is for others to mend."""
    try:
        text = path.read_text("utf-8")
        if re.search(r"^\s*\[\s*tool\s*\.\s*[\"']?rag[-_]cover\b", text, re.MULTILINE):
            return True
        tool = tomllib.loads(text).get("tool")
    except (OSError, ValueError, RecursionError):  # unreadable, no UTF-8, no TOML
        return False
    return isinstance(tool, dict) and "rag-cover" in tool


def _section(path: Path, document: Mapping[str, Any]) -> Mapping[str, Any]:
    tool = document.get("tool", {})
    found = tool.get("rag-cover") if isinstance(tool, dict) else None
    if isinstance(found, dict):
        return found
    like = " The table [tool.rag_cover] is not read; write it with a hyphen." if "rag_cover" in tool else ""
    problem = f"there is no table [tool.rag-cover]; add it, or name another file with --config.{like}"
    raise ConfigError(problem, file=path)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            problem = f"the file holds more than {_MOST_BYTES >> 10} KB; leave in it what is configuration"
            raise ConfigError(problem, file=path)
        return path.read_text("utf-8")
    except UnicodeDecodeError as broken:
        problem = "this is no text in UTF-8; write it as TOML"
        raise ConfigError(problem, file=path) from broken
    except FileNotFoundError as missing:
        problem = "there is no such file; name one that exists, or leave --config out"
        raise ConfigError(problem, file=path) from missing
    except OSError as unreadable:
        problem = f"this cannot be read ({unreadable.strerror}); name a TOML file"
        raise ConfigError(problem, file=path) from unreadable


def _line(text: str, path: Sequence[str]) -> int | None:
    r"""Find where a key is given: in its table, as a dotted key, or as the head of its own table.

    >>> _line("[evaluate]\njudge = 1\n[compare]\njudge = 2\n", ("compare", "judge"))
    4
    """
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if head := re.match(r"\s*\[+([^\]]+)\]", line):
            table = _split(head[1])
            if table[: len(path)] == tuple(path):
                return number
        elif (key := re.match(r"\s*([\w\-.\"' ]+?)\s*=", line)) and (*table, *_split(key[1]))[: len(path)] == tuple(path):
            return number
    return None


def _split(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
