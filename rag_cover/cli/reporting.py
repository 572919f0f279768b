"""``rag-cover report``: the page of an evaluation that is kept in a store."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.console import say, screen
from rag_cover.cli.json_output import write_page
from rag_cover.cli.options import OUTPUT, Quiet
from rag_cover.evaluation import Evaluation
from rag_cover.reports import spending_table, summary_panel, utility_panel, write_report

__all__ = ["report_results"]


def report_results(
    store: Annotated[Path, typer.Argument(help="The store of an evaluation.", metavar="STORE", show_default=False)],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The file to write; by default STORE with the ending .html.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the report of an evaluation, as one HTML file that opens offline.

    [bold]Example[/bold]

      rag-cover report traces-coverage.sqlite -o report.html
    """
    evaluation = Evaluation.open(store)
    summary = evaluation.summary()
    page = out or Path(store.name).with_suffix(".html")
    write_page(page, partial(write_report, page, evaluation.results, summary))
    panel = utility_panel if summary.utility and "coverage" not in summary.outcomes else summary_panel
    screen(quiet=quiet).print(panel(summary))
    if evaluation.spending:
        screen(quiet=quiet).print(spending_table(evaluation.spending, {}))
    say(f"Report: {page}", quiet=quiet)
