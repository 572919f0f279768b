"""``rag-cover evaluate``: a file of traces in, a summary, a store and a report out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rag_cover.cli.engines import Address, EngineName, Gpus, engine_of
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.options import (
    MEASURING,
    OUTPUT,
    AsJson,
    Columns,
    DeadlineSeconds,
    Entailer,
    FailUnder,
    FailUnderLower,
    Format,
    Judge,
    Limit,
    NoCache,
    NoReport,
    NoStore,
    OnBadLine,
    Prices,
    Quiet,
    Receiver,
    Redact,
    RedactKey,
    Report,
    Resume,
    Strict,
    Workers,
    columns_of,
    redaction_of,
)
from rag_cover.cli.output import Ending
from rag_cover.cli.run import Run, measures_of, report_for, store_for
from rag_cover.registry import Models
from rag_cover.reports import summary_panel, worst_questions, write_report

__all__ = ["evaluate_traces"]


def evaluate_traces(  # noqa: PLR0913  # a command has as many options as it has
    traces: Annotated[
        Path, typer.Argument(help="A trace file, or a file in any format that 'convert' reads.", metavar="TRACES")
    ],
    *,
    format_: Format = None,
    column: Columns = None,
    on_bad_line: OnBadLine = "raise",
    limit: Limit = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="What to measure: coverage, groundedness, utility, complexity; answer_relevance, context_relevance; or a "
            "plugin's measure. May be repeated; by default the first four, as far as the traces allow.",
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
    engine: EngineName = "local",
    address: Address = None,
    gpus: Gpus = None,
    no_cache: NoCache = False,
    deadline: DeadlineSeconds = None,
    prices: Prices = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Keep the results here; by default in TRACES-coverage.sqlite.", metavar="FILE", rich_help_panel=OUTPUT
        ),
    ] = None,
    no_store: NoStore = False,
    resume: Resume = False,
    redact: Redact = False,
    redact_key: RedactKey = None,
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

      rag-cover evaluate traces.jsonl --engine ray --address auto --workers 8
    """
    ending = Ending.read(
        None if no_report else report or report_for(traces),
        as_json=as_json,
        fail_under=fail_under,
        fail_under_lower=fail_under_lower,
        strict=strict,
        prices=prices,
    )
    run = Run(
        TraceFile(traces, format_, columns_of(column), on_bad_line, limit),
        None if no_store else store or store_for(traces),
        Models(judge=judge, entailer=entailer, receiver=receiver, decomposer=sub_questions or generator),
        measures_of(measure, threshold),
        resume,
        workers,
        quiet or as_json,
        not no_cache,
        deadline,
        redaction=redaction_of(redact, redact_key),
        engine=engine_of(engine, workers=workers, address=address, gpus=gpus),
    )
    evaluation = run.evaluated()
    summary = evaluation.summary()

    def show(out: Console) -> None:
        out.print(summary_panel(summary))
        if "coverage" in summary.outcomes:
            out.print(worst_questions(evaluation.results))

    ending.come(run, evaluation, summary, write=partial(write_report, results=evaluation.results, summary=summary), show=show)
