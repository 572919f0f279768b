"""Which framework a project uses: what it declares, what it imports, and what is installed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rag_cover.cli.scaffold.sources import EngineObject, engines_in, imports_in, read_sources

__all__ = ["FRAMEWORKS", "Framework", "FrameworkUse", "Project", "inspect_project"]

_LONGEST_LINE = 1_000_000
_MOST_ANSWER_FILES = 100


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework: its name, our extra and adapter for it, its core distribution, its packages, how its distributions begin."""

    title: str
    extra: str
    adapter: str
    distribution: str
    packages: tuple[str, ...]
    families: tuple[str, ...]

    def has_part(self, distribution: str) -> bool:
        """Return whether a distribution is part of the framework.

        >>> FRAMEWORKS["langchain"].has_part("langchain-openai"), FRAMEWORKS["langchain"].has_part("llama-index")
        (True, False)
        """
        return any(distribution == each or distribution.startswith(f"{each}-") for each in self.families)

    @property
    def installed(self) -> str | None:
        """Return the installed version of its core; None where it is not installed."""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return None

    @property
    def oldest(self) -> str | None:
        """Return the oldest version that our adapter works with, as our own metadata says."""
        wanted = re.compile(rf"{self.distribution}\s*>=\s*([\d.]+).*extra\s*==\s*['\"]{self.extra}['\"]")
        return next((match[1] for each in requires("rag-cover") or () if (match := wanted.match(each))), None)

    @property
    def is_too_old(self) -> bool:
        """Return whether the installed version is older than our adapter needs."""
        return bool(self.installed and self.oldest) and _numbers(self.installed) < _numbers(self.oldest)


FRAMEWORKS: Mapping[str, Framework] = MappingProxyType(
    {
        "llama-index": Framework(
            "LlamaIndex", "llama-index", "rag_cover_llama_index", "llama-index-core", ("llama_index",), ("llama-index",)
        ),
        "langchain": Framework(
            "LangChain",
            "langchain",
            "rag_cover_langchain",
            "langchain-core",
            ("langchain", "langchain_classic", "langchain_community", "langchain_core", "langgraph"),
            ("langchain", "langgraph"),
        ),
    }
)


@dataclass(frozen=True, slots=True)
class FrameworkUse:
    """What says that a project uses a framework: ``declared`` requirements with their files, importing files, the objects."""

    name: str
    declared: tuple[str, ...]
    importing: int
    engines: tuple[EngineObject, ...]

    @property
    def framework(self) -> Framework:
        """Return the framework."""
        return FRAMEWORKS[self.name]

    @property
    def is_used(self) -> bool:
        """Return whether the project declares or imports it."""
        return bool(self.declared) or self.importing > 0

    @property
    def evidence(self) -> str:
        """Say in words what was seen."""
        imported = "1 file imports it" if self.importing == 1 else f"{self.importing} files import it" if self.importing else ""
        installed = f"{self.framework.distribution} {self.framework.installed} is installed" if self.framework.installed else ""
        return "; ".join(each for each in (", ".join(self.declared), imported, installed) if each)


@dataclass(frozen=True, slots=True)
class Project:
    """A project's folder, what it uses of each framework, the file that its requirements stand in, and a file of answers."""

    folder: Path
    uses: Mapping[str, FrameworkUse]
    requirements: str | None
    answers: str | None

    def choose(self) -> str | None:
        """Return the framework to write for: the one that is used, or of two the one that more files import; None: unclear.

        ``"jsonl"`` stands for neither; a framework that is only installed counts where nothing else is.
        """
        used = [use for use in self.uses.values() if use.is_used]
        if not used:
            installed = [name for name, use in self.uses.items() if use.framework.installed]
            return installed[0] if len(installed) == 1 and not self.answers else "jsonl"
        used.sort(key=lambda use: -use.importing)
        return None if len(used) > 1 and used[0].importing == used[1].importing else used[0].name


def inspect_project(folder: Path) -> Project:
    """Read what says which framework a project uses; nothing of it is run."""
    sources = read_sources(folder)
    declared = list(_read_requirements(folder))
    uses = {
        name: FrameworkUse(
            name,
            tuple(dict.fromkeys(f"{text} in {file}" for file, text in declared if framework.has_part(_name_of(text)))),
            imports_in(sources, framework.packages),
            tuple(engines_in(sources, name, framework.packages)),
        )
        for name, framework in FRAMEWORKS.items()
    }
    return Project(folder, uses, _requirements_file(folder), _answers_file(folder))


def _read_requirements(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the file and the text of each requirement."""
    for path in sorted(folder.glob("requirements*.txt")):
        for line in _text(path).splitlines():
            if (text := line.partition("#")[0].partition(";")[0].strip()) and not text.startswith("-"):
                yield path.name, text
    for text in _requirements_of(_pyproject(folder)):
        yield "pyproject.toml", text.partition(";")[0].strip()


def _requirements_of(document: Mapping[str, Any]) -> Iterator[str]:
    project, poetry = _table(document, "project"), _table(document, "tool", "poetry")
    lists = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    lists += _table(document, "dependency-groups").values()
    for each in lists:
        yield from (text for text in each if isinstance(text, str)) if isinstance(each, list) else ()
    tables = [_table(poetry, "dependencies")]
    tables += [_table(group, "dependencies") for group in _table(poetry, "group").values() if isinstance(group, dict)]
    for table in tables:
        yield from (f"{name} {wanted}" if isinstance(wanted, str) else name for name, wanted in table.items())


def _pyproject(folder: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(_text(folder / "pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _table(document: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    for key in keys:
        inner = document.get(key)
        document = inner if isinstance(inner, dict) else {}
    return document


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _name_of(requirement: str) -> str:
    """Return the normalised name of a requirement's distribution.

    >>> _name_of("LangChain_Core[extra]>=1.7")
    'langchain-core'
    """
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""


def _numbers(text: str | None) -> tuple[int, ...]:
    """Return the leading numbers of a version.

    >>> _numbers("0.13.1.post1") < _numbers("0.14")
    True
    """
    numbers = re.match(r"\d+(?:\.\d+)*", text or "")
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def _requirements_file(folder: Path) -> str | None:
    return next((name for name in ("requirements.txt", "pyproject.toml", "setup.py") if (folder / name).is_file()), None)


def _answers_file(folder: Path) -> str | None:
    """Return the first JSONL file of the folder whose first line has a question and an answer."""
    for path in islice(sorted(folder.glob("*.jsonl")), _MOST_ANSWER_FILES):
        try:
            with path.open(encoding="utf-8") as file:
                first = json.loads(file.readline(_LONGEST_LINE))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(first, dict) and {"question", "answer"} <= first.keys():
            return path.name
    return None
