"""``rag-cover utility``: a file of traces in, what each retrieval step was worth out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rag_cover.belief import Attribution, UtilityMeasure
from rag_cover.belief.entailment import APPROXIMATIONS, approximations_of
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.json_output import utility_document
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
    Kind,
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
    References,
    Report,
    Resume,
    Samples,
    Strict,
    Weights,
    Workers,
    columns_of,
    redaction_of,
)
from rag_cover.cli.output import Ending
from rag_cover.cli.run import Run, report_for, store_for
from rag_cover.registry import Models
from rag_cover.reports import hurting_table, trace_utilities, utility_panel, write_report
from rag_cover.summaries import summarise

__all__ = ["measure_utilities"]


def measure_utilities(  # noqa: PLR0913  # a command has as many options as it has
    traces: Annotated[
        Path, typer.Argument(help="A trace file, or a file in any format that 'convert' reads.", metavar="TRACES")
    ],
    *,
    format_: Format = None,
    column: Columns = None,
    on_bad_line: OnBadLine = "raise",
    limit: Limit = None,
    receiver: Receiver = None,
    entailer: Entailer = "embedded",
    references: References = "gold",
    samples: Samples = 10,
    adaptive: Annotated[
        float | None,
        typer.Option(
            help="Draw fewer where the 95% interval is this close to the value on both sides already.",
            min=0.0,
            max=1.0,
            metavar="HALF_WIDTH",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    kind: Kind = "soft",
    preset: Weights = None,
    per_passage: Annotated[
        Attribution | None,
        typer.Option(
            help="Also what each passage was worth: without it, or with it alone.",
            rich_help_panel=MEASURING,
            show_default=False,
        ),
    ] = None,
    approximate: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Judge fewer pairs, at the price of exactness: {', '.join(APPROXIMATIONS)}. May be repeated.",
            metavar="NAME",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    query_type: Annotated[
        str,
        typer.Option(
            help="The key of a trace's metadata that names the type of question.", metavar="KEY", rich_help_panel=OUTPUT
        ),
    ] = "query_type",
    shown: Annotated[
        int,
        typer.Option(
            "--show", help="Traces listed one by one, least useful first.", min=0, metavar="N", rich_help_panel=OUTPUT
        ),
    ] = 20,
    workers: Workers = None,
    no_cache: NoCache = False,
    deadline: DeadlineSeconds = None,
    prices: Prices = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Keep the results here; by default in TRACES-utility.sqlite.", metavar="FILE", rich_help_panel=OUTPUT
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
    """Measure what each retrieval step was worth: how far it moved a model's belief toward the right answer (ΔSePer).

    Steps that hurt are listed first. Results go to a store and to a report with a waterfall for each trace.

    [bold]Examples[/bold]

      rag-cover utility traces.jsonl --receiver embedded

      rag-cover utility traces.jsonl --receiver openai:gpt-4.1-mini --per-passage leave-one-out

      rag-cover utility traces.jsonl --json --fail-under utility=0.1
    """
    ending = Ending.read(
        None if no_report else report or report_for(traces, "utility"),
        as_json=as_json,
        fail_under=fail_under,
        fail_under_lower=fail_under_lower,
        strict=strict,
        prices=prices,
    )
    measure = UtilityMeasure(
        n=samples,
        kind=kind,
        preset=preset,
        references=references,
        per_passage=per_passage,
        adaptive=adaptive,
        approximations=approximations_of(approximate or ()),
    )
    run = Run(
        TraceFile(traces, format_, columns_of(column), on_bad_line, limit),
        None if no_store else store or store_for(traces, "utility"),
        Models(entailer=entailer, receiver=receiver),
        [measure],
        resume,
        workers,
        quiet or as_json,
        not no_cache,
        deadline,
        redaction=redaction_of(redact, redact_key, names=[query_type]),
    )
    evaluation = run.evaluated()
    results = evaluation.results
    summary = summarise(results, judge=evaluation.judge, query_type=query_type, seed=evaluation.seed)

    def show(out: Console) -> None:
        if summary.utility:
            out.print(hurting_table(results))
        out.print(utility_panel(summary))
        if summary.utility and shown:
            out.print(trace_utilities(results, limit=shown))

    ending.come(
        run,
        evaluation,
        summary,
        write=partial(write_report, results=results, summary=summary, title="What each retrieval step was worth"),
        show=show,
        document=lambda: {"traces": [utility_document(result) for result in results]},
    )
