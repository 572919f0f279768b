"""The benchmarks' modules, imported from the checkout as their scripts import them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

Import = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def folder(source_tree: Path) -> Path:
    """Return the folder of the benchmarks."""
    found = source_tree / "benchmarks"
    if not found.is_dir():
        pytest.skip("needs the benchmarks, which are no part of the distribution")
    return found


@pytest.fixture(scope="module")
def module(folder: Path) -> Iterator[Import]:
    """Import a module of the benchmarks by its name."""
    sys.path.insert(0, str(folder))
    before = set(sys.modules)
    yield import_module
    sys.path.remove(str(folder))
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]
