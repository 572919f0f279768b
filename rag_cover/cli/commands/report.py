"""``rag-cover report``: the page of an evaluation that is kept in a store."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.console import say, screen
from rag_cover.cli.json_output import write_page
from rag_cover.cli.options import OUTPUT, Force, Labels, Quiet
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.evaluation import Evaluation
from rag_cover.reports import spending_table, summary_panel, utility_panel, write_report

__all__ = ["ReportOptions", "report_results"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """The options of ``rag-cover report``."""

    store: Annotated[Path, typer.Argument(help="The store of an evaluation.", metavar="STORE", show_default=False)]
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The file to write.", metavar="FILE", rich_help_panel=OUTPUT, show_default="STORE.html"
        ),
    ] = None
    labels: Labels = None
    force: Force = False
    quiet: Quiet = False


@expand_options
def report_results(options: ReportOptions) -> None:
    """Write the report of an evaluation, as one HTML file that opens offline.

    [bold]Example[/bold]

      rag-cover report traces-coverage.sqlite -o report.html
    """
    page = options.out or Path(options.store.name).with_suffix(".html")
    refuse_existing(page, force=options.force, inputs=[options.store])
    evaluation = Evaluation.open(options.store).with_labels(options.labels or ())
    summary = evaluation.summary()
    people = evaluation.compare_with_labels()
    write_page(page, partial(write_report, page, evaluation.labelled_results, summary, people=people))
    panel = utility_panel if summary.utility and "coverage" not in summary.outcomes else summary_panel
    screen(quiet=options.quiet).print(panel(summary))
    if evaluation.spending:
        screen(quiet=options.quiet).print(spending_table(evaluation.spending, {}))
    say(f"Report: {page}", quiet=options.quiet)
