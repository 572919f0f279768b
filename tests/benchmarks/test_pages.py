"""The commands that the pages name exist, with the options that they name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.benchmarks.conftest import GetParser

Import = Callable[[str], ModuleType]

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    *(f"docs/guides/{page.name}" for page in sorted((ROOT / "docs/guides").glob("*.md"))),
    "CONTRIBUTING.md",
    "docs/benchmarks.md",
    "docs/faults.md",
    "plugins/rag_cover_embedded/MODEL_CARD.md",
    "plugins/rag_cover_embedded/training/texts/README.md",
)
COMMAND = re.compile(r"python -m benchmarks\.([\w.]+)([^`#]*)")
FAULT = re.compile(r"\| `([\w-]+)` \|$", re.MULTILINE)


def _commands() -> Iterator[tuple[str, str, str]]:
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8") if (ROOT / page).is_file() else ""
        for name, options in dict.fromkeys(COMMAND.findall(text)):
            yield page, name, " ".join(options.split())


@pytest.mark.parametrize(("page", "name", "options"), [*_commands()])
def test_a_command_of_a_page_is_one_that_runs(page: str, name: str, options: str, module: Import, parser_of: GetParser) -> None:
    parser = parser_of(module(name))
    faults = FAULT.findall((ROOT / page).read_text(encoding="utf-8")) if "NAME" in options else [""]

    for fault in faults:
        assert parser.parse_args(shlex.split(options.replace("NAME", fault)))
    assert faults


def test_every_figure_names_its_command(source_tree: Path) -> None:
    _, _, table = (
        (source_tree / "docs/benchmarks.md").read_text(encoding="utf-8").partition("| printed by |\n|---|---|---|---|---|\n")
    )

    printed_by = [row.split("|")[-2].strip() for row in table.partition("\n\n")[0].splitlines()]

    assert len(printed_by) > 30
    assert [cell for cell in printed_by if cell != "the same" and not COMMAND.search(cell)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_path_of_a_page_into_the_benchmarks_exists(page: str, folder: Path) -> None:
    text = (folder.parent / page).read_text(encoding="utf-8")

    missing = [path for path in re.findall(r"benchmarks/[\w/.]*\w", text) if not (folder.parent / path).exists()]

    assert missing == []


def test_the_tables_are_on_their_pages_and_the_readme_links_them(source_tree: Path) -> None:
    text = (source_tree / "README.md").read_text(encoding="utf-8")

    assert "(docs/benchmarks.md)" in text
    assert "(docs/faults.md)" in text
    assert "| printed by |" not in text
