"""``rag-cover compare``: two pipelines on the same questions; with ``--pairwise`` two or more, answer by answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag_cover.cli.console import print_json, say, screen
from rag_cover.cli.inputs import TraceFile, name_of
from rag_cover.cli.json_output import comparison_document, write_page
from rag_cover.cli.options import (
    INPUT,
    MEASURING,
    AsJson,
    Columns,
    Format,
    Judge,
    NoCache,
    OnBadLine,
    Prices,
    Quiet,
    Redact,
    RedactKey,
    Report,
    Workers,
    columns_of,
    redaction_of,
)
from rag_cover.cli.pairwise import Contest
from rag_cover.cli.run import Run, kept_or_evaluated, store_for
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.comparison import compare
from rag_cover.registry import Models
from rag_cover.reports import comparison_table, write_comparison

__all__ = ["compare_pipelines"]

_Sides = Annotated[
    list[Path],
    typer.Argument(help="Trace files, or the stores of evaluations: two, with --pairwise two or more.", metavar="FILES"),
]


def compare_pipelines(  # noqa: PLR0913  # a command has as many options as it has
    files: _Sides,
    *,
    format_: Format = None,
    column: Columns = None,
    on_bad_line: OnBadLine = "raise",
    sub_questions: Annotated[
        Literal["same", "any"],
        typer.Option(help="Refuse questions whose sub-questions differ, or compare them all the same.", rich_help_panel=INPUT),
    ] = "same",
    judge: Judge = "embedded",
    pairwise: Annotated[
        bool,
        typer.Option(
            "--pairwise",
            help="Compare answer by answer: how often each pipeline's is the better one.",
            rich_help_panel=MEASURING,
            show_default=False,
        ),
    ] = False,
    generator: Annotated[
        str | None,
        typer.Option(
            help="With --pairwise: the model that says which of two answers is better, asked in both orders, such as "
            "openai:gpt-4.1-mini; by default the better coverage rating wins.",
            metavar="NAME",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    workers: Workers = None,
    no_cache: NoCache = False,
    prices: Prices = None,
    redact: Redact = False,
    redact_key: RedactKey = None,
    report: Report = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare two pipelines on the questions they share: B against A.

    A trace file is evaluated first, and kept in a store: the next time, only what is new in it. With [bold]--pairwise[/bold]
    two or more pipelines are compared answer by answer, in a matrix of win rates.

    [bold]Examples[/bold]

      rag-cover compare before.jsonl after.jsonl

      rag-cover compare before-coverage.sqlite after-coverage.sqlite --report comparison.html

      rag-cover compare plain.jsonl broad.jsonl deep.jsonl --pairwise

      rag-cover compare before.jsonl after.jsonl --pairwise --generator openai:gpt-4.1-mini
    """
    _refuse_number(files, pairwise=pairwise)
    _refuse_unused({"--generator": generator, "--prices": prices}, pairwise=pairwise)
    redaction = redaction_of(redact, redact_key)
    if redaction and generator is not None:
        message = "a model compares the answers' texts, which --redact takes away; leave one of them out"
        raise typer.BadParameter(message, param_hint="--generator")
    contest = Contest.read(generator, prices, cache=not no_cache) if pairwise else None
    sources = [TraceFile(path, format_, columns_of(column), on_bad_line) for path in files]
    models, silent = Models(judge=judge), quiet or as_json
    run = partial(Run, models=models, resume=True, workers=workers, quiet=silent, cache=not no_cache, redaction=redaction)
    sides = [kept_or_evaluated(run(source, store)) for source, store in zip(sources, _stores(files), strict=True)]
    if contest:
        names = [name_of(path) for path in files]
        contest.hold(sides, names, sub_questions, report=report, as_json=as_json, quiet=quiet)
    else:
        _compare(sides, sub_questions, report, as_json=as_json, quiet=quiet)


def _refuse_number(files: Sequence[Path], *, pairwise: bool) -> None:
    if len(files) < 2:  # noqa: PLR2004 - a pair
        message = "a comparison takes two files; give another one"
        raise typer.BadParameter(message, param_hint="FILES")
    if len(files) > 2 and not pairwise:  # noqa: PLR2004 - a pair
        message = f"the comparison by metrics takes two files, not {len(files)}; with --pairwise it takes any number"
        raise typer.BadParameter(message, param_hint="FILES")


def _refuse_unused(options: Mapping[str, object], *, pairwise: bool) -> None:
    for option, value in options.items():
        if value is not None and not pairwise:
            message = "this is for comparing answer by answer; add --pairwise, or leave it out"
            raise typer.BadParameter(message, param_hint=option)


def _compare(
    sides: Sequence[Evaluation], sub_questions: Literal["same", "any"], report: Path | None, *, as_json: bool, quiet: bool
) -> None:
    comparison = compare(sides[0], sides[1], sub_questions=sub_questions)
    if report:
        write_page(report, partial(write_comparison, report, comparison))
    if as_json:
        print_json(comparison_document(comparison) | {"report": str(report) if report else None})
        return
    screen(quiet=quiet).print(comparison_table(comparison))
    if report:
        say(f"Report: {report}", quiet=quiet)


def _stores(files: Sequence[Path]) -> list[Path]:
    """Name the stores; files of one name in several folders get the folders' names too."""
    folders = defaultdict(set)
    for path in files:
        folders[store_for(path)].add(path.resolve())
    stores = {path: _in_folder(path) if len(folders[store_for(path)]) > 1 else store_for(path) for path in files}
    kept: dict[Path, Path] = {}
    for path, store in stores.items():
        if (other := kept.setdefault(store, path)).resolve() != path.resolve():
            message = f"{other} and {path} would be kept under one name; evaluate them with --store and compare the stores"
            raise typer.BadParameter(message)
    return [stores[path] for path in files]


def _in_folder(path: Path) -> Path:
    return Path(f"{path.resolve().parent.name}-{store_for(path)}")
