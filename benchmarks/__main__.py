"""List the benchmarks: how each is run, what it measures, which data it needs.

    python -m benchmarks                        # all
    python -m benchmarks judge                  # those of one folder
    python -m benchmarks judge.speed            # one, with all that its documentation says

Every benchmark is run from the root of the source tree by ``python -m benchmarks.<folder>.<name>``; ``--help`` names its
options. The table is made from the files' docstrings; nothing is imported.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

FOLDER = Path(__file__).resolve().parent
SHARED_CODE = "support"
WIDTH = 140
"""Characters of a table that is not printed to a terminal."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A script: its name, such as ``judge.speed``, and its docstring; the last lines of that say what it needs."""

    name: str
    doc: str

    @property
    def command(self) -> str:
        """Return the command that runs it."""
        return f"python -m benchmarks.{self.name}"

    @property
    def summary(self) -> str:
        """Return what it measures: the first line of its docstring."""
        return self.doc.partition("\n")[0]

    @property
    def data(self) -> str:
        """Return the data that it needs."""
        return self._line("Data")

    @property
    def time(self) -> str:
        """Return how long it runs, about; empty where the docstring does not say."""
        return self._line("Time")

    def _line(self, title: str) -> str:
        found = re.search(rf"^{title}: (.+?)\.?$", self.doc, re.MULTILINE)
        return found[1] if found else ""


def find_benchmarks() -> list[Benchmark]:
    """Read the docstrings of all benchmarks, by name."""
    paths = [path for path in FOLDER.glob("*/*.py") if path.parent.name != SHARED_CODE and path.stem != "__init__"]
    return [
        Benchmark(f"{path.parent.name}.{path.stem}", ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
        for path in sorted(paths)
    ]


def select_benchmarks(benchmarks: list[Benchmark], name: str) -> list[Benchmark]:
    """Keep those of a folder, or the one of that name; none where there is no such name.

    >>> [each.name for each in select_benchmarks([Benchmark("judge.nli", ""), Benchmark("scale.memory", "")], "judge")]
    ['judge.nli']
    """
    asked = name.removeprefix("benchmarks.").removeprefix("benchmarks/").removesuffix(".py").strip("/").replace("/", ".")
    return [each for each in benchmarks if asked in (each.name, each.name.partition(".")[0])]


def nearest_names(benchmarks: list[Benchmark], name: str) -> list[str]:
    """Name the folders and scripts that are written most like a name that is none of theirs, at most three.

    >>> nearest_names([Benchmark("judge.nli", ""), Benchmark("scale.memory", "")], "memroy")
    ['scale.memory']
    """
    names = {each.name: each.name for each in benchmarks}
    names |= {each.name.partition(".")[2]: each.name for each in benchmarks}
    names |= {folder: folder for folder in (each.name.partition(".")[0] for each in benchmarks)}
    found = get_close_matches(name.replace("/", "."), names, n=3, cutoff=0.65)
    return list(dict.fromkeys(names[each] for each in found))


def show_table(benchmarks: list[Benchmark], console: Console) -> None:
    """Print commands, what they measure, the data they need and how long they take."""
    table = Table(Column("command", no_wrap=True), "what it measures", "data", "time")
    for before, each in zip([None, *benchmarks], benchmarks, strict=False):
        folder = each.name.partition(".")[0]
        if before is not None and before.name.partition(".")[0] != folder:
            table.add_section()
        table.add_row(each.name, each.summary, each.data, each.time or "–")
    console.print(table)
    console.print("command: python -m benchmarks.<command>, from the root of the source tree; --help names its options.")
    console.print("shared folder: ../shared/data beside the source tree, or another one named by --data.")


def main(words: list[str] | None = None) -> int:
    """Print the list; returns the exit code."""
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__, formatter_class=how)
    parser.add_argument("name", nargs="?", help="a folder, such as judge, or a benchmark, such as judge.speed (default: all)")
    name = parser.parse_args(words).name
    benchmarks = find_benchmarks()
    chosen = select_benchmarks(benchmarks, name) if name else benchmarks
    if not chosen:
        nearest = nearest_names(benchmarks, name)
        hint = f"Did you mean {' or '.join(nearest)}?" if nearest else "'python -m benchmarks' lists them."
        print(f"No benchmark or folder of benchmarks is called {name!r}. {hint}", file=sys.stderr)
        return 2
    if name and all(each.name.partition(".")[0] != name.strip("/") for each in chosen):
        print(f"{chosen[0].command}\n\n{chosen[0].doc}")
        return 0
    console = Console(markup=False, highlight=False)
    show_table(chosen, console if console.is_terminal else Console(markup=False, highlight=False, width=WIDTH))
    return 0


if __name__ == "__main__":
    sys.exit(main())
