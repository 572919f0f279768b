"""``rag-cover nuggets extract``: nuggets without a language model, of a corpus, retrieved passages and other answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.commands.nugget_assignments import nuggets_app
from rag_cover.cli.commands.nuggets_command import OutFile
from rag_cover.cli.console import busy, say, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.inputs import open_traces
from rag_cover.cli.option_groups import CorpusOptions, FileOptions
from rag_cover.cli.options import Corpus, Force, Limit, Quiet, Strict, TopK
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.cli.run import warn_skipped_traces
from rag_cover.decomposition.nuggets import NuggetMaker, NuggetsMissing
from rag_cover.nuggets import Nugget
from rag_cover.registry import open_embedder, open_entailer
from rag_cover.reports.text import format_count
from rag_cover.stores import write_traces
from rag_cover.traces import Trace, assign_ids

__all__ = ["ExtractOptions", "extract_nuggets", "nuggets_app"]

_HOW = "How nuggets are made"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractOptions:
    """The options of ``rag-cover nuggets extract``."""

    traces: Annotated[
        list[Path],
        typer.Argument(
            help="Trace files of one or more pipelines. More pipelines give better nuggets.",
            metavar="IN...",
            show_default=False,
        ),
    ]
    out: OutFile
    file: FileOptions
    limit: Limit = None
    corpus: Corpus = None
    corpus_options: CorpusOptions
    top_k: TopK = 50
    max_nuggets: Annotated[
        int, typer.Option(help="The largest number of nuggets of a question.", min=1, rich_help_panel=_HOW)
    ] = 12
    strict: Strict = False
    force: Force = False
    quiet: Quiet = False

    def open_maker(self) -> NuggetMaker:
        """Open the embedded models, and the corpus where there is one.

        Raises:
            InputError: the corpus cannot be read.
        """
        searched = (
            None if self.corpus is None else self.corpus_options.open_retriever(self.corpus, top_k=self.top_k, quiet=self.quiet)
        )
        return NuggetMaker(
            open_embedder("embedded"), open_entailer("embedded"), corpus=searched, depth=self.top_k, most=self.max_nuggets
        )


@nuggets_app.command("extract")
@expand_options
def extract_nuggets(options: ExtractOptions) -> None:
    """Make nuggets without a language model, from a corpus or the retrieved passages, and from other pipelines' answers.

    Sentences of these texts that are related to the question are grouped by meaning. A few sentences that represent most of
    the others become nuggets, those with more sources first. A pipeline's own answer is never a source of its nuggets, so
    the traces of one question can have different nuggets. A trace stays unchanged if fewer than two sources have sentences
    on its question. The output then gives the reason.

    [bold]Examples[/bold]

      rag-cover nuggets extract one.jsonl two.jsonl --corpus corpus.jsonl --out nuggets.jsonl

      rag-cover evaluate nuggets.jsonl
    """
    refuse_existing(options.out, force=options.force, inputs=[*options.traces, options.corpus])
    traces: list[Trace] = []
    for path in options.traces:
        file = options.file.trace_file(path, options.limit)
        traces += open_traces(file)
        warn_skipped_traces(file)
    maker = options.open_maker()
    with busy(f"Reading what is said on {format_count(len(traces), 'trace')}", quiet=options.quiet):
        named = list(assign_ids(traces))
        made = maker.make(named)
    both = list(zip(named, made, strict=True))
    write_traces(options.out, [_with_nuggets(trace, nuggets) for trace, nuggets in both])
    missing = [nuggets for nuggets in made if isinstance(nuggets, NuggetsMissing)]
    done = len(made) - len(missing)
    then = f" Next: rag-cover evaluate {options.out}" if done else ""
    of_all = f"{done:,} of {format_count(len(made), 'trace')}"
    say(f"Nuggets of {of_all} made, written to {options.out}.{then}", quiet=options.quiet)
    _warn_missing(missing)
    if asked := sum(trace.sub_questions is not None and not isinstance(each, NuggetsMissing) for trace, each in both):
        warn(
            f"{format_count(asked, 'trace')} had sub-questions, which are left out: they would be measured in place of nuggets"
        )
    raise typer.Exit(ExitCode.FAILURES if options.strict and missing else ExitCode.OK)


def _with_nuggets(trace: Trace, nuggets: tuple[Nugget, ...] | NuggetsMissing) -> Trace:
    if isinstance(nuggets, NuggetsMissing):
        return trace
    return trace.model_copy(update={"nuggets": nuggets, "sub_questions": None})


def _warn_missing(missing: Sequence[NuggetsMissing]) -> None:
    for reason, count in Counter(each.reason for each in missing).most_common(3):
        warn(f"{format_count(count, 'trace')} without nuggets: {reason}")
