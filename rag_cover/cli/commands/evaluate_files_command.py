"""``rag-cover evaluate-files``: files of any size in, a folder of results out, on the local engine or on another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag_cover.cli.commands.evaluate_command import show_coverage
from rag_cover.cli.console import warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.option_groups import EngineOptions, GateOptions, RedactionOptions, RemoteOptions, ScreenOptions
from rag_cover.cli.options import (
    OUTPUT,
    Entailer,
    Force,
    Judge,
    MaxText,
    Measures,
    NoReport,
    NuggetsFile,
    OnBadLine,
    Prices,
    Receiver,
    Report,
    Resume,
    Splitter,
    Workers,
)
from rag_cover.cli.output import Ending
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import DefaultText, expand_options
from rag_cover.cli.progress import progress_bar
from rag_cover.cli.run import EvaluationRun, measures_of, refuse_other_units, warn_skipped_traces, writer_of
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.blocks import LONGEST_TEXT
from rag_cover.evaluation.files import evaluate_files
from rag_cover.registry import Models
from rag_cover.reports import write_report

__all__ = ["EvaluateFilesOptions", "evaluate_many"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateFilesOptions:
    """The options of ``rag-cover evaluate-files``."""

    traces: Annotated[list[Path], typer.Argument(help="Trace files (JSONL, .gz too) and tables (Parquet).", metavar="TRACES…")]
    into: Annotated[
        Path,
        typer.Option(
            help="The folder for the results: new, empty, or that of an earlier run.",
            metavar="FOLDER",
            rich_help_panel=OUTPUT,
        ),
    ]
    format: Annotated[
        Literal["parquet", "jsonl"], typer.Option("--format", help="The format of the results.", rich_help_panel=OUTPUT)
    ] = "parquet"
    on_bad_line: OnBadLine = "raise"
    measure: Measures = None
    judge: Judge = "embedded"
    entailer: Entailer = None
    receiver: Receiver = None
    generator: Splitter = None
    nuggets: NuggetsFile = None
    max_text: MaxText = LONGEST_TEXT
    workers: Workers = None
    engine_options: EngineOptions
    remote: RemoteOptions
    prices: Prices = None
    resume: Resume = False
    force: Force = False
    redaction: RedactionOptions
    report: Annotated[Report, DefaultText("FOLDER.html")] = None
    no_report: NoReport = False
    screen: ScreenOptions
    gates: GateOptions

    def run(self) -> EvaluationRun:
        """Return what to evaluate, and how.

        Raises:
            BadParameter: options that cannot go together.
        """
        refuse_other_units(self.nuggets, given={"--generator": self.generator})
        return EvaluationRun(
            TraceFile(self.traces[0], on_bad_line=self.on_bad_line),
            self.into,
            Models(
                judge=self.judge,
                entailer=self.entailer,
                receiver=self.receiver,
                generator=writer_of(self.generator),
                decomposer=self.generator,
                nuggets=self.nuggets,
            ),
            measures_of(self.measure, None),
            self.resume,
            self.workers,
            self.screen.is_silent,
            not self.remote.no_cache,
            self.remote.deadline,
            redaction=self.redaction.read(),
            engine=self.engine_options.open(self.workers),
            overwrite=self.force,
            longest_text=self.max_text,
        )


@expand_options
def evaluate_many(options: EvaluateFilesOptions) -> None:
    """Measure many traces: cut files into slices, measure the slices in parallel, and write the results in parts.

    The results are those of [bold]rag-cover evaluate[/bold]; [bold]report[/bold] and [bold]compare[/bold] read the folder.

    [bold]Examples[/bold]

      rag-cover evaluate-files logs/*.jsonl.gz --into results

      rag-cover evaluate-files export.parquet --into results --engine ray --address auto --resume

      rag-cover evaluate-files logs/*.jsonl.gz --into results --redact-key secret.key
    """
    page = None if options.no_report else options.report or Path(f"{options.into.name}.html")
    ending = Ending.read(page, screen=options.screen, gates=options.gates, prices=options.prices)
    run = options.run()
    refuse_existing(page, force=run.may_replace_report, inputs=options.traces)
    evaluation = _evaluate(run, options.traces, options.format)
    summary = evaluation.summary()
    write = partial(write_report, results=evaluation.results, summary=summary)
    ending.come(run, evaluation, summary, write=write, show=partial(show_coverage, evaluation, summary))


def _evaluate(run: EvaluationRun, files: list[Path], written_as: Literal["parquet", "jsonl"]) -> Evaluation:
    """Evaluate; print skipped traces on stderr; an interrupt prints how to go on."""
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
                overwrite=run.overwrite,
                skipped=run.file.skipped.append if run.file.on_bad_line == "skip" else None,
                progress=show,
                cache=run.cache,
                deadline_s=run.deadline_s,
                redact=run.redaction or False,
                longest_text=run.longest_text,
            )
    except KeyboardInterrupt:
        line = f"Interrupted. What was done is kept in {into}; run the same command with --resume to go on."
        warn(line, style="red")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    warn_skipped_traces(run.file)
    return evaluation
