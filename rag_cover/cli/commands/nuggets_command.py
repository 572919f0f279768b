"""``rag-cover nuggets make``: nuggets made of passages by a language model, once, in a file that people can correct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

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
from rag_cover.decomposition.nuggetizer import MOST, WINDOW, Nuggetizer
from rag_cover.llm.cache import cache_for
from rag_cover.llm.nugget_prompts import SHIPPED_PROMPTS, NuggetPrompts
from rag_cover.llm.session import LLMSession
from rag_cover.llm.usage import Price
from rag_cover.question_keys import question_key
from rag_cover.questions import Passage, Question
from rag_cover.registry import open_generator
from rag_cover.reports import spending_table
from rag_cover.reports.text import format_count
from rag_cover.stores import write_traces
from rag_cover.stores.nugget_files import (
    NuggetList,
    write_nuggets,
)
from rag_cover.traces import Trace, distinct

__all__ = ["AT_ONCE", "MakeOptions", "NuggetModel", "OutFile", "PromptsFile", "end_command", "make_nuggets", "nuggets_app"]

nuggets_app = typer.Typer(no_args_is_help=True, help="Make nuggets, assign them to answers, and score answers with them.")

AT_ONCE = 16
_HOW = "How nuggets are made"

_Form = Literal["traces", "nuggetizer"]


OutFile = Annotated[
    Path,
    typer.Option(
        "--out", "-o", help="The file to write (.jsonl, .jsonl.gz).", metavar="OUT", rich_help_panel=OUTPUT, show_default=False
    ),
]
NuggetModel = Annotated[
    str,
    typer.Option(
        help="The model to ask, such as openai:gpt-4.1-mini.", metavar="NAME", rich_help_panel=_HOW, show_default=False
    ),
]
PromptsFile = Annotated[Path | None, prompts_option(_HOW)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeOptions:
    """The options of ``rag-cover nuggets make``."""

    traces: Annotated[
        Path,
        typer.Argument(
            help="A trace file. Nuggets are made from the passages that its traces retrieved.", metavar="IN", show_default=False
        ),
    ]
    out: OutFile
    file: FileOptions
    limit: Limit = None
    generator: NuggetModel
    prompts: PromptsFile = None
    window: Annotated[
        int,
        typer.Option(
            help="The number of passages, and later of nuggets, in one call of the model.", min=1, rich_help_panel=_HOW
        ),
    ] = WINDOW
    max_nuggets: Annotated[
        int, typer.Option(help="The largest number of nuggets of a question.", min=1, rich_help_panel=_HOW)
    ] = MOST
    keep: Annotated[
        int | None,
        typer.Option(
            help="Keep only this number of nuggets, vital ones first. TREC 2024 kept 20.",
            min=1,
            rich_help_panel=_HOW,
            show_default="all",
        ),
    ] = None
    again: Again = False
    form: Annotated[
        _Form,
        typer.Option(
            "--as", help="Write traces, or one list of nuggets for each question as nuggetizer does.", rich_help_panel=OUTPUT
        ),
    ] = "traces"
    no_cache: NoCache = False
    prices: Prices = None
    strict: Strict = False
    force: Force = False
    quiet: Quiet = False
    show_prompts: Annotated[bool, show_prompts_option(SHIPPED_PROMPTS, _HOW)] = False

    def nuggetizer_for(self, run: LLMSession) -> Nuggetizer:
        """Open the model, bound to a run.

        Raises:
            RagCoverError: there is no such model, or its instructions cannot be read.
        """
        made = Nuggetizer(
            open_generator(self.generator),
            prompts=NuggetPrompts.read(self.prompts),
            window=self.window,
            max_nuggets=self.max_nuggets,
            keep=self.keep,
        )
        return made.for_run(run)


@nuggets_app.command("make")
@expand_options
def make_nuggets(options: MakeOptions) -> None:
    """Make the nuggets of questions from their retrieved passages, with a language model.

    This is the procedure of TREC's RAG track (AutoNuggetizer): the model sees ten passages at a time, keeps a list of up to
    30 nuggets, and says which are vital. The model sees the passages of all pipelines. A question without nuggets stays
    unchanged, and the output gives the reason. Read and correct OUT before you use it.

    [bold]Examples[/bold]

      rag-cover nuggets make traces.jsonl --out nuggets.jsonl --generator openai:gpt-4.1

      rag-cover evaluate other.jsonl --nuggets nuggets.jsonl
    """
    file, out, prices = options.file.trace_file(options.traces, options.limit), options.out, prices_of(options.prices)
    refuse_existing(out, force=options.force, inputs=[options.traces], in_place=True)
    traces = list(open_traces(file))
    warn_skipped_traces(file)
    run = LLMSession(cache_for(not options.no_cache, out))
    work = _Work(traces, options.nuggetizer_for(run), again=options.again)
    try:
        work.run()
    except KeyboardInterrupt:
        _write(out, work.traces, options.form)
        warn(f"Interrupted. What was made is in {out}; the same command with --force goes on.", style="red")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    _write(out, work.traces, options.form)
    done, asked = len(work.wanted) - len(work.failures), format_count(len(work.wanted), "question")
    say(
        f"Nuggets of {done:,} of {asked} made, written to {out}. Next: rag-cover evaluate TRACES --nuggets {out}",
        quiet=options.quiet,
    )
    end_command(work.failures, "could not be made", run, prices, strict=options.strict, quiet=options.quiet)


class _Work:
    """Traces of which more and more have nuggets, and the failures on the way; a question is one piece of work."""

    def __init__(self, traces: Sequence[Trace], nuggetizer: Nuggetizer, *, again: bool) -> None:
        self.traces = list(traces)
        self.failures: list[Failure] = []
        self._nuggetizer = nuggetizer
        self._places: dict[str, list[int]] = {}
        for place, trace in enumerate(traces):
            self._places.setdefault(question_key(trace.question), []).append(place)
        self.wanted = [
            key for key, some in self._places.items() if again or any(traces[place].nuggets is None for place in some)
        ]

    def run(self) -> None:
        """Make the nuggets of all questions, some at once."""
        for block in in_blocks(self.wanted, AT_ONCE):
            made = self._nuggetizer.make([self._pool(key) for key in block])
            for key, nuggets in zip(block, made, strict=True):
                if isinstance(nuggets, Failure):
                    self.failures.append(nuggets)
                    continue
                for place in self._places[key]:
                    self.traces[place] = self.traces[place].model_copy(update={"nuggets": nuggets})

    def _pool(self, key: str) -> tuple[Question, tuple[Passage, ...]]:
        """Put the passages of all traces of a question together; the prompt's, where nothing was retrieved."""
        some = [self.traces[place] for place in self._places[key]]
        return some[0].question, distinct(passage for trace in some for passage in trace.chunks or trace.prompt or ())


def _write(out: Path, traces: Sequence[Trace], form: _Form) -> None:
    if form == "traces":
        write_traces(out, traces)
        return
    lists = {question_key(trace.question): trace for trace in reversed(traces) if trace.nuggets is not None}
    write_nuggets(out, [NuggetList.of(trace.question, trace.nuggets or ()) for trace in reversed(lists.values())])


def end_command(
    failures: Sequence[Failure],
    what: str,
    run: LLMSession,
    prices: Mapping[str, Price],
    *,
    strict: bool,
    quiet: bool,
    told: int = 0,
) -> None:
    """Tell what failed and what it cost, and end with the exit code that says so; of some failures was ``told`` already."""
    for (kind, message), count in Counter((failure.kind, failure.message) for failure in failures).most_common(3):
        warn(f"{count:,} {what}: {kind}: {message}")
    if spending := run.ledger.spending:
        screen(quiet=quiet).print(spending_table(spending, prices))
    raise typer.Exit(ExitCode.FAILURES if strict and (failures or told) else ExitCode.OK)
