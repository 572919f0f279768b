"""``rag-cover evaluate``: a file of traces in, a summary, a store and a report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.accounting import Price, read_prices
from rag_cover.cli.documents import spending_document, summary_document, write_page
from rag_cover.cli.exits import ExitCode
from rag_cover.cli.gates import GateResult, gates_of, tell_failed
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.options import (
    GATES,
    MEASURING,
    OUTPUT,
    AsJson,
    Columns,
    Deadline,
    Format,
    Judge,
    Limit,
    NoCache,
    OnError,
    Prices,
    Quiet,
    Report,
    Workers,
    columns_of,
)
from rag_cover.cli.runs import Run, measures_of, report_for, store_for
from rag_cover.cli.screens import print_json, say, screen
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
            help="What to measure: coverage, groundedness. May be repeated; by default all that the traces allow.",
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
    no_store: Annotated[
        bool, typer.Option("--no-store", help="Keep no results.", rich_help_panel=OUTPUT, show_default=False)
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with what the store holds, instead of anew: measure what is missing, and again what failed.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = False,
    report: Report = None,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write no report.", rich_help_panel=OUTPUT, show_default=False)
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with 1 where the figure is below this: core_coverage=0.6. May be repeated.",
            metavar="METRIC=NUMBER",
            rich_help_panel=GATES,
        ),
    ] = None,
    fail_under_lower: Annotated[
        list[str] | None,
        typer.Option(help="The same for the lower end of its 95% interval.", metavar="METRIC=NUMBER", rich_help_panel=GATES),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 4 where a measurement failed.", rich_help_panel=GATES, show_default=False),
    ] = False,
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
        Models(judge=judge, decomposer=sub_questions or generator),
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
        print_json(_document(run, summary, page, results) | spent)
    else:
        _show(run, evaluation, summary, page, table)
    tell_failed(results)
    raise typer.Exit(_exit_code(summary, results, strict=strict))


def _show(run: Run, evaluation: Evaluation, summary: Summary, page: Path | None, prices: Mapping[str, Price]) -> None:
    out = screen(quiet=run.quiet)
    out.print(summary_panel(summary))
    out.print(worst_questions(evaluation.results))
    if evaluation.spending:
        out.print(spending_table(evaluation.spending, prices))
    for what, path in (("Results", run.store), ("Report", page)):
        if path:
            say(f"{what}: {path}", quiet=run.quiet)
    if run.store and (failed := _failed(summary)):
        what = "1 measurement" if failed == 1 else f"{failed:,} measurements"
        say(f"{what} failed; the same command with --resume tries again, and keeps the rest.", quiet=run.quiet)


def _document(run: Run, summary: Summary, page: Path | None, results: Sequence[GateResult]) -> dict[str, object]:
    gates = [
        {"option": result.gate.option, "value": result.value, "passed": result.problem is None, "problem": result.problem}
        for result in results
    ]
    return {
        "summary": summary_document(summary),
        "skipped": [str(error) for error in run.file.skipped],
        "gates": gates,
        "store": str(run.store) if run.store else None,
        "report": str(page) if page else None,
    }


def _exit_code(summary: Summary, results: Sequence[GateResult], *, strict: bool) -> ExitCode:
    if any(result.problem for result in results):
        return ExitCode.GATE_FAILED
    return ExitCode.FAILURES if strict and _failed(summary) else ExitCode.OK


def _failed(summary: Summary) -> int:
    return sum(counts.failed for counts in summary.outcomes.values())
