"""``rag-cover augment``: a file of questions and a corpus in, traces whose retrieval core sub-questions drove out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_cover.augmentation import AugmentationMode, Augmenter
from rag_cover.augmentation.augmenter import ROUNDS
from rag_cover.backends import Retriever, fingerprint_of
from rag_cover.cli.commands.augmentation_batch import Cast, Files, Work, augmentation_document, mode_called
from rag_cover.cli.console import print_json, say, screen, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.inputs import TraceFile, open_traces, output_name
from rag_cover.cli.json_output import spending_document
from rag_cover.cli.option_groups import CorpusOptions, FileOptions, RemoteOptions, ScreenOptions
from rag_cover.cli.options import (
    MEASURING,
    OUTPUT,
    Depth,
    Entailer,
    Force,
    Judge,
    Limit,
    Prices,
    RequiredCorpus,
    Strict,
    Threshold,
    TopK,
    Workers,
    prices_of,
)
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import DefaultText, expand_options
from rag_cover.cli.progress import progress_bar
from rag_cover.cli.run import warn_skipped_traces
from rag_cover.errors import InputError
from rag_cover.evaluation import Progress
from rag_cover.llm.cache import cache_for
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.session import LLMSession, Remote
from rag_cover.llm.usage import Price, UsageReport
from rag_cover.measures import ModelKind
from rag_cover.reports import augmentation_panel, before_and_after, spending_table
from rag_cover.reports.gains import AugmentedQuestion, Gains, gains_of
from rag_cover.reports.text import format_count
from rag_cover.stores.files import require_corpus
from rag_cover.traces import Trace

__all__ = ["AugmentOptions", "augment_questions"]

_HOW = "How it is augmented"


@dataclass(frozen=True, slots=True, kw_only=True)
class AugmentOptions:
    """The options of ``rag-cover augment``."""

    questions: Annotated[
        Path,
        typer.Argument(
            help='A file of questions, {"question": "…", "sub_questions": ["…"]} a line, or of traces in any format that '
            "'convert' reads; sub-questions that it brings are used.",
            metavar="QUESTIONS",
            show_default=False,
        ),
    ]
    corpus: RequiredCorpus
    file: FileOptions
    limit: Limit = None
    mode: Annotated[
        str,
        typer.Option(
            help="retrieval: search for every core sub-question. auto: search only for those that the question's own"
            " passages do not cover. subquestions, definition: put the sub-questions, or their definition, into"
            " the prompt. end-to-end: answer them one by one.",
            metavar="MODE",
            rich_help_panel=_HOW,
        ),
    ] = "retrieval"
    top_k: TopK = 10
    depth: Annotated[Depth, DefaultText("as --top-k")] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(
            help="The largest number of tokens of all passages together.",
            min=1,
            metavar="N",
            rich_help_panel=_HOW,
            show_default="no limit",
        ),
    ] = None
    max_calls: Annotated[
        int | None,
        typer.Option(
            help="The largest number of searches for one question, including the search for the question itself.",
            min=1,
            metavar="N",
            rich_help_panel=_HOW,
            show_default="no limit",
        ),
    ] = None
    rounds: Annotated[
        int,
        typer.Option(
            help="With --mode auto: the largest number of rounds of searches.",
            min=1,
            metavar="N",
            rich_help_panel=_HOW,
        ),
    ] = ROUNDS
    corpus_options: CorpusOptions
    decompose_with: Annotated[
        str | None,
        typer.Option(
            help="What splits questions without sub-questions: rules, a model such as openai:gpt-4.1-mini, or a file"
            " of [bold]rag-cover decompose[/bold].",
            metavar="NAME|FILE",
            rich_help_panel=_HOW,
            show_default="the generator, or rules without one",
        ),
    ] = None
    generator: Annotated[
        str | None,
        typer.Option(
            help="The model that answers from the passages, such as openai:gpt-4.1-mini.",
            metavar="NAME",
            rich_help_panel=_HOW,
            show_default="no answers",
        ),
    ] = None
    receiver: Annotated[
        str | None,
        typer.Option(
            help="The model that reads the answers to which later sub-questions refer (#1), or none.",
            metavar="NAME",
            rich_help_panel=_HOW,
            show_default="the generator, or embedded without one",
        ),
    ] = None
    judge: Judge = "embedded"
    threshold: Threshold = None
    utility: Annotated[
        bool,
        typer.Option(
            "--utility",
            help="Also measure the utility of each search (ΔSePer), for questions with references.",
            rich_help_panel=MEASURING,
            show_default=False,
        ),
    ] = False
    entailer: Entailer = None
    workers: Workers = None
    remote: RemoteOptions
    prices: Prices = None
    show: Annotated[
        int,
        typer.Option(
            "--show", help="The number of questions to list, largest gain first.", min=0, metavar="N", rich_help_panel=OUTPUT
        ),
    ] = 5
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The trace file to write (.jsonl, .jsonl.gz).",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="QUESTIONS-augmented.jsonl",
        ),
    ] = None
    baseline: Annotated[
        Path | None,
        typer.Option(
            help="Also write traces of a search for the question alone to this file, for comparison. Both files then"
            " contain only the kept passages, not the searches, so that the comparison is fair.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="not written",
        ),
    ] = None
    force: Force = False
    screen: ScreenOptions
    strict: Strict = False

    def files(self) -> Files:
        """Return where the traces go."""
        return Files(self.out or Path(f"{output_name(self.questions)}-augmented.jsonl"), self.baseline)

    def open_models(self, run: LLMSession) -> Mapping[ModelKind, Any]:
        """Open the models that augment."""
        cast = Cast(self.judge, self.generator, self.receiver, self.decompose_with, self.entailer, utility=self.utility)
        return cast.open(run)

    def augmenter(self, retriever: Retriever, models: Mapping[ModelKind, Any], mode: AugmentationMode) -> Augmenter:
        """Return the augmenter that is asked for."""
        return Augmenter(
            retriever=retriever,
            generator=models.get("generator"),
            mode=mode,
            scorer=models["scorer"],
            decomposer=models.get("decomposer"),
            receiver=models.get("receiver"),
            entailer=models.get("entailer"),
            k=self.top_k,
            depth=self.depth,
            max_tokens=self.max_tokens,
            max_calls=self.max_calls,
            rounds=self.rounds,
            threshold=self.threshold,
        )


@expand_options
def augment_questions(options: AugmentOptions) -> None:
    """Fetch what is missing: search also for the core sub-questions, and keep the passages that together cover the most.

    Writes a trace for each question, with its searches, the kept passages, and the gain of each extra search. If a question
    fails, its trace has no passages, and the output says so. With --generator, the model also writes an answer.

    [bold]Examples[/bold]

      rag-cover augment questions.jsonl --corpus passages.jsonl

      rag-cover augment questions.jsonl --corpus passages.jsonl --mode auto --top-k 5 --baseline before.jsonl --out after.jsonl

      rag-cover compare before.jsonl after.jsonl
    """
    files, screen = options.files(), options.screen
    mode, prices = mode_called(options.mode, generator=options.generator), prices_of(options.prices)
    require_corpus(options.corpus)
    refuse_existing(files.out, files.baseline, force=options.force, inputs=[options.questions, options.corpus])
    file = options.file.trace_file(options.questions, options.limit)
    traces = open_traces(file)
    warn_skipped_traces(file)
    if options.utility:
        _require_references(traces, options.questions)
    run = LLMSession(cache_for(not options.remote.no_cache, files.out), clock=Deadline(options.remote.deadline))
    models = options.open_models(run)
    retriever = options.corpus_options.open_retriever(options.corpus, top_k=options.top_k, quiet=screen.is_silent)
    augmenter = options.augmenter(retriever.for_run(run) if isinstance(retriever, Remote) else retriever, models, mode)
    work = Work.of(augmenter, baseline=options.baseline is not None, workers=options.workers)
    results = _results(work, traces, run, files, quiet=screen.is_silent)
    gains = gains_of(results, mode)
    if screen.as_json:
        _print_document(results, gains, files, file, run.ledger.spending, prices)
    else:
        _show(results, gains, files, run.ledger.spending, prices, models=models, options=options)
    raise typer.Exit(ExitCode.FAILURES if options.strict and gains.failures else ExitCode.OK)


def _require_references(traces: Iterable[Trace], path: Path) -> None:
    if not any(trace.question.references for trace in traces):
        problem = "no question here has references, which --utility needs; add some, or leave out --utility"
        raise InputError(problem, file=path)


def _results(work: Work, traces: Iterable[Trace], run: LLMSession, files: Files, *, quiet: bool) -> Sequence[AugmentedQuestion]:
    """Augment, and write what was augmented, after an interrupt too."""
    results, failed = list[AugmentedQuestion](), 0
    total = len(traces) if isinstance(traces, Sequence) else None
    try:
        with run.clock, progress_bar(quiet=quiet) as show:
            for each in work.augment(traces):
                results.append(each)
                failed += bool(each.failures)
                if show:
                    show(Progress(len(results), total, failed, 0))
    except KeyboardInterrupt:
        if results:
            work.write(results, files.out, files.baseline)
        kept = f"{format_count(len(results), 'trace')} written to {files.out}." if results else "Nothing was written."
        warn(f"Interrupted. {kept}", style="red")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    work.write(results, files.out, files.baseline)
    return results


def _print_document(  # what a document holds
    results: Sequence[AugmentedQuestion],
    gains: Gains,
    files: Files,
    file: TraceFile,
    spending: UsageReport,
    prices: Mapping[str, Price],
) -> None:
    document = augmentation_document(results, gains, files.out, files.baseline)
    spent = {"spending": spending_document(spending, prices)} if spending else {}
    print_json(document | {"skipped": [str(each) for each in file.skipped]} | spent)


def _show(  # what the screen shows
    results: Sequence[AugmentedQuestion],
    gains: Gains,
    files: Files,
    spending: UsageReport,
    prices: Mapping[str, Price],
    *,
    models: Mapping[ModelKind, Any],
    options: AugmentOptions,
) -> None:
    quiet = options.screen.quiet
    out = screen(quiet=quiet)
    if gains.core and options.show:
        out.print(before_and_after(results, limit=options.show))
    out.print(augmentation_panel(gains, judge=fingerprint_of(models["scorer"])))
    if spending:
        out.print(spending_table(spending, prices))
    say(f"{format_count(len(results), 'trace')} written to {files.out}. Next: {files.next}", quiet=quiet)
