"""``rag-cover complexity``: a file of questions in, how hard they are for a corpus, or for their own passages, out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rag_cover.cli.complexity_inputs import Corpus, Questions, kinds_asked_for
from rag_cover.cli.console import say
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.json_output import complexity_document
from rag_cover.cli.options import (
    INPUT,
    MEASURING,
    OUTPUT,
    AsJson,
    Columns,
    CorpusColumns,
    DeadlineSeconds,
    FailUnder,
    FailUnderLower,
    Format,
    Judge,
    Limit,
    NoCache,
    OnBadLine,
    Prices,
    Quiet,
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
from rag_cover.cli.run import Run
from rag_cover.complexity import ComplexityMeasure, Kind, Standing
from rag_cover.registry import Models
from rag_cover.reports import complexity_panel, hardest_table, write_report
from rag_cover.stores import write_traces

__all__ = ["describe_questions"]


def describe_questions(  # noqa: PLR0913  # a command has as many options as it has
    questions: Annotated[
        Path,
        typer.Argument(
            help='A file of questions, {"question": "…", "references": ["…"]} a line, or of traces in any format that '
            "'convert' reads.",
            metavar="QUESTIONS",
            show_default=False,
        ),
    ],
    *,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help='The passages to retrieve from, {"text": "…", "title": "…", "id": "…"} a line; by default each trace\'s own.',
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    corpus_column: CorpusColumns = None,
    format_: Format = None,
    column: Columns = None,
    on_bad_line: OnBadLine = "raise",
    limit: Limit = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Only questions of this kind, as far as their wording tells: {', '.join(Kind)}. May be repeated.",
            metavar="KIND",
            rich_help_panel=INPUT,
        ),
    ] = None,
    k: Annotated[
        int, typer.Option("--k", "-k", help="Passages retrieved for a question.", min=1, metavar="N", rich_help_panel=MEASURING)
    ] = 10,
    retriever: Annotated[
        str, typer.Option(help="What retrieves from the corpus.", metavar="NAME", rich_help_panel=MEASURING)
    ] = "embedded",
    index: Annotated[
        Path | None,
        typer.Option(
            help="Keep the retriever's index here, or take it from here; by default it is made anew.",
            metavar="PATH",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    judge: Judge = "embedded",
    t_ans: Annotated[
        float | None,
        typer.Option(
            help="The probability from which a passage answers a question; by default what was fitted for the judge.",
            min=0.0,
            max=1.0,
            rich_help_panel=MEASURING,
        ),
    ] = None,
    t_com: Annotated[
        float | None,
        typer.Option(
            help="The completeness from which passages are about all of a question; likewise.",
            min=0.0,
            max=1.0,
            rich_help_panel=MEASURING,
        ),
    ] = None,
    workers: Workers = None,
    no_cache: NoCache = False,
    deadline: DeadlineSeconds = None,
    prices: Prices = None,
    only: Annotated[
        Standing | None,
        typer.Option(help="List and write only such questions.", rich_help_panel=OUTPUT, show_default=False),
    ] = None,
    shown: Annotated[
        int, typer.Option("--show", help="Questions listed, hardest first.", min=0, metavar="N", rich_help_panel=OUTPUT)
    ] = 10,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the questions here (.jsonl, .jsonl.gz), as they came, with what was found in their metadata.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Keep the results here, so that an interrupted run can be gone on with.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    resume: Resume = False,
    redact: Redact = False,
    redact_key: RedactKey = None,
    report: Report = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    fail_under: FailUnder = None,
    fail_under_lower: FailUnderLower = None,
    strict: Strict = False,
) -> None:
    """Describe how hard questions are for a corpus: does one passage answer them, do several only together, or none?

    Answerable: a single retrieved passage answers the question. Complex: none does alone, though between them they are about
    all of it. Unanswerable: retrieval did not bring back all that is asked about.

    [bold]Examples[/bold]

      rag-cover complexity questions.jsonl --corpus passages.jsonl

      rag-cover complexity questions.jsonl --corpus passages.jsonl --only complex --out hard.jsonl

      rag-cover complexity traces.jsonl --json --fail-under answerable_questions=0.8
    """
    redaction = redaction_of(redact, redact_key)
    if redaction:
        _refuse_texts(out, index)
    ending = Ending.read(
        report,
        as_json=as_json,
        fail_under=fail_under,
        fail_under_lower=fail_under_lower,
        strict=strict,
        prices=prices,
    )
    searched = Corpus(corpus, columns_of(corpus_column, "--corpus-column"), retriever, index, k) if corpus else None
    asked = Questions(questions, searched, kinds_asked_for(kind), quiet=quiet or as_json)
    run = Run(
        TraceFile(questions, format_, columns_of(column), on_bad_line, limit),
        store,
        Models(judge=judge),
        [ComplexityMeasure(t_ans=t_ans, t_com=t_com)],
        resume,
        workers,
        quiet or as_json,
        not no_cache,
        deadline,
        asked.prepared,
        redaction,
    )
    evaluation = run.evaluated()
    summary, results = evaluation.summary(), evaluation.results
    if out is not None:
        described = asked.described(results, only)
        if described:
            write_traces(out, described)
        say(_written(len(described), out, only), quiet=run.quiet)

    def show(screen: Console) -> None:
        screen.print(complexity_panel(summary))
        if summary.complexity and shown:
            screen.print(hardest_table(results, limit=shown, only=only))

    ending.come(
        run,
        evaluation,
        summary,
        write=partial(write_report, results=results, summary=summary, title="How hard the questions are"),
        show=show,
        document=lambda: {"questions": [complexity_document(result) for result in results]},
    )


def _refuse_texts(out: Path | None, index: Path | None) -> None:
    """Refuse files that would hold texts."""
    if out is not None:
        message = "the questions are written as they came, with their texts; leave this out, or --redact"
        raise typer.BadParameter(message, param_hint="--out")
    if index is not None and not index.exists():
        message = "an index holds the passages' texts; leave this out, or make it before, without --redact"
        raise typer.BadParameter(message, param_hint="--index")


def _written(count: int, out: Path, only: Standing | None) -> str:
    if not count:
        return f"No question is {only}: {out} was not written."
    return f"{count:,} {'question' if count == 1 else 'questions'} written to {out}."
