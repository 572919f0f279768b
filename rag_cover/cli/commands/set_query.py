"""``rag-cover set-query``: "A or B but not C" in, everything that belongs out, with the words that tell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.commands.augmentation_batch import Files
from rag_cover.cli.commands.set_query_batch import EMBEDDED, Asked, demand_one
from rag_cover.cli.commands.set_query_output import SetQueryEnding
from rag_cover.cli.option_groups import CorpusOptions, RemoteOptions, ScreenOptions
from rag_cover.cli.options import (
    INPUT,
    OUTPUT,
    Corpus,
    Depth,
    Force,
    Judge,
    Prices,
    QuestionFile,
    Strict,
    Threshold,
    prices_of,
)
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import DefaultText, expand_options
from rag_cover.demo import corpus_path
from rag_cover.llm.cache import cache_for
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.session import LLMSession, Remote, bind_models
from rag_cover.registry import Models
from rag_cover.setqueries import DEPTH, MOST_PAIRS, Modifiers, SetAnswerer
from rag_cover.stores.files import require_corpus

__all__ = ["SetQueryOptions", "run_set_query"]

_HOW = "How it is answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetQueryOptions:
    """The options of ``rag-cover set-query``."""

    question: Annotated[
        str | None,
        typer.Argument(help="The set query in words.", metavar="QUESTION", show_default=False),
    ] = None
    expression: Annotated[
        str | None,
        typer.Option(
            help="The set query as set algebra: \"birds of Chile\" & 'birds of Peru' - pets; with | & - and brackets, "
            "or ∪ ∩ \\.",
            metavar="TEXT",
            rich_help_panel=INPUT,
            show_default="none",
        ),
    ] = None
    questions: QuestionFile = None
    corpus: Annotated[Corpus, DefaultText("required, but for --parse-only")] = None
    parser: Annotated[
        str,
        typer.Option(
            help="The parser of the question: embedded or grammar (both mean the grammar, without a model), or a "
            "model such as openai:gpt-4.1-mini.",
            metavar="NAME",
            rich_help_panel=_HOW,
        ),
    ] = EMBEDDED
    modifiers: Annotated[
        Modifiers,
        typer.Option(
            help="How to parse modifiers: as the grammar reads them, split into one set for each, or joined into one set. "
            "“Spanish war films” is then Spanish films ∩ war films, or one set. A quoted phrase is always one set.",
            rich_help_panel=_HOW,
        ),
    ] = "read"
    parse_only: Annotated[
        bool,
        typer.Option(
            "--parse-only",
            help="Only show how the question is parsed. This needs no corpus.",
            rich_help_panel=_HOW,
            show_default=False,
        ),
    ] = False
    corpus_options: CorpusOptions
    depth: Depth = DEPTH
    max_pairs: Annotated[
        int,
        typer.Option(
            help="The largest number of judged pairs of a passage and a part of the query.",
            min=1,
            metavar="N",
            rich_help_panel=_HOW,
        ),
    ] = MOST_PAIRS
    screen_first: Annotated[
        bool,
        typer.Option(
            "--screen",
            help="Do not judge an entity by a part of the query if the search for this part did not find the entity and its "
            "passages share few words with the part. This saves most of the time of intersections. It can miss some entities.",
            rich_help_panel=_HOW,
            show_default=False,
        ),
    ] = False
    judge: Judge = "embedded"
    threshold: Annotated[Threshold, DefaultText("what was fitted for the judge, else 0.5")] = None
    remote: RemoteOptions
    prices: Prices = None
    show: Annotated[
        int,
        typer.Option(
            "--show",
            help="The number of entities to list (or of questions, with several questions). The file of --out has all of them.",
            min=0,
            metavar="N",
            rich_help_panel=OUTPUT,
        ),
    ] = 20
    show_left_out: Annotated[
        int,
        typer.Option(
            "--show-left-out",
            help="The number of rejected entities to list.",
            min=0,
            metavar="N",
            rich_help_panel=OUTPUT,
        ),
    ] = 5
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the answer as a trace here (.jsonl, .jsonl.gz).",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="not written",
        ),
    ] = None
    force: Force = False
    screen: ScreenOptions
    strict: Strict = False

    def ending(self, run: LLMSession) -> SetQueryEnding:
        """Return what is wanted at the end."""
        return SetQueryEnding(
            run=run,
            prices=prices_of(self.prices),
            files=Files(self.out, None) if self.out else None,
            as_json=self.screen.as_json,
            quiet=self.screen.quiet,
            strict=self.strict,
        )

    def answerer(self, corpus: Path, run: LLMSession) -> SetAnswerer:
        """Open the models, index the corpus, and return who answers.

        Raises:
            RagCoverError: a model cannot be opened, or the corpus cannot be read.
        """
        require_corpus(corpus)
        models = bind_models(Models(judge=self.judge).open(["scorer", "locator"]), run)
        retriever = self.corpus_options.open_retriever(corpus, top_k=1, quiet=self.screen.is_silent)
        return SetAnswerer(
            retriever=retriever.for_run(run) if isinstance(retriever, Remote) else retriever,
            scorer=models["scorer"],
            locator=models.get("locator"),
            threshold=self.threshold,
            depth=self.depth or DEPTH,
            max_pairs=self.max_pairs,
            explained=self.show_left_out,
            screen=self.screen_first,
        )


@expand_options
def run_set_query(options: SetQueryOptions) -> None:
    """Find all entities of "A or B but not C": search for each part of the query, and judge the entities that are found.

    Shows how the question was parsed, the entities with their evidence, and the rejected entities with the reason. For
    intersections, each search returns twice as many passages as --depth.

    [bold]Examples[/bold]

      rag-cover set-query "birds of Chile that are also birds of Peru but not pets" --corpus passages.jsonl

      rag-cover set-query --expression "(red wines | white wines) - French wines" --corpus passages.jsonl --out answer.jsonl

      rag-cover set-query "Swiss crime novels" --parse-only
    """
    demand_one(options.question, options.expression, options.questions)
    if options.corpus is None and not options.parse_only:
        raise typer.BadParameter(_no_corpus(), param_hint="--corpus")
    refuse_existing(options.out, force=options.force, inputs=[options.questions, options.corpus])
    run = LLMSession(cache_for(not options.remote.no_cache, options.out), clock=Deadline(options.remote.deadline))
    ending = options.ending(run)
    asked = Asked.of(options.question, options.expression, options.questions, parser=options.parser, run=run)
    asked = asked.regroup(options.modifiers)
    if options.corpus is None or options.parse_only:
        ending.tell_readings(asked)
    ending.come(asked, options.answerer(options.corpus, run), shown=options.show, left_out_shown=options.show_left_out)


def _no_corpus() -> str:
    return (
        'name the passages to search: --corpus FILE, with {"text": "…", "title": "…"} a line; or only see how the question is '
        f"read, with --parse-only. There are passages to try it with in {corpus_path()}"
    )
