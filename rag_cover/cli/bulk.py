"""``rag-cover evaluate-files``: files of any size in, a folder of results out, on the local engine or on another."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from rag_cover.cli.console import progress_bar, warn
from rag_cover.cli.engines import Address, EngineName, Gpus, engine_of
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.options import (
    MEASURING,
    OUTPUT,
    AsJson,
    DeadlineSeconds,
    Entailer,
    FailUnder,
    FailUnderLower,
    Judge,
    NoCache,
    NoReport,
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
    redaction_of,
)
from rag_cover.cli.output import Ending
from rag_cover.cli.run import Run, measures_of, warn_skipped_traces
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.files import evaluate_files
from rag_cover.registry import Models
from rag_cover.reports import summary_panel, worst_questions, write_report

__all__ = ["evaluate_many"]


def evaluate_many(  # noqa: PLR0913  # a command has as many options as it has
    traces: Annotated[list[Path], typer.Argument(help="Trace files (JSONL, .gz too) and tables (Parquet).", metavar="TRACES…")],
    *,
    into: Annotated[
        Path,
        typer.Option(
            help="The folder that results are written into: new, empty, or one of an earlier run.",
            metavar="FOLDER",
            rich_help_panel=OUTPUT,
        ),
    ],
    format_: Annotated[
        Literal["parquet", "jsonl"], typer.Option("--format", help="How results are written.", rich_help_panel=OUTPUT)
    ] = "parquet",
    on_bad_line: OnBadLine = "raise",
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
    workers: Workers = None,
    engine: EngineName = "local",
    address: Address = None,
    gpus: Gpus = None,
    no_cache: NoCache = False,
    deadline: DeadlineSeconds = None,
    prices: Prices = None,
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
    """Measure many traces: files are cut into slices, read and measured in parallel, and written part by part.

    The results are those of [bold]rag-cover evaluate[/bold]; [bold]report[/bold] and [bold]compare[/bold] read the folder.

    [bold]Examples[/bold]

      rag-cover evaluate-files logs/*.jsonl.gz --into results

      rag-cover evaluate-files export.parquet --into results --engine ray --address auto --resume

      rag-cover evaluate-files logs/*.jsonl.gz --into results --redact-key secret.key
    """
    ending = Ending.read(
        None if no_report else report or Path(f"{into.name}.html"),
        as_json=as_json,
        fail_under=fail_under,
        fail_under_lower=fail_under_lower,
        strict=strict,
        prices=prices,
    )
    run = Run(
        TraceFile(traces[0], on_bad_line=on_bad_line),
        into,
        Models(judge=judge, entailer=entailer, receiver=receiver, decomposer=generator),
        measures_of(measure, None),
        resume,
        workers,
        quiet or as_json,
        not no_cache,
        deadline,
        redaction=redaction_of(redact, redact_key),
        engine=engine_of(engine, workers=workers, address=address, gpus=gpus),
    )
    evaluation = _evaluated(run, traces, format_)
    summary = evaluation.summary()

    def show(out: Console) -> None:
        out.print(summary_panel(summary))
        if "coverage" in summary.outcomes:
            out.print(worst_questions(evaluation.results))

    ending.come(run, evaluation, summary, write=partial(write_report, results=evaluation.results, summary=summary), show=show)


def _evaluated(run: Run, files: list[Path], written_as: Literal["parquet", "jsonl"]) -> Evaluation:
    """Evaluate; skipped traces are told on stderr, an interrupt says how to go on."""
    into = run.store or Path()
    try:
        with progress_bar(quiet=run.quiet) as show:
            evaluation = evaluate_files(
                files,
                into,
                measures=run.measures,
                models=run.models,
                engine=run.engine,
                workers=run.workers,
                format=written_as,
                resume=run.resume,
                skipped=run.file.skipped.append if run.file.on_bad_line == "skip" else None,
                progress=show,
                cache=run.cache,
                deadline_s=run.deadline_s,
                redact=run.redaction or False,
            )
    except KeyboardInterrupt:
        line = f"Interrupted. What was done is kept in {into}; run the same command with --resume to go on."
        warn(line, style="red")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    warn_skipped_traces(run.file)
    return evaluation
