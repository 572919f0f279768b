"""``rag-cover compare``: two pipelines on the same questions; with ``--pairwise`` two or more, answer by answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag_cover.cli.commands.pairwise import Contest
from rag_cover.cli.console import print_json, say, screen
from rag_cover.cli.gate_causes import find_cause
from rag_cover.cli.inputs import output_name
from rag_cover.cli.json_output import comparison_document, write_page
from rag_cover.cli.option_groups import FileOptions, RedactionOptions, ScreenOptions
from rag_cover.cli.options import INPUT, MEASURING, FailIfWorse, Force, Judge, Labels, NoCache, Prices, Report, Workers
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.cli.run import EvaluationRun, open_or_evaluate, store_for
from rag_cover.cli.worse_gates import WorseGate, check_worse_gates, end_with_gates, gates_document, read_worse_gates
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.comparison import compare
from rag_cover.importers import read_labels
from rag_cover.registry import Models
from rag_cover.reports import comparison_table, write_comparison

__all__ = ["CompareOptions", "compare_pipelines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """The options of ``rag-cover compare``."""

    files: Annotated[
        list[Path],
        typer.Argument(help="Trace files, or the stores of evaluations: two, with --pairwise two or more.", metavar="FILES"),
    ]
    file: FileOptions
    sub_questions: Annotated[
        Literal["same", "any"],
        typer.Option(
            help="What to do if a question has different sub-questions in A and B: refuse to compare (same), or compare (any).",
            rich_help_panel=INPUT,
        ),
    ] = "same"
    judge: Judge = "embedded"
    labels: Labels = None
    pairwise: Annotated[
        bool,
        typer.Option(
            "--pairwise",
            help="Compare answer by answer: how often does each pipeline have the better answer?",
            rich_help_panel=MEASURING,
            show_default=False,
        ),
    ] = False
    generator: Annotated[
        str | None,
        typer.Option(
            help="With --pairwise: the model that chooses the better of two answers, asked in both orders, such as "
            "openai:gpt-4.1-mini.",
            metavar="NAME",
            rich_help_panel=MEASURING,
            show_default="the better coverage rating wins",
        ),
    ] = None
    workers: Workers = None
    no_cache: NoCache = False
    prices: Prices = None
    redaction: RedactionOptions
    report: Report = None
    force: Force = False
    fail_if_worse: FailIfWorse = None
    screen: ScreenOptions

    def check(self) -> None:
        """Refuse a number of files that cannot be compared, and options that do not go together.

        Raises:
            BadParameter: says which, and what to do.
        """
        _refuse_number(self.files, pairwise=self.pairwise)
        if self.fail_if_worse and self.pairwise:
            message = "answers compared one by one have no metrics; leave one of --pairwise and --fail-if-worse out"
            raise typer.BadParameter(message, param_hint="--fail-if-worse")
        _refuse_unused({"--generator": self.generator, "--prices": self.prices}, pairwise=self.pairwise)
        if (self.redaction.redact or self.redaction.redact_key) and self.generator is not None:
            message = "a model compares the answers' texts, which --redact takes away; leave one of them out"
            raise typer.BadParameter(message, param_hint="--generator")

    def sides(self) -> list[Evaluation]:
        """Open the evaluations that are kept, and evaluate the files of traces."""
        run = partial(
            EvaluationRun,
            models=Models(judge=self.judge),
            resume=True,
            workers=self.workers,
            quiet=self.screen.is_silent,
            cache=not self.no_cache,
            redaction=self.redaction.read(),
            command="rag-cover compare",
            is_store_named=False,
        )
        labels = read_labels(self.labels) if self.labels else ()
        sources = [self.file.trace_file(path) for path in self.files]
        stores = _stores(self.files)
        return [open_or_evaluate(run(source, store)).with_labels(labels) for source, store in zip(sources, stores, strict=True)]


@expand_options
def compare_pipelines(options: CompareOptions) -> None:
    """Compare two pipelines on the questions they share: B against A.

    A trace file is evaluated first, and its results are saved in a store. The next time, only new traces are evaluated. With
    [bold]--pairwise[/bold], two or more pipelines are compared answer by answer, in a matrix of win rates.

    [bold]Examples[/bold]

      rag-cover compare before.jsonl after.jsonl

      rag-cover compare before-coverage.sqlite after-coverage.sqlite --report comparison.html

      rag-cover compare main.sqlite branch.sqlite --fail-if-worse core_coverage

      rag-cover compare plain.jsonl broad.jsonl deep.jsonl --pairwise

      rag-cover compare before.jsonl after.jsonl --pairwise --generator openai:gpt-4.1-mini
    """
    options.check()
    gates = read_worse_gates(options.fail_if_worse)
    refuse_existing(options.report, force=options.force, inputs=options.files)
    screen = options.screen
    contest = Contest.read(options.generator, options.prices, cache=not options.no_cache) if options.pairwise else None
    sides = options.sides()
    if contest:
        names = [output_name(path) for path in options.files]
        contest.hold(sides, names, options.sub_questions, report=options.report, as_json=screen.as_json, quiet=screen.quiet)
    else:
        _compare(sides, options.sub_questions, options.report, gates, as_json=screen.as_json, quiet=screen.quiet)


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
    sides: Sequence[Evaluation],
    sub_questions: Literal["same", "any"],
    report: Path | None,
    gates: Sequence[WorseGate],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    comparison = compare(sides[0], sides[1], sub_questions=sub_questions)
    results = check_worse_gates(gates, comparison)
    is_lost = any(each.is_lost for each in results)
    cause = find_cause(comparison, *(side.summary().answers for side in sides[:2])) if is_lost else None
    if report:
        write_page(report, partial(write_comparison, report, comparison))
    if as_json:
        gated = {"gates": gates_document(results)} if results else {}
        print_json(comparison_document(comparison) | {"report": str(report) if report else None} | gated)
        end_with_gates(results, cause=cause, quiet=True)
        return
    screen(quiet=quiet).print(comparison_table(comparison))
    if report:
        say(f"Report: {report}", quiet=quiet)
    end_with_gates(results, cause=cause, quiet=quiet)


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
