"""The benchmarks' modules, imported from the checkout as their commands import them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

Import = Callable[[str], ModuleType]
GetParser = Callable[[ModuleType], argparse.ArgumentParser]


class _ParsedError(Exception):
    """Carries a parser out of a script's ``main`` when it is asked to parse."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


@pytest.fixture(scope="module")
def folder(source_tree: Path) -> Path:
    """Return the folder of the benchmarks."""
    found = source_tree / "benchmarks"
    if not found.is_dir():
        pytest.skip("needs the benchmarks, which are no part of the wheel")
    return found


@pytest.fixture(scope="module")
def module(folder: Path) -> Iterator[Import]:
    """Import a module of the benchmarks by its name, such as ``judge.speed``; skip where it needs what is not installed."""
    sys.path.insert(0, str(folder.parent))
    yield _import
    sys.path.remove(str(folder.parent))


@pytest.fixture
def parser_of(monkeypatch: pytest.MonkeyPatch) -> GetParser:
    """Get the parser of a script's arguments, without running the script."""

    def get(script: ModuleType) -> argparse.ArgumentParser:
        def carry_out(parser: argparse.ArgumentParser, *_: object) -> NoReturn:
            raise _ParsedError(parser)

        with monkeypatch.context() as patch:
            patch.setattr(argparse.ArgumentParser, "parse_args", carry_out)
            with pytest.raises(_ParsedError) as carried:
                script.main()
        return carried.value.parser

    return get


def _import(name: str) -> ModuleType:
    try:
        return import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] in ("benchmarks", "rag_cover"):
            raise
        pytest.skip(f"needs {missing.name}")
    except ImportError as halfway:  # what doctests left of a module that needs torch
        if find_spec("torch") is None and (halfway.name or "").startswith("rag_cover_embedded.training"):
            pytest.skip("needs torch")
        raise
