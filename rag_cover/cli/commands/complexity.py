"""``rag-cover complexity``: a file of questions in, how hard they are for a corpus, or for their own passages, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rag_cover.cli.commands.complexity_inputs import Questions, kinds_asked_for
from rag_cover.cli.console import say
from rag_cover.cli.json_output import complexity_document
from rag_cover.cli.option_groups import (
    CorpusOptions,
    FileOptions,
    GateOptions,
    RedactionOptions,
    RemoteOptions,
    ScreenOptions,
)
from rag_cover.cli.options import (
    INPUT,
    MEASURING,
    OUTPUT,
    Corpus,
    Force,
    Judge,
    Limit,
    Prices,
    Report,
    Resume,
    StoreFile,
    TopK,
    Workers,
)
from rag_cover.cli.output import Ending
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import DefaultText, expand_options
from rag_cover.cli.run import EvaluationRun
from rag_cover.complexity import ComplexityMeasure, Kind, Standing
from rag_cover.measures import TraceResult
from rag_cover.registry import Models
from rag_cover.reports import complexity_panel, hardest_table, write_report
from rag_cover.stores import write_traces
from rag_cover.summaries import Summary

__all__ = ["ComplexityOptions", "describe_questions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplexityOptions:
    """The options of ``rag-cover complexity``."""

    questions: Annotated[
        Path,
        typer.Argument(
            help='A file of questions, {"question": "…", "references": ["…"]} a line, or of traces in any format that '
            "'convert' reads.",
            metavar="QUESTIONS",
            show_default=False,
        ),
    ]
    corpus: Annotated[Corpus, DefaultText("each trace's own passages")] = None
    file: FileOptions
    limit: Limit = None
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Only questions of this kind, according to their words: {', '.join(Kind)}. May be repeated.",
            metavar="KIND",
            rich_help_panel=INPUT,
            show_default="all",
        ),
    ] = None
    top_k: TopK = 10
    corpus_options: CorpusOptions
    judge: Judge = "embedded"
    t_ans: Annotated[
        float | None,
        typer.Option(
            help="The probability from which a passage answers a question.",
            min=0.0,
            max=1.0,
            metavar="NUMBER",
            rich_help_panel=MEASURING,
            show_default="fitted for the judge",
        ),
    ] = None
    t_com: Annotated[
        float | None,
        typer.Option(
            help="The completeness from which the passages are about the whole question.",
            min=0.0,
            max=1.0,
            metavar="NUMBER",
            rich_help_panel=MEASURING,
            show_default="fitted for the judge",
        ),
    ] = None
    workers: Workers = None
    remote: RemoteOptions
    prices: Prices = None
    only: Annotated[
        Standing | None,
        typer.Option(help="List and write only questions with this result.", rich_help_panel=OUTPUT, show_default="all"),
    ] = None
    show: Annotated[
        int,
        typer.Option(
            "--show", help="The number of questions to list, hardest first.", min=0, metavar="N", rich_help_panel=OUTPUT
        ),
    ] = 10
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the questions to this file (.jsonl, .jsonl.gz), with the results in their metadata.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="not written",
        ),
    ] = None
    store: Annotated[StoreFile, DefaultText("results are not kept")] = None
    resume: Resume = False
    force: Force = False
    redaction: RedactionOptions
    report: Report = None
    screen: ScreenOptions
    gates: GateOptions

    def run(self, asked: Questions) -> EvaluationRun:
        """Return what to evaluate, and how."""
        redaction = self.redaction.read()
        if redaction:
            _refuse_texts(self.out, self.corpus_options.index)
        return EvaluationRun(
            self.file.trace_file(self.questions, self.limit),
            self.store,
            Models(judge=self.judge),
            [ComplexityMeasure(t_ans=self.t_ans, t_com=self.t_com)],
            self.resume,
            self.workers,
            self.screen.is_silent,
            not self.remote.no_cache,
            self.remote.deadline,
            asked.prepare,
            redaction,
            overwrite=self.force,
            command="rag-cover complexity",
        )

    def open_questions(self) -> Questions:
        """Return the questions, and how passages are retrieved for them."""
        corpus, quiet = self.corpus, self.screen.is_silent
        search = partial(self.corpus_options.open_retriever, corpus, top_k=self.top_k, quiet=quiet) if corpus else None
        return Questions(self.questions, search, self.top_k, kinds_asked_for(self.kind))


@expand_options
def describe_questions(options: ComplexityOptions) -> None:
    """Describe how hard questions are for a corpus: does one passage answer them, do several together, or does none?

    Answerable: a single retrieved passage answers the question. Complex: no single passage answers it, but together the
    passages are about the whole question. Unanswerable: all other questions.

    [bold]Examples[/bold]

      rag-cover complexity questions.jsonl --corpus passages.jsonl

      rag-cover complexity questions.jsonl --corpus passages.jsonl --only complex --out hard.jsonl

      rag-cover complexity traces.jsonl --json --fail-under answerable_questions=0.8
    """
    ending = Ending.read(options.report, screen=options.screen, gates=options.gates, prices=options.prices)
    asked = options.open_questions()
    run = options.run(asked)
    refuse_existing(
        options.report, options.out, force=run.may_replace_report, inputs=[options.questions, run.store, options.corpus]
    )
    evaluation = run.evaluate()
    summary, results = evaluation.summary(), evaluation.results
    if options.out is not None:
        described = asked.describe(results, options.only)
        if described:
            write_traces(options.out, described)
        say(_write_result(len(described), options.out, options.only), quiet=run.quiet)
    ending.come(
        run,
        evaluation,
        summary,
        write=partial(write_report, results=results, summary=summary, title="How hard the questions are"),
        show=partial(_show, results, summary, options.show, options.only),
        document=lambda: {"questions": [complexity_document(result) for result in results]},
    )


def _show(results: Sequence[TraceResult], summary: Summary, shown: int, only: Standing | None, out: Console) -> None:
    out.print(complexity_panel(summary))
    if summary.complexity and shown:
        out.print(hardest_table(results, limit=shown, only=only))


def _refuse_texts(out: Path | None, index: Path | None) -> None:
    """Refuse files that would hold texts."""
    if out is not None:
        message = "the questions are written as they came, with their texts; leave this out, or --redact"
        raise typer.BadParameter(message, param_hint="--out")
    if index is not None and not index.exists():
        message = "an index holds the passages' texts; leave this out, or make it before, without --redact"
        raise typer.BadParameter(message, param_hint="--index")


def _write_result(count: int, out: Path, only: Standing | None) -> str:
    if not count:
        return f"No question is {only}: {out} was not written."
    return f"{count:,} {'question' if count == 1 else 'questions'} written to {out}."
