"""``rag-cover utility``: a file of traces in, what each retrieval step was worth out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer
from rich.console import Console

from rag_cover.belief import Attribution, UtilityMeasure
from rag_cover.belief.entailment import APPROXIMATIONS, approximations_of
from rag_cover.cli.inputs import open_traces
from rag_cover.cli.json_output import utility_document
from rag_cover.cli.option_groups import (
    BeliefOptions,
    FileOptions,
    GateOptions,
    RedactionOptions,
    RemoteOptions,
    ScreenOptions,
)
from rag_cover.cli.options import (
    MEASURING,
    OUTPUT,
    Entailer,
    Force,
    Limit,
    NoReport,
    NoStore,
    Prices,
    Receiver,
    Report,
    Resume,
    StoreFile,
    TraceFileArgument,
    Workers,
)
from rag_cover.cli.output import Ending
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import DefaultText, expand_options
from rag_cover.cli.run import EvaluationRun, report_for, store_for
from rag_cover.measures import TraceResult
from rag_cover.registry import Models
from rag_cover.reports import hurting_table, trace_utilities, utility_panel, write_report
from rag_cover.summaries import Summary, summarise

__all__ = ["UtilityOptions", "measure_utilities"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityOptions:
    """The options of ``rag-cover utility``."""

    traces: TraceFileArgument
    file: FileOptions
    limit: Limit = None
    receiver: Receiver = None
    entailer: Entailer = "embedded"
    belief: BeliefOptions
    adaptive: Annotated[
        float | None,
        typer.Option(
            help="Stop sampling when the ends of the 95% interval are this close to the value.",
            min=0.0,
            max=1.0,
            metavar="HALF_WIDTH",
            rich_help_panel=MEASURING,
            show_default="all samples",
        ),
    ] = None
    per_passage: Annotated[
        Attribution | None,
        typer.Option(
            help="Also measure the utility of each passage: without it, or with it alone.",
            rich_help_panel=MEASURING,
            show_default="not measured",
        ),
    ] = None
    approximate: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Judge fewer pairs, with less exact results: {', '.join(APPROXIMATIONS)}. May be repeated.",
            metavar="NAME",
            rich_help_panel=MEASURING,
            show_default="none",
        ),
    ] = None
    query_type: Annotated[
        str,
        typer.Option(help="The metadata key with the type of the question.", metavar="KEY", rich_help_panel=OUTPUT),
    ] = "query_type"
    show: Annotated[
        int,
        typer.Option(
            "--show", help="The number of traces to list, lowest utility first.", min=0, metavar="N", rich_help_panel=OUTPUT
        ),
    ] = 20
    workers: Workers = None
    remote: RemoteOptions
    prices: Prices = None
    store: Annotated[StoreFile, DefaultText("TRACES-utility.sqlite")] = None
    no_store: NoStore = False
    resume: Resume = False
    force: Force = False
    redaction: RedactionOptions
    report: Annotated[Report, DefaultText("TRACES-utility.html")] = None
    no_report: NoReport = False
    screen: ScreenOptions
    gates: GateOptions

    def measure(self) -> UtilityMeasure:
        """Return the measure as it is asked for."""
        return UtilityMeasure(
            n=self.belief.samples,
            kind=self.belief.kind,
            preset=self.belief.preset,
            references=self.belief.references,
            per_passage=self.per_passage,
            adaptive=self.adaptive,
            approximations=approximations_of(self.approximate or ()),
        )

    def run(self) -> EvaluationRun:
        """Return what to evaluate, and how."""
        return EvaluationRun(
            self.file.trace_file(self.traces, self.limit),
            None if self.no_store else self.store or store_for(self.traces, "utility"),
            Models(entailer=self.entailer, receiver=self.receiver),
            [self.measure()],
            self.resume,
            self.workers,
            self.screen.is_silent,
            not self.remote.no_cache,
            self.remote.deadline,
            redaction=self.redaction.read(names=[self.query_type]),
            overwrite=self.force,
            command="rag-cover utility",
            is_store_named=self.store is not None,
        )


@expand_options
def measure_utilities(options: UtilityOptions) -> None:
    """Measure what each retrieval step was worth: how far it moved a model's belief toward the right answer (ΔSePer).

    Steps with negative utility are listed first. Results go to a store and to a report with a waterfall for each trace.

    [bold]Examples[/bold]

      rag-cover utility traces.jsonl --receiver embedded

      rag-cover utility traces.jsonl --receiver openai:gpt-4.1-mini --per-passage leave-one-out

      rag-cover utility traces.jsonl --json --fail-under utility=0.1
    """
    _refuse_without_samples(options)
    page = None if options.no_report else options.report or report_for(options.traces, "utility")
    ending = Ending.read(page, screen=options.screen, gates=options.gates, prices=options.prices)
    run = options.run()
    refuse_existing(page, force=run.may_replace_report, inputs=[options.traces, run.store])
    evaluation = run.evaluate()
    results = evaluation.results
    summary = summarise(results, judge=evaluation.judge, query_type=options.query_type, seed=evaluation.seed)
    ending.come(
        run,
        evaluation,
        summary,
        write=partial(write_report, results=results, summary=summary, title="What each retrieval step was worth"),
        show=partial(_show, results, summary, options.show),
        document=lambda: {"traces": [utility_document(result) for result in results]},
    )


def _refuse_without_samples(options: UtilityOptions) -> None:
    """Refuse to measure without a receiver where no trace brings the answers of one."""
    if options.receiver is not None or not options.traces.is_file():
        return
    if not any(trace.samples for trace in open_traces(options.file.trace_file(options.traces, options.limit))):
        message = "the traces hold no recorded answers, so a receiver has to be named, such as --receiver embedded"
        raise typer.BadParameter(message, param_hint="--receiver")


def _show(results: Sequence[TraceResult], summary: Summary, shown: int, out: Console) -> None:
    if summary.utility:
        out.print(hurting_table(results))
    out.print(utility_panel(summary))
    if summary.utility and shown:
        out.print(trace_utilities(results, limit=shown))
