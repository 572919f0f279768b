"""``rag-cover compare``: two pipelines on the same questions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag_cover.cli.documents import comparison_document, write_page
from rag_cover.cli.inputs import TraceFile, name_of
from rag_cover.cli.options import INPUT, AsJson, Columns, Format, Judge, OnError, Quiet, Report, Workers, columns_of
from rag_cover.cli.runs import Run, kept_or_evaluated, store_for
from rag_cover.cli.screens import print_json, say, screen
from rag_cover.comparison import compare
from rag_cover.registry import Models
from rag_cover.reports import comparison_table, write_comparison

__all__ = ["compare_pipelines"]

_Side = Annotated[Path, typer.Argument(help="A trace file, or the store of an evaluation.", show_default=False)]


def compare_pipelines(  # noqa: PLR0913  # a command has as many options as it has
    a: _Side,
    b: _Side,
    *,
    format_: Format = None,
    column: Columns = None,
    on_error: OnError = "raise",
    sub_questions: Annotated[
        Literal["same", "any"],
        typer.Option(help="Refuse questions whose sub-questions differ, or compare them all the same.", rich_help_panel=INPUT),
    ] = "same",
    judge: Judge = "embedded",
    workers: Workers = None,
    report: Report = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare two pipelines on the questions they share: B against A.

    A trace file is evaluated first, and kept in a store: the next time, only what is new in it.

    [bold]Examples[/bold]

      rag-cover compare before.jsonl after.jsonl

      rag-cover compare before-coverage.sqlite after-coverage.sqlite --report comparison.html
    """
    files = [TraceFile(path, format_, columns_of(column), on_error) for path in (a, b)]
    stores = _stores(a, b)
    sides = [
        kept_or_evaluated(Run(file, store, Models(judge=judge), resume=True, workers=workers, quiet=quiet or as_json))
        for file, store in zip(files, stores, strict=True)
    ]
    comparison = compare(sides[0], sides[1], sub_questions=sub_questions)
    if report:
        write_page(report, partial(write_comparison, report, comparison))
    if as_json:
        print_json(comparison_document(comparison) | {"report": str(report) if report else None})
        return
    screen(quiet=quiet).print(comparison_table(comparison))
    if report:
        say(f"Report: {report}", quiet=quiet)


def _stores(a: Path, b: Path) -> tuple[Path, Path]:
    """Name the two stores; files of one name in two folders get the folders' names too."""
    if name_of(a) != name_of(b) or a.resolve() == b.resolve():
        return store_for(a), store_for(b)
    first, second = (Path(f"{path.resolve().parent.name}-{store_for(path)}") for path in (a, b))
    if first == second:
        message = f"{a} and {b} would be kept under one name; evaluate them with --store and compare the stores"
        raise typer.BadParameter(message)
    return first, second
