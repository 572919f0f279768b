"""``rag-cover nuggets assign``, ``score`` and ``export``: assignments of nuggets, in files as nuggetizer's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from rag_cover.backends import Failure
from rag_cover.cli.commands.nuggets_command import AT_ONCE, NuggetModel, OutFile, PromptsFile, end_command, nuggets_app
from rag_cover.cli.console import print_json, say, screen, warn
from rag_cover.cli.inputs import in_blocks, open_traces
from rag_cover.cli.option_groups import FileOptions, ScreenOptions
from rag_cover.cli.options import Force, Limit, NoCache, NuggetsFile, Prices, Quiet, Strict, prices_of
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.cli.run import warn_skipped_traces
from rag_cover.coverage.nugget_assignments import assignments_of, assignments_to, scores_by_run
from rag_cover.coverage.nugget_scores import NuggetScores
from rag_cover.decomposition.given_nuggets import GivenNuggets, add_nuggets
from rag_cover.evaluation import Evaluation
from rag_cover.llm.cache import cache_for
from rag_cover.llm.nugget_assigner import NuggetAssigner
from rag_cover.llm.nugget_prompts import NuggetPrompts
from rag_cover.llm.session import LLMSession
from rag_cover.nuggets import Nugget
from rag_cover.registry import open_generator
from rag_cover.reports.text import format_count
from rag_cover.statements import StatementItem, StatementVerdict
from rag_cover.stores.nugget_files import FAILED, AssignedNugget, AssignedNuggets, read_assignments, write_assignments
from rag_cover.traces import Trace

__all__ = [
    "AssignOptions",
    "ExportOptions",
    "ScoreOptions",
    "assign_nuggets",
    "export_assignments",
    "nuggets_app",
    "score_runs",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignOptions:
    """The options of ``rag-cover nuggets assign``."""

    traces: Annotated[Path, typer.Argument(help="A trace file with answers.", metavar="IN", show_default=False)]
    out: OutFile
    file: FileOptions
    limit: Limit = None
    nuggets: NuggetsFile = None
    generator: NuggetModel
    prompts: PromptsFile = None
    no_cache: NoCache = False
    prices: Prices = None
    strict: Strict = False
    force: Force = False
    quiet: Quiet = False


@nuggets_app.command("assign")
@expand_options
def assign_nuggets(options: AssignOptions) -> None:
    """Label each nugget as supported, partly supported or not supported by each answer, with a language model (AutoAssign).

    OUT is a file of assignments in nuggetizer's format. [bold]rag-cover evaluate --nuggets[/bold] with a language model as
    judge labels passages, too. The embedded judge does this without cost, but without partial support.

    [bold]Example[/bold]

      rag-cover nuggets assign traces.jsonl --nuggets nuggets.jsonl --out assigned.jsonl --generator openai:gpt-4.1
    """
    file, prices = options.file.trace_file(options.traces, options.limit), prices_of(options.prices)
    refuse_existing(options.out, force=options.force, inputs=[options.traces, options.nuggets])
    given = None if options.nuggets is None else GivenNuggets.read(options.nuggets)
    traces = list(open_traces(file))
    warn_skipped_traces(file)
    run = LLMSession(cache_for(not options.no_cache, options.out))
    assigner = NuggetAssigner(open_generator(options.generator), prompts=NuggetPrompts.read(options.prompts)).for_run(run)
    found = add_nuggets(traces, given)
    able = [
        trace for trace in found if not isinstance(trace, Failure) and trace.nuggets is not None and trace.answer is not None
    ]
    failures: list[Failure] = []
    count = write_assignments(options.out, _assign_block_by_block(able, assigner, failures))
    left = len(traces) - len(able)
    say(
        f"{format_count(count, 'answer')} assigned, written to {options.out}. Next: rag-cover nuggets score {options.out}",
        quiet=options.quiet,
    )
    if left:
        warn(f"{format_count(left, 'trace')} left out: without an answer, or without nuggets")
    end_command(failures, "could not be assigned", run, prices, strict=options.strict, quiet=options.quiet)


def _assign_block_by_block(
    traces: Sequence[Trace], assigner: NuggetAssigner, failures: list[Failure]
) -> Iterator[AssignedNuggets]:
    for block in in_blocks(traces, AT_ONCE):
        items = [
            [StatementItem(nugget.text, trace.answer or "", trace.question.text) for nugget in trace.nuggets or ()]
            for trace in block
        ]
        verdicts = iter(assigner.assign([item for some in items for item in some]))
        for trace in block:
            labelled = [(nugget, next(verdicts)) for nugget in trace.nuggets or ()]
            failures += [verdict for _, verdict in labelled if isinstance(verdict, Failure)]
            yield assignments_to(trace, [_label(nugget, verdict) for nugget, verdict in labelled])


def _label(nugget: Nugget, verdict: StatementVerdict | Failure) -> AssignedNugget:
    label = FAILED if isinstance(verdict, Failure) else str(verdict.assignment)
    return AssignedNugget.model_validate({**nugget.model_dump(mode="json", exclude_defaults=True), "assignment": label})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """The options of ``rag-cover nuggets score``."""

    assignments: Annotated[
        Path,
        typer.Argument(help="A file of assignments, of rag-cover, nuggetizer or TREC.", metavar="FILE", show_default=False),
    ]
    screen: ScreenOptions


@nuggets_app.command("score")
@expand_options
def score_runs(options: ScoreOptions) -> None:
    """Compute the scores of TREC's RAG track for each run: all, vital and weighted nuggets, with and without partial support.

    [bold]Example[/bold]

      rag-cover nuggets score assigned.jsonl
    """
    runs = scores_by_run(read_assignments(options.assignments))
    if options.screen.as_json:
        print_json({"runs": {run: {"answers": count, **asdict(scores)} for run, (scores, count) in runs.items()}})
        return
    screen(quiet=options.screen.quiet).print(_table(runs.items()))


def _table(runs: Iterable[tuple[str, tuple[NuggetScores, int]]]) -> Table:
    table = Table(title="Nugget scores, means over answers")
    table.add_column("Run")
    for name in ("Answers", "A", "A strict", "V", "V strict", "W", "W strict"):
        table.add_column(name, justify="right")
    for run, (scores, count) in runs:
        values = ["–" if value is None else f"{value:.3f}" for value in asdict(scores).values()]
        table.add_row(run or "(no name)", f"{count:,}", *values)
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """The options of ``rag-cover nuggets export``."""

    store: Annotated[
        Path, typer.Argument(help="A store of results that were measured on nuggets.", metavar="STORE", show_default=False)
    ]
    out: OutFile
    force: Force = False
    quiet: Quiet = False


@nuggets_app.command("export")
@expand_options
def export_assignments(options: ExportOptions) -> None:
    """Write the verdicts of an evaluation on nuggets to a file of assignments in nuggetizer's format.

    [bold]Example[/bold]

      rag-cover nuggets export traces-coverage.sqlite --out assigned.jsonl
    """
    refuse_existing(options.out, force=options.force, inputs=[options.store])
    results = Evaluation.open(options.store).results
    judged = (assignments_of(result.trace, result.coverage) for result in results if result.coverage is not None)
    count = write_assignments(options.out, (each for each in judged if each is not None))
    say(f"{format_count(count, 'answer')} written to {options.out}", quiet=options.quiet)
    if not count:
        warn("No result of this store was measured on nuggets; measure some with 'rag-cover evaluate --nuggets FILE'.")
