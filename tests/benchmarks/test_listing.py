"""Every benchmark is listed, imports without doing anything, and says how it is run and what it needs."""

from __future__ import annotations

import doctest
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.benchmarks.conftest import GetParser

Import = Callable[[str], ModuleType]

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = [f"{path.parent.name}.{path.stem}" for path in sorted(FOLDER.glob("*/*.py")) if path.stem != "__init__"]
SCRIPTS = [name for name in NAMES if not name.startswith("support.")]


@pytest.fixture(scope="module")
def listing(module: Import) -> ModuleType:
    """Return the command that lists the benchmarks."""
    return module("__main__")


@pytest.fixture(scope="module")
def listed(listing: ModuleType) -> dict[str, Any]:
    """Return what the benchmarks say of themselves, by name."""
    return {each.name: each for each in listing.find_benchmarks()}


def test_every_benchmark_is_listed(listed: dict[str, Any]) -> None:
    assert list(listed) == SCRIPTS


def test_all_code_is_in_a_folder(folder: Path) -> None:
    assert {path.name for path in folder.glob("*.py")} == {"__init__.py", "__main__.py"}
    assert [path for path in folder.rglob("*.py") if len(path.relative_to(folder).parts) > 2] == []


def test_the_examples_in_docstrings_hold(listing: ModuleType) -> None:
    assert doctest.testmod(listing).failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_importing_does_nothing(
    name: str, module: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)
    threads = threading.active_count()

    module(name)

    assert "".join(capsys.readouterr()) == ""
    assert threading.active_count() == threads
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_benchmark_says_how_it_is_run_and_what_it_needs(name: str, listed: dict[str, Any]) -> None:
    benchmark = listed[name]

    assert benchmark.summary.endswith((".", "?"))
    assert f"    {benchmark.command}" in benchmark.doc
    assert benchmark.data.startswith(("none", "shared folder"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_help_begins_with_the_docstring(name: str, module: Import, parser_of: GetParser) -> None:
    script = module(name)

    helped = parser_of(script).format_help()

    assert str(script.__doc__).partition("\n")[0] in helped
    assert "--help" in helped


def test_the_table_has_every_benchmark(listing: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main([]) == 0

    printed = capsys.readouterr().out
    assert all(name in printed for name in SCRIPTS)


def test_a_folder_is_listed_alone(listing: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main(["belief"]) == 0

    printed = capsys.readouterr().out
    assert {name for name in SCRIPTS if name in printed} == {
        "belief.entailment_speed",
        "belief.passage_sets",
        "belief.utility_correlation",
    }


@pytest.mark.parametrize("name", ["judge.nli", "judge/nli", "benchmarks/judge/nli.py", "benchmarks.judge.nli"])
def test_one_benchmark_is_shown_with_all_it_says(name: str, listing: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main([name]) == 0

    assert capsys.readouterr().out.startswith("python -m benchmarks.judge.nli\n\nDoes the judge see what follows from what?")


def test_an_unknown_name_is_answered_with_the_nearest(listing: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main(["memroy"]) == 2

    printed, told = capsys.readouterr()
    assert printed == ""
    assert told == "No benchmark or folder of benchmarks is called 'memroy'. Did you mean scale.memory?\n"
