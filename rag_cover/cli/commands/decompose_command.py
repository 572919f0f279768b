"""``rag-cover decompose``: questions split into sub-questions once, in a file that people can correct and runs can share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.backends import Failure
from rag_cover.cli.console import say, screen, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.inputs import in_blocks, open_traces
from rag_cover.cli.option_groups import FileOptions
from rag_cover.cli.options import (
    OUTPUT,
    Again,
    Force,
    Limit,
    NoCache,
    Prices,
    Quiet,
    Strict,
    prices_of,
    prompts_option,
    show_prompts_option,
)
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.cli.run import warn_skipped_traces
from rag_cover.coverage import DecompositionPrompts, GeneratedDecomposer, decompose
from rag_cover.decomposition.generated import MOST
from rag_cover.decomposition.prompts import SHIPPED_PROMPTS
from rag_cover.llm.cache import cache_for
from rag_cover.llm.session import LLMSession
from rag_cover.questions import Question, SubQuestion
from rag_cover.registry import open_embedder, open_generator
from rag_cover.reports import spending_table
from rag_cover.reports.text import format_count
from rag_cover.stores import write_traces
from rag_cover.traces import Trace

__all__ = ["DecomposeOptions", "decompose_questions"]

AT_ONCE = 32
RULES = "rules"
NONE = "none"
_HOW = "How questions are split"

Split = Callable[[Sequence[Question]], Sequence[Sequence[SubQuestion] | Failure]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecomposeOptions:
    """The options of ``rag-cover decompose``."""

    questions: Annotated[
        Path, typer.Argument(help="A trace file. The questions alone are enough.", metavar="IN", show_default=False)
    ]
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="The trace file to write (.jsonl, .jsonl.gz).",
            metavar="OUT",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ]
    file: FileOptions
    limit: Limit = None
    generator: Annotated[
        str,
        typer.Option(
            help="The model that splits questions and gives roles, such as openai:gpt-4.1-mini; or 'rules'.",
            metavar="NAME",
            rich_help_panel=_HOW,
        ),
    ] = RULES
    embedder: Annotated[
        str,
        typer.Option(
            help="The model that finds duplicate sub-questions. 'none' compares their words.",
            metavar="NAME",
            rich_help_panel=_HOW,
        ),
    ] = "embedded"
    prompts: Annotated[Path | None, prompts_option(_HOW)] = None
    max_sub_questions: Annotated[
        int | None,
        typer.Option(
            help="The largest number of sub-questions of a question.",
            min=1,
            metavar="N",
            rich_help_panel=_HOW,
            show_default=f"{MOST}, by rules 12",
        ),
    ] = None
    again: Again = False
    no_cache: NoCache = False
    prices: Prices = None
    strict: Strict = False
    force: Force = False
    quiet: Quiet = False
    show_prompts: Annotated[bool, show_prompts_option(SHIPPED_PROMPTS, _HOW)] = False

    def split_for(self, run: LLMSession) -> Split:
        """Open whoever splits: rules, or a model.

        Raises:
            RagCoverError: there is no such model, or its instructions cannot be read.
        """
        if self.generator == RULES:
            return _by_rules(self.max_sub_questions)
        made = GeneratedDecomposer(
            open_generator(self.generator),
            embedder=None if self.embedder == NONE else open_embedder(self.embedder),
            prompts=DecompositionPrompts.read(self.prompts),
            max_sub_questions=self.max_sub_questions or MOST,
        )
        return made.for_run(run).split


@expand_options
def decompose_questions(options: DecomposeOptions) -> None:
    """Split questions into sub-questions with the roles core, background and follow-up.

    OUT has the traces of IN with sub-questions. You can correct OUT, evaluate it, or use it for the traces of other
    pipelines with [bold]--sub-questions[/bold]. A question that cannot be split stays unchanged, with a warning.

    [bold]Examples[/bold]

      rag-cover decompose questions.jsonl --out decomposed.jsonl

      rag-cover decompose questions.jsonl --out decomposed.jsonl --generator openai:gpt-4.1-mini

      rag-cover evaluate traces.jsonl --sub-questions decomposed.jsonl
    """
    refuse_existing(options.out, force=options.force, inputs=[options.questions], in_place=True)
    file, out = options.file.trace_file(options.questions, options.limit), options.out
    traces = list(open_traces(file))
    warn_skipped_traces(file)
    prices = prices_of(options.prices)
    run = LLMSession(cache_for(not options.no_cache, out))
    work = _Work(traces, options.split_for(run), again=options.again)
    try:
        work.run()
    except KeyboardInterrupt:
        write_traces(out, work.traces)
        warn(f"Interrupted. What was split is in {out}; 'rag-cover decompose {out} --out {out} --force' goes on.", style="red")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    write_traces(out, work.traces)
    _tell(work, out, quiet=options.quiet)
    if spending := run.ledger.spending:
        screen(quiet=options.quiet).print(spending_table(spending, prices))
    raise typer.Exit(ExitCode.FAILURES if work.failures and (options.strict or not work.done) else ExitCode.OK)


class _Work:
    """Traces of which more and more have sub-questions, and the failures on the way."""

    def __init__(self, traces: Sequence[Trace], split: Split, *, again: bool) -> None:
        self.traces = list(traces)
        self.failures: list[Failure] = []
        self.written: list[int] = []
        self.wanted = [index for index, trace in enumerate(traces) if again or trace.sub_questions is None]
        self._split = split

    @property
    def done(self) -> int:
        """Return how many were split."""
        return len(self.written)

    def run(self) -> None:
        for block in in_blocks(self.wanted, AT_ONCE):
            found = self._split([self.traces[index].question for index in block])
            for index, each in zip(block, found, strict=True):
                if isinstance(each, Failure):
                    self.failures.append(each)
                else:
                    self.traces[index] = self.traces[index].model_copy(update={"sub_questions": tuple(each)})
                    self.written.append(index)


def _by_rules(most: int | None) -> Split:
    return lambda questions: [decompose(question, max_sub_questions=most) for question in questions]


def _count_parts(work: _Work) -> str:
    """Say how many questions have several sub-questions now, how many stay whole, and how many were left as they were."""
    parts = [len(work.traces[index].sub_questions or ()) for index in work.written]
    several = sum(count > 1 for count in parts)
    found = [f"{several:,} split into several sub-questions"]
    if whole := len(parts) - several:
        found.append(f"{whole:,} left whole (they ask one thing, or several that rules do not split)")
    if kept := len(work.traces) - len(work.wanted):
        found.append(f"{kept:,} kept with the sub-questions of the file (--again replaces them)")
    return f"{format_count(len(work.traces), 'question')}: {', '.join(found)}."


def _tell(work: _Work, out: Path, *, quiet: bool) -> None:
    say(f"{_count_parts(work)} Written to {out}.", quiet=quiet)
    if work.done or not work.failures:
        say(f"Next: rag-cover evaluate {out}", quiet=quiet)
    for (kind, message), count in Counter((failure.kind, failure.message) for failure in work.failures).most_common(3):
        warn(f"{count:,} could not be split: {kind}: {message}")
