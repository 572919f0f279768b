"""``rag-cover evaluate``: a file of traces in, a summary, a store and a report out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rag_cover.backends import Retriever
from rag_cover.cli.option_groups import (
    CascadeOptions,
    CorpusOptions,
    EngineOptions,
    FileOptions,
    GateOptions,
    RedactionOptions,
    RemoteOptions,
    ScreenOptions,
)
from rag_cover.cli.options import (
    MEASURING,
    Corpus,
    Entailer,
    Force,
    Judge,
    Labels,
    Limit,
    MaxText,
    Measures,
    NoReport,
    NoStore,
    NuggetsFile,
    Prices,
    Receiver,
    Report,
    Resume,
    Splitter,
    StoreFile,
    Threshold,
    TraceFileArgument,
    Workers,
    prices_of,
)
from rag_cover.cli.output import Ending
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import DefaultText, expand_options
from rag_cover.cli.run import EvaluationRun, measures_of, refuse_other_units, report_for, store_for, writer_of
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.blocks import LONGEST_TEXT
from rag_cover.importers import read_labels
from rag_cover.registry import Models
from rag_cover.reports import summary_panel, worst_questions, write_report
from rag_cover.reports.focus import has_losses
from rag_cover.reports.people import people_table
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
    cascade: CascadeOptions
    threshold: Threshold = None
    labels: Labels = None
    entailer: Entailer = None
    receiver: Receiver = None
    generator: Splitter = None
    sub_questions: Annotated[
        Path | None,
        typer.Option(
            help="A file of [bold]rag-cover decompose[/bold] with sub-questions for the traces that have none.",
            metavar="FILE",
            rich_help_panel=MEASURING,
            show_default="none",
        ),
    ] = None
    nuggets: NuggetsFile = None
    corpus: Corpus = None
    corpus_options: CorpusOptions
    max_text: MaxText = LONGEST_TEXT
    workers: Workers = None
    engine_options: EngineOptions
    remote: RemoteOptions
    prices: Prices = None
    store: Annotated[StoreFile, DefaultText("TRACES-coverage.sqlite")] = None
    no_store: NoStore = False
    resume: Resume = False
    force: Force = False
    redaction: RedactionOptions
    report: Annotated[Report, DefaultText("TRACES-coverage.html")] = None
    no_report: NoReport = False
    screen: ScreenOptions
    gates: GateOptions

    def open_corpus(self) -> Retriever | Path | None:
        """Read and index the corpus, where one is named; the workers of an engine index it where they are.

        Raises:
            RagCoverError: it cannot be read or indexed.
        """
        if self.corpus is None or self.engine_options.engine != "local":
            return self.corpus
        return self.corpus_options.open_retriever(self.corpus, top_k=1, quiet=self.screen.is_silent)

    def run(self) -> EvaluationRun:
        """Return what to evaluate, and how.

        Raises:
            BadParameter: options that cannot go together.
        """
        refuse_other_units(self.nuggets, given={"--sub-questions": self.sub_questions, "--generator": self.generator})
        return EvaluationRun(
            self.file.trace_file(self.traces, self.limit),
            None if self.no_store else self.store or store_for(self.traces),
            Models(
                judge=self.judge,
                entailer=self.entailer,
                receiver=self.receiver,
                generator=writer_of(self.generator),
                decomposer=self.sub_questions or self.generator,
                nuggets=self.nuggets,
                corpus=self.open_corpus(),
                judge_options=self.cascade.options_for(self.judge, prices_of(self.prices)),
            ),
            measures_of(self.measure, self.threshold),
            self.resume,
            self.workers,
            self.screen.is_silent,
            not self.remote.no_cache,
            self.remote.deadline,
            redaction=self.redaction.read(),
            engine=self.engine_options.open(self.workers),
            overwrite=self.force,
            longest_text=self.max_text,
            is_store_named=self.store is not None,
        )


@expand_options
def evaluate_traces(options: EvaluateOptions) -> None:
    """Measure what answers cover, what they leave out, and where it was lost.

    Results go to a store and to an HTML report. You can resume an interrupted run from the store.

    [bold]Examples[/bold]

      rag-cover evaluate traces.jsonl

      rag-cover evaluate export.csv --column question=Frage --limit 50

      rag-cover evaluate traces.jsonl --json --fail-under core_coverage=0.6 --strict

      rag-cover evaluate traces.jsonl --corpus passages.jsonl

      rag-cover evaluate traces.jsonl --judge cascade:embedded+openai:gpt-4.1-mini --max-calls 200

      rag-cover evaluate traces.jsonl --engine ray --address auto --workers 8
    """
    page = None if options.no_report else options.report or report_for(options.traces)
    ending = Ending.read(page, screen=options.screen, gates=options.gates, prices=options.prices)
    run = options.run()
    refuse_existing(page, force=run.may_replace_report, inputs=[options.traces, run.store, options.corpus])
    labels = read_labels(options.labels) if options.labels else ()
    evaluation = run.evaluate().with_labels(labels)
    summary = evaluation.summary()
    people = evaluation.compare_with_labels()
    write = partial(write_report, results=evaluation.labelled_results, summary=summary, people=people)
    ending.come(run, evaluation, summary, write=write, show=partial(show_coverage, evaluation, summary))


def show_coverage(evaluation: Evaluation, summary: Summary, out: Console) -> None:
    """Show the summary, and the questions of which most was left out."""
    out.print(summary_panel(summary))
    if has_losses(summary):
        out.print(worst_questions(evaluation.labelled_results))
    if people := evaluation.compare_with_labels():
        out.print(people_table([people]))
