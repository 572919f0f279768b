"""``rag-cover dashboard``: several evaluations over time, what was lost by cause, and test questions of the worst traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.console import busy, print_json, say, screen, warn
from rag_cover.cli.dashboard_output import dashboard_document
from rag_cover.cli.inputs import is_store
from rag_cover.cli.json_output import write_page
from rag_cover.cli.option_groups import ScreenOptions
from rag_cover.cli.options import INPUT, OUTPUT, Force, Labels, Prices, prices_of
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.dashboards import Dashboard, DashboardBuilder, StoreSource, TraceSelection, latest_time
from rag_cover.errors import RagCoverError, StoreError
from rag_cover.evaluation import Evaluation
from rag_cover.importers import read_labels
from rag_cover.labels import LabelledText
from rag_cover.llm.usage import Price
from rag_cover.question_keys import question_key
from rag_cover.reports import dashboard_table, write_dashboard
from rag_cover.stores import write_traces
from rag_cover.traces import Trace

__all__ = ["DashboardOptions", "draw_dashboard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DashboardOptions:
    """The options of ``rag-cover dashboard``."""

    stores: Annotated[
        list[Path], typer.Argument(help="The stores of evaluations, in any order.", metavar="RESULTS...", show_default=False)
    ]
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            help="Only traces with this tag. May be repeated: any of them.",
            metavar="TAG",
            rich_help_panel=INPUT,
            show_default="all",
        ),
    ] = None
    session: Annotated[
        list[str] | None,
        typer.Option(
            "--session",
            help="Only traces of this conversation (thread_id). May be repeated: any of them.",
            metavar="ID",
            rich_help_panel=INPUT,
            show_default="all",
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            help="Only traces with this value in their metadata. May be repeated. Several values of one key: any of "
            "them. Several keys: all of them.",
            metavar="KEY=VALUE",
            rich_help_panel=INPUT,
            show_default="all",
        ),
    ] = None
    worst: Annotated[
        int,
        typer.Option(
            "--worst", help="The number of worst questions to show for each cause.", min=1, metavar="N", rich_help_panel=OUTPUT
        ),
    ] = 10
    labels: Labels = None
    prices: Prices = None
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", help="Write the page to this file.", metavar="PAGE", rich_help_panel=OUTPUT, show_default="no page"
        ),
    ] = None
    to_dataset: Annotated[
        Path | None,
        typer.Option(
            "--to-dataset",
            help="Write the worst questions to this trace file, without answers, as test questions.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="none",
        ),
    ] = None
    force: Force = False
    screen: ScreenOptions

    def select(self) -> TraceSelection:
        """Read which traces count.

        Raises:
            BadParameter: a ``--where`` that is not KEY=VALUE.
        """
        where: dict[str, list[str]] = {}
        for option in self.where or ():
            key, equals, value = option.partition("=")
            if not key or not equals:
                message = f"{option!r} is not KEY=VALUE, such as locale=de"
                raise typer.BadParameter(message, param_hint="--where")
            where.setdefault(key, []).append(value)
        return TraceSelection(tuple(self.tag or ()), tuple(self.session or ()), where)


@expand_options
def draw_dashboard(options: DashboardOptions) -> None:
    """Show several evaluations side by side: metrics over time, losses by cause, and the worst questions.

    [bold]Examples[/bold]

      rag-cover dashboard results/*.sqlite --html dashboard.html

      rag-cover dashboard results/*.sqlite --tag beta --where locale=de --html beta.html

      rag-cover dashboard results/*.sqlite --labels labels.jsonl --to-dataset worst.jsonl
    """
    selection, quiet = options.select(), options.screen.is_silent
    inputs = [*options.stores, options.labels, options.prices]
    refuse_existing(options.html, options.to_dataset, force=options.force, inputs=inputs)
    labels = read_labels(options.labels) if options.labels else ()
    with busy("Reading the stores", quiet=quiet):
        dashboard = _read(options.stores, selection, labels, prices=prices_of(options.prices), worst=options.worst)
    if options.html:
        write_page(options.html, partial(write_dashboard, options.html, dashboard))
    written = _write_dataset(options.to_dataset, dashboard) if options.to_dataset else None
    if options.screen.as_json:
        outputs = {"page": options.html, "dataset": options.to_dataset if written else None}
        print_json(dashboard_document(dashboard) | {name: str(path) if path else None for name, path in outputs.items()})
        return
    screen(quiet=quiet).print(dashboard_table(dashboard))
    if written:
        say(f"Test questions: {options.to_dataset} ({written:,})", quiet=quiet)
    if options.html:
        say(f"Page: {options.html}", quiet=quiet)


def _read(
    paths: Sequence[Path],
    selection: TraceSelection,
    labels: Sequence[LabelledText],
    *,
    prices: Mapping[str, Price],
    worst: int,
) -> Dashboard:
    """Read the stores, the latest first, one at a time; one that cannot be read is noted.

    Raises:
        StoreError: none can be read.
    """
    builder = DashboardBuilder(selection, worst=worst, prices=prices)
    opened: list[tuple[datetime, bool, Path, Evaluation]] = []
    for path in {each.resolve(): each for each in paths}.values():
        try:
            evaluation = _open(path)
            opened.append((*_time_of(path, evaluation), path, evaluation))
        except (RagCoverError, OSError) as wrong:
            builder.refuse(str(path), str(wrong))
    for time, is_recorded, path, found in sorted(opened, key=lambda each: (each[0], str(each[2])), reverse=True):
        try:
            evaluation = found.with_labels(labels)
            builder.add(
                StoreSource(
                    name=str(path),
                    time=time,
                    time_source="traces" if is_recorded else "file",
                    results=evaluation.counted_results,
                    judge=evaluation.judge,
                    measures=evaluation.measures,
                    seed=evaluation.seed,
                    known_of_judge=evaluation.known_of_judge,
                )
            )
        except RagCoverError as wrong:
            builder.refuse(str(path), str(wrong))
    dashboard = builder.build()
    if not dashboard.stores:
        first = dashboard.refused[0]
        message = f"None of the {len(dashboard.refused)} stores can be read; the first, {first.name}: {first.reason}"
        raise StoreError(message)
    return dashboard


def _time_of(path: Path, evaluation: Evaluation) -> tuple[datetime, bool]:
    """Return when a store's answers were given, and whether its traces say so: its first or its last, whichever is later."""
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    results = evaluation.results
    ends = [latest_time(results[place].trace) for place in ((0, -1) if len(results) else ())]
    recorded = max((each for each in ends if each is not None), default=None)
    return (written, False) if recorded is None else (recorded, True)


def _open(path: Path) -> Evaluation:
    """Open an evaluation.

    Raises:
        RagCoverError: there is none, or it cannot be read.
    """
    if not path.is_dir() and not is_store(path):  # an empty file, which opening would make a store
        message = f"{path} is no store of an evaluation; 'rag-cover evaluate … --store FILE' makes one"
        raise StoreError(message)
    try:
        return Evaluation.open(path)
    except (KeyError, TypeError, ValueError, AttributeError) as wrong:
        if isinstance(wrong, RagCoverError):
            raise
        message = f"What {path} says of its evaluation cannot be read ({type(wrong).__name__}); measure again into a new store"
        raise StoreError(message) from wrong


def _write_dataset(path: Path, dashboard: Dashboard) -> int:
    """Write the worst questions as test questions, each once; nothing where there is none. Return how many were written."""
    made = [each.test_question for each in dashboard.worst]
    questions: dict[str, Trace] = {}
    for each in made:
        if each is not None:
            questions.setdefault(question_key(each.question), each)
    if redacted := sum(each is None for each in made):
        warn(
            f"Of {redacted:,} of the worst {len(made):,} questions the texts are redacted: no test questions are made of them."
        )
    if not questions:
        warn(f"There is no test question to write: {path} was not written.")
        return 0
    write_traces(path, questions.values())
    return len(questions)
