"""``rag-cover augment``: a file of questions and a corpus in, traces whose retrieval core sub-questions drove out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rag_cover.augmentation import Augmenter
from rag_cover.augmentation.augmenter import ROUNDS
from rag_cover.backends import fingerprint_of
from rag_cover.cli.augmentations import Cast, Files, Work, augmentation_document, mode_called
from rag_cover.cli.complexity_inputs import Corpus
from rag_cover.cli.console import print_json, progress_bar, say, screen, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.inputs import TraceFile, name_of, opened
from rag_cover.cli.json_output import spending_document
from rag_cover.cli.options import (
    INPUT,
    MEASURING,
    OUTPUT,
    AsJson,
    Columns,
    CorpusColumns,
    DeadlineSeconds,
    Entailer,
    Format,
    Judge,
    Limit,
    NoCache,
    OnBadLine,
    Prices,
    Quiet,
    Strict,
    Workers,
    columns_of,
)
from rag_cover.cli.run import warn_skipped_traces
from rag_cover.errors import InputError
from rag_cover.evaluation import Progress
from rag_cover.llm.cache import cache_for
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.session import LLMSession, Remote
from rag_cover.llm.usage import read_prices
from rag_cover.reports import augmentation_panel, before_and_after, spending_table
from rag_cover.reports.gains import Augmented, Gains, gains_of
from rag_cover.reports.text import counted
from rag_cover.stores.files import require_file
from rag_cover.traces import Trace

__all__ = ["augment_questions"]

_HOW = "How it is augmented"


def augment_questions(  # noqa: PLR0913  # a command has as many options as it has
    questions: Annotated[
        Path,
        typer.Argument(
            help='A file of questions, {"question": "…", "sub_questions": ["…"]} a line, or of traces in any format that '
            "'convert' reads; sub-questions that it brings are used.",
            metavar="QUESTIONS",
            show_default=False,
        ),
    ],
    *,
    corpus: Annotated[
        Path,
        typer.Option(
            help='The passages to retrieve from, {"text": "…", "title": "…", "id": "…"} a line.',
            metavar="FILE",
            rich_help_panel=INPUT,
            show_default=False,
        ),
    ],
    corpus_column: CorpusColumns = None,
    format_: Format = None,
    column: Columns = None,
    on_bad_line: OnBadLine = "raise",
    limit: Limit = None,
    mode: Annotated[
        str,
        typer.Option(
            help="retrieval: search for every core sub-question; auto: only for those that the question's own passages do not "
            "cover; subquestions, definition: name them, or say what they are, in the prompt; end-to-end: answer them one by "
            "one.",
            metavar="MODE",
            rich_help_panel=_HOW,
        ),
    ] = "retrieval",
    k: Annotated[
        int, typer.Option("--k", "-k", help="Passages kept for a question.", min=1, metavar="N", rich_help_panel=_HOW)
    ] = 10,
    depth: Annotated[
        int | None,
        typer.Option(help="Passages that each search asks for; by default k.", min=1, metavar="N", rich_help_panel=_HOW),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(help="Tokens that the passages may have in all.", min=1, metavar="N", rich_help_panel=_HOW),
    ] = None,
    max_calls: Annotated[
        int | None,
        typer.Option(help="Searches for a question in all, its own among them.", min=1, metavar="N", rich_help_panel=_HOW),
    ] = None,
    rounds: Annotated[
        int,
        typer.Option(help="How often auto searches for what is still not covered.", min=1, metavar="N", rich_help_panel=_HOW),
    ] = ROUNDS,
    retriever: Annotated[
        str, typer.Option(help="What retrieves from the corpus.", metavar="NAME", rich_help_panel=_HOW)
    ] = "embedded",
    index: Annotated[
        Path | None,
        typer.Option(
            help="Keep the retriever's index here, or take it from here; by default it is made anew.",
            metavar="PATH",
            rich_help_panel=_HOW,
        ),
    ] = None,
    decompose_with: Annotated[
        str | None,
        typer.Option(
            help="What splits questions that bring no sub-questions: rules, a model such as openai:gpt-4.1-mini, or a file of "
            "[bold]rag-cover decompose[/bold]; by default the generator, without one rules.",
            metavar="NAME|FILE",
            rich_help_panel=_HOW,
        ),
    ] = None,
    generator: Annotated[
        str | None,
        typer.Option(
            help="The model that answers from the passages, such as openai:gpt-4.1-mini; by default nobody does.",
            metavar="NAME",
            rich_help_panel=_HOW,
        ),
    ] = None,
    receiver: Annotated[
        str | None,
        typer.Option(
            help="Reads the answers that later sub-questions build on (#1): a model's name, or none; by default the "
            "generator, without one embedded.",
            metavar="NAME",
            rich_help_panel=_HOW,
        ),
    ] = None,
    judge: Judge = "embedded",
    threshold: Annotated[
        float | None,
        typer.Option(
            help="The probability from which a passage covers a sub-question; by default the judge's own.",
            min=0.0,
            max=1.0,
            rich_help_panel=MEASURING,
        ),
    ] = None,
    utility: Annotated[
        bool,
        typer.Option(
            "--utility",
            help="Also measure what each search was worth (ΔSePer), where questions bring references.",
            rich_help_panel=MEASURING,
            show_default=False,
        ),
    ] = False,
    entailer: Entailer = None,
    workers: Workers = None,
    no_cache: NoCache = False,
    deadline: DeadlineSeconds = None,
    prices: Prices = None,
    shown: Annotated[
        int,
        typer.Option(
            "--show", help="Questions listed, those that gained most first.", min=0, metavar="N", rich_help_panel=OUTPUT
        ),
    ] = 5,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The trace file to write (.jsonl, .jsonl.gz); by default QUESTIONS-augmented.jsonl.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            help="Also write traces of retrieval by the question alone here, to compare with. Both files then hold the "
            "passages that were kept, and not the searches, so that neither is credited with what it dropped.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    strict: Strict = False,
) -> None:
    """Fetch what is missing: search for a question's core sub-questions, too, and keep what covers most of them.

    Writes a trace for each question, with its searches, the passages that were kept, and what every extra search bought. One
    that fails is written without passages, and told. The answer is a generator's, where one is named.

    [bold]Examples[/bold]

      rag-cover augment questions.jsonl --corpus passages.jsonl

      rag-cover augment questions.jsonl --corpus passages.jsonl --mode auto --k 5 --baseline before.jsonl --out after.jsonl

      rag-cover compare before.jsonl after.jsonl
    """
    files = Files(out or Path(f"{name_of(questions)}-augmented.jsonl"), baseline)
    chosen, table, silent = mode_called(mode, generator=generator), read_prices(prices) if prices else {}, quiet or as_json
    require_file(corpus)
    file = TraceFile(questions, format_, columns_of(column), on_bad_line, limit)
    traces = opened(file)
    warn_skipped_traces(file)
    if utility:
        _require_references(traces, questions)
    run = LLMSession(cache_for(not no_cache, files.out), clock=Deadline(deadline))
    cast = Cast(judge, generator, receiver, decompose_with, entailer, utility=utility).opened(run)
    searched = Corpus(corpus, columns_of(corpus_column, "--corpus-column"), retriever, index, k).opened(quiet=silent)
    augmenter = Augmenter(
        retriever=searched.for_run(run) if isinstance(searched, Remote) else searched,
        generator=cast.get("generator"),
        mode=chosen,
        scorer=cast["scorer"],
        decomposer=cast.get("decomposer"),
        receiver=cast.get("receiver"),
        entailer=cast.get("entailer"),
        k=k,
        depth=depth,
        max_tokens=max_tokens,
        max_calls=max_calls,
        rounds=rounds,
        threshold=threshold,
    )
    work = Work.of(augmenter, baseline=baseline is not None, workers=workers)
    results = _results(work, traces, run, files, quiet=silent)
    gains = gains_of(results, chosen)
    if as_json:
        document = augmentation_document(results, gains, files.out, baseline) | {
            "skipped": [str(each) for each in file.skipped]
        }
        spent = {"spending": spending_document(run.ledger.spending, table)} if run.ledger.spending else {}
        print_json(document | spent)
    else:
        on = screen(quiet=quiet)
        _show(on, results, gains, judge=fingerprint_of(cast["scorer"]), shown=shown)
        if spending := run.ledger.spending:
            on.print(spending_table(spending, table))
        say(f"{counted(len(results), 'trace')} written to {files.out}. Next: {files.next}", quiet=quiet)
    raise typer.Exit(ExitCode.FAILURES if strict and gains.failures else ExitCode.OK)


def _require_references(traces: Iterable[Trace], path: Path) -> None:
    if not any(trace.question.references for trace in traces):
        problem = "no question here has references, which what a search was worth goes by; add some, or leave out --utility"
        raise InputError(problem, file=path)


def _results(work: Work, traces: Iterable[Trace], run: LLMSession, files: Files, *, quiet: bool) -> Sequence[Augmented]:
    """Augment, and write what was augmented, after an interrupt too."""
    results, failed = list[Augmented](), 0
    total = len(traces) if isinstance(traces, Sequence) else None
    try:
        with run.clock, progress_bar(quiet=quiet) as show:
            for each in work.done(traces):
                results.append(each)
                failed += bool(each.failures)
                if show:
                    show(Progress(len(results), total, failed, 0))
    except KeyboardInterrupt:
        if results:
            work.write(results, files.out, files.baseline)
        kept = f"{counted(len(results), 'trace')} written to {files.out}." if results else "Nothing was written."
        warn(f"Interrupted. {kept}", style="red")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    work.write(results, files.out, files.baseline)
    return results


def _show(out: Console, results: Sequence[Augmented], gains: Gains, *, judge: str, shown: int) -> None:
    if gains.core and shown:
        out.print(before_and_after(results, limit=shown))
    out.print(augmentation_panel(gains, judge=judge))
