"""``rag-cover decompose``: questions split into sub-questions once, in a file that people can correct and runs can share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.backends import Failure
from rag_cover.cli.console import say, screen, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.inputs import TraceFile, opened
from rag_cover.cli.options import Columns, Format, Limit, NoCache, OnBadLine, Prices, Quiet, columns_of
from rag_cover.cli.run import warn_skipped_traces
from rag_cover.coverage import DecompositionPrompts, GeneratedDecomposer, decompose
from rag_cover.decomposition.generated import MOST
from rag_cover.decomposition.prompts import SHIPPED_PROMPTS
from rag_cover.llm.cache import cache_for
from rag_cover.llm.session import LLMSession
from rag_cover.llm.usage import read_prices
from rag_cover.questions import Question, SubQuestion
from rag_cover.registry import open_embedder, open_generator
from rag_cover.reports import spending_table
from rag_cover.stores import write_traces
from rag_cover.traces import Trace

__all__ = ["decompose_questions"]

AT_ONCE = 32
RULES = "rules"
NONE = "none"

Split = Callable[[Sequence[Question]], Sequence[Sequence[SubQuestion] | Failure]]


def _show_prompts(*, asked: bool) -> None:
    if asked:
        typer.echo(SHIPPED_PROMPTS.read_text(encoding="utf-8"), nl=False)
        raise typer.Exit


def decompose_questions(  # noqa: PLR0913  # a command has as many options as it has
    questions: Annotated[
        Path, typer.Argument(help="A trace file; the question alone is enough of a trace.", metavar="IN", show_default=False)
    ],
    *,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="The trace file to write (.jsonl, .jsonl.gz).", metavar="OUT", show_default=False),
    ],
    generator: Annotated[
        str, typer.Option(help="The model that splits and types, such as openai:gpt-4.1-mini; or 'rules'.", metavar="NAME")
    ] = RULES,
    embedder: Annotated[
        str, typer.Option(help="Tells sub-questions of the model that mean the same; 'none' goes by words.", metavar="NAME")
    ] = "embedded",
    prompts: Annotated[
        Path | None, typer.Option(help="The model's instructions, of your own (see --show-prompts).", metavar="FILE")
    ] = None,
    max_sub_questions: Annotated[
        int | None, typer.Option(help="At most so many; by default 20, by rules 12.", min=1, metavar="N")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Split also questions that have sub-questions.", show_default=False)
    ] = False,
    no_cache: NoCache = False,
    prices: Prices = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 4 where a question could not be split.", show_default=False)
    ] = False,
    format_: Format = None,
    column: Columns = None,
    on_bad_line: OnBadLine = "raise",
    limit: Limit = None,
    quiet: Quiet = False,
    _show: Annotated[
        bool,
        typer.Option(
            "--show-prompts",
            callback=lambda asked: _show_prompts(asked=asked),
            is_eager=True,
            help="Print the shipped instructions, to be edited and passed to --prompts.",
        ),
    ] = False,
) -> None:
    """Split questions into sub-questions of the types core, background and follow-up.

    OUT holds what IN holds, with sub-questions. Read and correct it, evaluate it, or hand it to the evaluation of other
    pipelines' traces with [bold]--sub-questions[/bold]. A question that could not be split stays as it was, and why is told.

    [bold]Examples[/bold]

      rag-cover decompose questions.jsonl --out decomposed.jsonl

      rag-cover decompose questions.jsonl --out decomposed.jsonl --generator openai:gpt-4.1-mini

      rag-cover evaluate traces.jsonl --sub-questions decomposed.jsonl
    """
    file = TraceFile(questions, format_, columns_of(column), on_bad_line, limit)
    traces = list(opened(file))
    warn_skipped_traces(file)
    table = read_prices(prices) if prices else {}
    run = LLMSession(cache_for(not no_cache, out))
    split = _by_rules(max_sub_questions)
    if generator != RULES:
        made = GeneratedDecomposer(
            open_generator(generator),
            embedder=None if embedder == NONE else open_embedder(embedder),
            prompts=DecompositionPrompts.read(prompts),
            max_sub_questions=max_sub_questions or MOST,
        )
        split = made.for_run(run).split
    work = _Work(traces, split, again=again)
    try:
        work.run()
    except KeyboardInterrupt:
        write_traces(out, work.traces)
        warn(f"Interrupted. What was split is in {out}; 'rag-cover decompose {out} --out {out}' goes on.", style="red")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    write_traces(out, work.traces)
    _tell(work, out, quiet=quiet)
    if spending := run.ledger.spending:
        screen(quiet=quiet).print(spending_table(spending, table))
    raise typer.Exit(ExitCode.FAILURES if strict and work.failures else ExitCode.OK)


class _Work:
    """Traces of which more and more have sub-questions, and the failures on the way."""

    def __init__(self, traces: Sequence[Trace], split: Split, *, again: bool) -> None:
        self.traces = list(traces)
        self.failures: list[Failure] = []
        self.wanted = [index for index, trace in enumerate(traces) if again or trace.sub_questions is None]
        self._split = split

    def run(self) -> None:
        for block in _blocks(self.wanted):
            found = self._split([self.traces[index].question for index in block])
            for index, each in zip(block, found, strict=True):
                if isinstance(each, Failure):
                    self.failures.append(each)
                else:
                    self.traces[index] = self.traces[index].model_copy(update={"sub_questions": tuple(each)})


def _blocks(indices: Sequence[int]) -> Iterator[list[int]]:
    rest = iter(indices)
    while block := list(islice(rest, AT_ONCE)):
        yield block


def _by_rules(most: int | None) -> Split:
    return lambda questions: [decompose(question, max_sub_questions=most) for question in questions]


def _tell(work: _Work, out: Path, *, quiet: bool) -> None:
    done = len(work.wanted) - len(work.failures)
    say(f"{done:,} of {len(work.traces):,} questions split, written to {out}. Next: rag-cover evaluate {out}", quiet=quiet)
    for (kind, message), count in Counter((failure.kind, failure.message) for failure in work.failures).most_common(3):
        warn(f"{count:,} could not be split: {kind}: {message}")
