"""``rag-cover evaluate``: a file of traces in, a summary, a store and a report out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rag_cover.cli.option_groups import (
    EngineOptions,
    FileOptions,
    GateOptions,
    RedactionOptions,
    RemoteOptions,
    ScreenOptions,
)
from rag_cover.cli.options import (
    MEASURING,
    Entailer,
    Judge,
    Labels,
    Limit,
    Measures,
    NoReport,
    NoStore,
    Prices,
    Receiver,
    Report,
    Resume,
    Splitter,
    StoreFile,
    Threshold,
    TraceFileArgument,
    Workers,
)
from rag_cover.cli.output import Ending
from rag_cover.cli.parameters import DefaultText, expand_options
from rag_cover.cli.run import EvaluationRun, measures_of, report_for, store_for
from rag_cover.evaluation import Evaluation
from rag_cover.importers import read_labels
from rag_cover.registry import Models
from rag_cover.reports import summary_panel, worst_questions, write_report
from rag_cover.reports.focus import has_losses
from rag_cover.reports.people import beside_people, people_table
from rag_cover.summaries import Summary

__all__ = ["EvaluateOptions", "evaluate_traces", "show_coverage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """The options of ``rag-cover evaluate``."""

    traces: TraceFileArgument
    file: FileOptions
    limit: Limit = None
    measure: Measures = None
    judge: Judge = "embedded"
    threshold: Threshold = None
    labels: Labels = None
    entailer: Entailer = None
    receiver: Receiver = None
    generator: Splitter = None
    sub_questions: Annotated[
        Path | None,
        typer.Option(
            help="Take the sub-questions that traces do not bring from this file of [bold]rag-cover decompose[/bold].",
            metavar="FILE",
            rich_help_panel=MEASURING,
            show_default="none",
        ),
    ] = None
    workers: Workers = None
    engine_options: EngineOptions
    remote: RemoteOptions
    prices: Prices = None
    store: Annotated[StoreFile, DefaultText("TRACES-coverage.sqlite")] = None
    no_store: NoStore = False
    resume: Resume = False
    redaction: RedactionOptions
    report: Annotated[Report, DefaultText("TRACES-coverage.html")] = None
    no_report: NoReport = False
    screen: ScreenOptions
    gates: GateOptions

    def run(self) -> EvaluationRun:
        """Return what to evaluate, and how."""
        return EvaluationRun(
            self.file.trace_file(self.traces, self.limit),
            None if self.no_store else self.store or store_for(self.traces),
            Models(
                judge=self.judge,
                entailer=self.entailer,
                receiver=self.receiver,
                decomposer=self.sub_questions or self.generator,
            ),
            measures_of(self.measure, self.threshold),
            self.resume,
            self.workers,
            self.screen.is_silent,
            not self.remote.no_cache,
            self.remote.deadline,
            redaction=self.redaction.read(),
            engine=self.engine_options.open(self.workers),
        )


@expand_options
def evaluate_traces(options: EvaluateOptions) -> None:
    """Measure what answers cover and leave out, and where the rest was lost.

    Results go to a store, so that an interrupted run can be gone on with, and to a report that opens in a browser.

    [bold]Examples[/bold]

      rag-cover evaluate traces.jsonl

      rag-cover evaluate export.csv --column question=Frage --limit 50

      rag-cover evaluate traces.jsonl --json --fail-under core_coverage=0.6 --strict

      rag-cover evaluate traces.jsonl --engine ray --address auto --workers 8
    """
    page = None if options.no_report else options.report or report_for(options.traces)
    ending = Ending.read(page, screen=options.screen, gates=options.gates, prices=options.prices)
    run, labels = options.run(), read_labels(options.labels) if options.labels else ()
    evaluation = run.evaluated().with_labels(labels)
    summary = evaluation.summary()
    write = partial(write_report, results=evaluation.results, summary=summary)
    ending.come(run, evaluation, summary, write=write, show=partial(show_coverage, evaluation, summary))


def show_coverage(evaluation: Evaluation, summary: Summary, out: Console) -> None:
    """Show the summary, and the questions of which most was left out."""
    out.print(summary_panel(summary))
    if has_losses(summary):
        out.print(worst_questions(evaluation.results))
    if evaluation.labels:
        out.print(people_table([beside_people(", ".join(summary.pipelines), evaluation.results, evaluation.known_of_judge)]))
