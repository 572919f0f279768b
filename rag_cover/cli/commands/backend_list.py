"""``rag-cover backends``: which models are at hand, what each offers, and what is missing for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import cast

from rich.table import Table

from rag_cover.backends import Backend
from rag_cover.cascade.names import SCHEME
from rag_cover.cli.console import print_json, screen
from rag_cover.cli.options import AsJson
from rag_cover.cli.parameters import expand_options
from rag_cover.hooks import PROJECT
from rag_cover.plugin_manager import plugins
from rag_cover.registry import find_backends

__all__ = ["BackendListOptions", "list_backends"]

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([A-Za-z0-9._-]+)['\"]")


@dataclass(frozen=True, slots=True)
class _Listed:
    """One backend: ``missing`` are the packages that must be installed before it can be used."""

    scheme: str
    summary: str
    offers: tuple[str, ...]
    plugin: str
    missing: tuple[str, ...]
    install: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendListOptions:
    """The options of ``rag-cover backends``."""

    as_json: AsJson = False


@expand_options
def list_backends(options: BackendListOptions) -> None:
    """List the model backends that are installed, what each one offers, and the engines that run them.

    [bold]Example[/bold]

      rag-cover backends
    """
    listed = sorted(_list_backend(), key=lambda backend: backend.scheme)
    if options.as_json:
        print_json([asdict(backend) for backend in listed])
        return
    table = Table("scheme", "offers", "what it is", "ready")
    for backend in listed:
        table.add_row(backend.scheme, "\n".join(backend.offers), backend.summary, backend.install or "yes")
    screen().print(table)
    screen().print(f"Engines: {', '.join(['local', *_engines()])}", soft_wrap=True)


def _engines() -> Iterator[str]:
    """Name the engines that plugins bring, with what must be installed before one can be used."""
    for implementation in plugins().hook.engines.get_hookimpls():
        missing = tuple(_missing(implementation.plugin_name))
        needs = f" (pip install {' '.join(_quote(implementation.plugin_name, missing))})" if missing else ""
        yield from (f"{name}{needs}" for name in cast("Mapping[str, object]", implementation.function()))


def _list_backend() -> Iterator[_Listed]:
    own = find_backends()[SCHEME]  # refuses two plugins with one scheme
    yield _Listed(own.scheme, own.summary, own.offers, PROJECT, (), None)
    for implementation in plugins().hook.backends.get_hookimpls():
        plugin = implementation.plugin_name
        missing = tuple(_missing(plugin))
        install = f"pip install {' '.join(_quote(plugin, missing))}" if missing else None
        for backend in cast("list[Backend]", implementation.function()):
            yield _Listed(backend.scheme, backend.summary, backend.offers, plugin, missing, install)


def _missing(plugin: str) -> Iterator[str]:
    """Name what the plugin's distribution requires, always or in the extra of the plugin's name, and is not installed."""
    for requirement in _requirements(plugin):
        extra = _EXTRA.search(requirement)
        name = _NAME.match(requirement)
        if name and (extra.group(1) == plugin if extra else ";" not in requirement):
            try:
                version(name.group())
            except PackageNotFoundError:
                yield name.group()


def _requirements(plugin: str) -> list[str]:
    """Return the requirements of the distribution that brings the plugin; none for a plugin registered by hand."""
    return [
        requirement
        for entry in entry_points(group=PROJECT, name=plugin)
        if entry.dist
        for requirement in entry.dist.requires or []
    ]


def _quote(plugin: str, missing: tuple[str, ...]) -> tuple[str, ...]:
    """Name the extra where the distribution has one for the plugin, else the packages."""
    for entry in entry_points(group=PROJECT, name=plugin):
        if entry.dist and plugin in (entry.dist.metadata.get_all("Provides-Extra") or []):
            return (f"'{entry.dist.name}[{plugin}]'",)
    return missing
