"""``rag-cover set-query``: "A or B but not C" in, everything that belongs out, with the words that tell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.augmentations import Files
from rag_cover.cli.complexity_inputs import Corpus
from rag_cover.cli.options import (
    INPUT,
    MEASURING,
    OUTPUT,
    AsJson,
    CorpusColumns,
    DeadlineSeconds,
    Judge,
    NoCache,
    Prices,
    Quiet,
    Strict,
    columns_of,
)
from rag_cover.cli.set_query_batch import EMBEDDED, Asked, demand_one
from rag_cover.cli.set_query_output import Ending
from rag_cover.demo import corpus_path
from rag_cover.llm.cache import cache_for
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.session import LLMSession, Remote, bind_models
from rag_cover.llm.usage import read_prices
from rag_cover.registry import Models
from rag_cover.setqueries import DEPTH, MOST_PAIRS, SetAnswerer
from rag_cover.stores.files import require_file

__all__ = ["answer_set_query"]

_HOW = "How it is answered"


def answer_set_query(  # noqa: PLR0913  # a command has as many options as it has
    question: Annotated[
        str | None,
        typer.Argument(help="What is to be found, in words.", metavar="QUESTION", show_default=False),
    ] = None,
    *,
    expression: Annotated[
        str | None,
        typer.Option(
            help="What is to be found, as set algebra instead of words: \"birds of Chile\" & 'birds of Peru' - pets; | & - and "
            "brackets, or ∪ ∩ \\.",
            metavar="TEXT",
            rich_help_panel=INPUT,
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            help='Many questions instead of one, {"question": "…"} a line, or traces in any format that "convert" reads.',
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help='The passages to search, {"text": "…", "title": "…", "id": "…"} a line; one title, one entity.',
            metavar="FILE",
            rich_help_panel=INPUT,
            show_default=False,
        ),
    ] = None,
    corpus_column: CorpusColumns = None,
    parser: Annotated[
        str,
        typer.Option(
            help="Who reads the question: embedded or grammar (the same: a grammar, without any model), or a model, say "
            "openai:gpt-4.1-mini.",
            metavar="NAME",
            rich_help_panel=_HOW,
        ),
    ] = EMBEDDED,
    parse_only: Annotated[
        bool,
        typer.Option(
            "--parse-only", help="Show how it is read, and stop; needs no corpus.", rich_help_panel=_HOW, show_default=False
        ),
    ] = False,
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
    depth: Annotated[
        int,
        typer.Option(
            help="Passages that the search for an atom asks for; twice as many where atoms are intersected.",
            min=1,
            metavar="N",
            rich_help_panel=_HOW,
        ),
    ] = DEPTH,
    max_pairs: Annotated[
        int,
        typer.Option(help="Pairs of a passage and an atom judged at most.", min=1, metavar="N", rich_help_panel=_HOW),
    ] = MOST_PAIRS,
    judge: Judge = "embedded",
    threshold: Annotated[
        float | None,
        typer.Option(
            help="What is more probable than this belongs; by default what was fitted for the judge, else 0.5.",
            min=0.0,
            max=1.0,
            rich_help_panel=MEASURING,
        ),
    ] = None,
    no_cache: NoCache = False,
    deadline: DeadlineSeconds = None,
    prices: Prices = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            "-k",
            help="Entities shown (or questions, of many); all of them are written.",
            min=0,
            metavar="N",
            rich_help_panel=OUTPUT,
        ),
    ] = 20,
    shown: Annotated[
        int,
        typer.Option("--show", help="Entities shown that were left out.", min=0, metavar="N", rich_help_panel=OUTPUT),
    ] = 5,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write the answer as a trace here (.jsonl, .jsonl.gz).", metavar="FILE", rich_help_panel=OUTPUT
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    strict: Strict = False,
) -> None:
    """Find all that belongs to "A or B but not C": search for each set by itself, and judge whatever is found by all of them.

    Shows how the question was read, what belongs with the words that tell, and what was left out with why.

    [bold]Examples[/bold]

      rag-cover set-query "birds of Chile that are also birds of Peru but not pets" --corpus passages.jsonl

      rag-cover set-query --expression "(red wines | white wines) - French wines" --corpus passages.jsonl --out answer.jsonl

      rag-cover set-query "Swiss crime novels" --parse-only
    """
    demand_one(question, expression, questions)
    if corpus is None and not parse_only:
        raise typer.BadParameter(_no_corpus(), param_hint="--corpus")
    run = LLMSession(cache_for(not no_cache, out), clock=Deadline(deadline))
    files, table = Files(out, None) if out else None, read_prices(prices) if prices else {}
    ending = Ending(run=run, prices=table, files=files, as_json=as_json, quiet=quiet, strict=strict)
    asked = Asked.of(question, expression, questions, parser=parser, run=run)
    if corpus is None or parse_only:
        ending.tell_readings(asked)
    require_file(corpus)
    models = bind_models(Models(judge=judge).open(["scorer", "locator"]), run)
    searched = Corpus(corpus, columns_of(corpus_column, "--corpus-column"), retriever, index, k=1).opened(quiet=ending.silent)
    answerer = SetAnswerer(
        retriever=searched.for_run(run) if isinstance(searched, Remote) else searched,
        scorer=models["scorer"],
        locator=models.get("locator"),
        threshold=threshold,
        depth=depth,
        max_pairs=max_pairs,
        explained=shown,
    )
    ending.come(asked, answerer, limit=limit, shown=shown)


def _no_corpus() -> str:
    return (
        'name the passages to search: --corpus FILE, with {"text": "…", "title": "…"} a line; or only see how the question is '
        f"read, with --parse-only. There are passages to try it with in {corpus_path()}"
    )
