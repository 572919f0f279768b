"""``rag-cover evaluate``: a file of traces in, a summary, a store and a report out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.accounting import Price, read_prices
from rag_cover.cli.documents import spending_document, write_page
from rag_cover.cli.gates import exit_code_for, gates_of, tell_failed
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.options import (
    MEASURING,
    OUTPUT,
    AsJson,
    Columns,
    Deadline,
    Entailer,
    FailUnder,
    FailUnderLower,
    Format,
    Judge,
    Limit,
    NoCache,
    NoReport,
    NoStore,
    OnError,
    Prices,
    Quiet,
    Receiver,
    Report,
    Resume,
    Strict,
    Workers,
    columns_of,
)
from rag_cover.cli.runs import Run, measures_of, report_for, run_document, store_for, tell_where
from rag_cover.cli.screens import print_json, screen
from rag_cover.evaluation import Evaluation
from rag_cover.registry import Models
from rag_cover.reports import spending_table, summary_panel, worst_questions, write_report
from rag_cover.summaries import SUMMARY_METRICS, Summary

__all__ = ["evaluate_traces"]


def evaluate_traces(  # noqa: PLR0913  # a command has as many options as it has
    traces: Annotated[
        Path, typer.Argument(help="A trace file, or a file in any format that 'convert' reads.", metavar="TRACES")
    ],
    *,
    format_: Format = None,
    column: Columns = None,
    on_error: OnError = "raise",
    limit: Limit = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="What to measure: coverage, groundedness, utility. May be repeated; by default all that the traces allow.",
            metavar="NAME",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    judge: Judge = "embedded",
    threshold: Annotated[
        float | None,
        typer.Option(
            help="The probability from which a text covers a sub-question; by default the judge's own.",
            min=0.0,
            max=1.0,
            rich_help_panel=MEASURING,
        ),
    ] = None,
    entailer: Entailer = None,
    receiver: Receiver = None,
    generator: Annotated[
        str | None,
        typer.Option(
            help="The model that splits questions where traces bring no sub-questions; by default rules do.",
            metavar="NAME",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    sub_questions: Annotated[
        Path | None,
        typer.Option(
            help="Take the sub-questions that traces do not bring from this file of [bold]rag-cover decompose[/bold].",
            metavar="FILE",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    workers: Workers = None,
    no_cache: NoCache = False,
    deadline: Deadline = None,
    prices: Prices = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Keep the results here; by default in TRACES-coverage.sqlite.", metavar="FILE", rich_help_panel=OUTPUT
        ),
    ] = None,
    no_store: NoStore = False,
    resume: Resume = False,
    report: Report = None,
    no_report: NoReport = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    fail_under: FailUnder = None,
    fail_under_lower: FailUnderLower = None,
    strict: Strict = False,
) -> None:
    """Measure what answers cover and leave out, and where the rest was lost.

    Results go to a store, so that an interrupted run can be gone on with, and to a report that opens in a browser.

    [bold]Examples[/bold]

      rag-cover evaluate traces.jsonl

      rag-cover evaluate export.csv --column question=Frage --limit 50

      rag-cover evaluate traces.jsonl --json --fail-under core_coverage=0.6 --strict
    """
    gates = [
        *gates_of(fail_under, lower=False, known=SUMMARY_METRICS),
        *gates_of(fail_under_lower, lower=True, known=SUMMARY_METRICS),
    ]
    table = read_prices(prices) if prices else {}
    run = Run(
        TraceFile(traces, format_, columns_of(column), on_error, limit),
        None if no_store else store or store_for(traces),
        Models(judge=judge, entailer=entailer, receiver=receiver, decomposer=sub_questions or generator),
        measures_of(measure, threshold),
        resume,
        workers,
        quiet or as_json,
        not no_cache,
        deadline,
    )
    evaluation = run.evaluated()
    page = None if no_report else report or report_for(traces)
    summary = evaluation.summary()
    if page:
        write_page(page, partial(write_report, page, evaluation.results, summary))
    results = [gate.check(summary) for gate in gates]
    if as_json:
        spent = {"spending": spending_document(evaluation.spending, table)} if evaluation.spending else {}
        print_json(run_document(run, summary, page, results) | spent)
    else:
        _show(run, evaluation, summary, page, table)
    tell_failed(results)
    raise typer.Exit(exit_code_for(summary, results, strict=strict))


def _show(run: Run, evaluation: Evaluation, summary: Summary, page: Path | None, prices: Mapping[str, Price]) -> None:
    out = screen(quiet=run.quiet)
    out.print(summary_panel(summary))
    out.print(worst_questions(evaluation.results))
    if evaluation.spending:
        out.print(spending_table(evaluation.spending, prices))
    tell_where(run, summary, page)
