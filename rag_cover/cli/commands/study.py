"""``rag-cover study``: one question set under several settings of a pipeline, by what retrieval was worth and its length."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.belief import UtilityMeasure
from rag_cover.cli.console import print_json, say, screen
from rag_cover.cli.json_output import write_page
from rag_cover.cli.option_groups import BeliefOptions, FileOptions, RedactionOptions, RemoteOptions, ScreenOptions
from rag_cover.cli.options import MEASURING, OUTPUT, Entailer, Force, Receiver, Report, Workers
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.cli.run import EvaluationRun, open_or_evaluate, store_for
from rag_cover.evaluation import Evaluation
from rag_cover.registry import Models
from rag_cover.reports import study_table, write_study
from rag_cover.studies import study_components

__all__ = ["StudyOptions", "study_traces"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """The options of ``rag-cover study``."""

    traces: Annotated[
        list[Path],
        typer.Argument(help="Trace files, or stores of 'rag-cover utility'.", metavar="TRACES", show_default=False),
    ]
    by: Annotated[
        str,
        typer.Option(
            help="The components that vary, separated by commas: keys of the trace's metadata, or parts of the "
            "pipeline's name such as k=5.",
            metavar="NAMES",
            rich_help_panel=MEASURING,
        ),
    ] = "pipeline"
    baseline: Annotated[
        str | None,
        typer.Option(
            help="The setting to compare the others with, such as k=5,reranker=tiny.",
            metavar="SETTING",
            rich_help_panel=MEASURING,
            show_default="the first",
        ),
    ] = None
    margin: Annotated[
        float,
        typer.Option(
            help="A question counts as hurt if its utility is lower than with the baseline by more than this.",
            min=0.0,
            max=2.0,
            metavar="NUMBER",
            rich_help_panel=MEASURING,
        ),
    ] = 0.05
    file: FileOptions
    receiver: Receiver = None
    entailer: Entailer = "embedded"
    belief: BeliefOptions
    workers: Workers = None
    remote: RemoteOptions
    show: Annotated[
        int,
        typer.Option(help="The number of hurt questions to list, worst first.", min=0, metavar="N", rich_help_panel=OUTPUT),
    ] = 10
    redaction: RedactionOptions
    report: Report = None
    force: Force = False
    screen: ScreenOptions

    @property
    def components(self) -> list[str]:
        """Name the components that were varied."""
        return [name.strip() for name in self.by.split(",") if name.strip()]

    def evaluations(self) -> list[Evaluation]:
        """Open the stores, and measure the files of traces."""
        belief = self.belief
        run = partial(
            EvaluationRun,
            models=Models(entailer=self.entailer, receiver=self.receiver),
            measures=[UtilityMeasure(n=belief.samples, kind=belief.kind, preset=belief.preset, references=belief.references)],
            resume=True,
            workers=self.workers,
            quiet=self.screen.is_silent,
            cache=not self.remote.no_cache,
            deadline_s=self.remote.deadline,
            redaction=self.redaction.read(names=[part for name in self.components for part in (name, *name.split("."))]),
            command="rag-cover study",
            is_store_named=False,
        )
        paths = _apart(self.traces)
        return [open_or_evaluate(run(self.file.trace_file(path), store_for(path, "utility"))) for path in paths]


@expand_options
def study_traces(options: StudyOptions) -> None:
    """Study the components of a pipeline: the utility of each setting on the same questions, and the length of its prompts.

    Trace files are measured first, and their results are saved in stores. The next time, only new traces are measured.

    [bold]Examples[/bold]

      rag-cover study traces.jsonl --by k,reranker --receiver embedded

      rag-cover study small-utility.sqlite large-utility.sqlite --by generator --report study.html
    """
    refuse_existing(options.report, force=options.force, inputs=options.traces)
    evaluations, report = options.evaluations(), options.report
    results = list(chain.from_iterable(evaluation.results for evaluation in evaluations))
    components = options.components or ["pipeline"]
    study = study_components(results, components, baseline=options.baseline, margin=options.margin)
    if report:
        write_page(report, partial(write_study, report, study))
    if options.screen.as_json:
        print_json(study.to_dict() | {"report": str(report) if report else None})
        return
    screen(quiet=options.screen.quiet).print(study_table(study, limit=options.show))
    if report:
        say(f"Report: {report}", quiet=options.screen.quiet)


def _apart(paths: list[Path]) -> list[Path]:
    """Refuse files that would be kept in one store."""
    stores = [store_for(path, "utility") for path in paths]
    for path, store in zip(paths, stores, strict=True):
        if stores.count(store) > 1:
            message = f"{path} and another file would be kept in {store}; rename one, or give the stores of 'rag-cover utility'"
            raise typer.BadParameter(message, param_hint="TRACES")
    return paths
