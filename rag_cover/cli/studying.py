"""``rag-cover study``: one question set under several settings of a pipeline, by what retrieval was worth and its length."""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.belief import UtilityMeasure
from rag_cover.cli.console import print_json, say, screen
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.json_output import write_page
from rag_cover.cli.options import (
    MEASURING,
    OUTPUT,
    AsJson,
    Columns,
    DeadlineSeconds,
    Entailer,
    Format,
    Kind,
    NoCache,
    OnBadLine,
    Quiet,
    Receiver,
    Redact,
    RedactKey,
    References,
    Report,
    Samples,
    Weights,
    Workers,
    columns_of,
    redaction_of,
)
from rag_cover.cli.run import Run, kept_or_evaluated, store_for
from rag_cover.registry import Models
from rag_cover.reports import study_table, write_study
from rag_cover.studies import study_components

__all__ = ["study_traces"]


def study_traces(  # noqa: PLR0913  # a command has as many options as it has
    traces: Annotated[
        list[Path],
        typer.Argument(help="Trace files, or stores of 'rag-cover utility'.", metavar="TRACES", show_default=False),
    ],
    *,
    by: Annotated[
        str,
        typer.Option(
            help="The components that were varied, with commas between: names in each trace's metadata, or in its pipeline's "
            "name as k=5.",
            metavar="NAMES",
            rich_help_panel=MEASURING,
        ),
    ] = "pipeline",
    baseline: Annotated[
        str | None,
        typer.Option(
            help="The setting that others are compared with, such as k=5,reranker=tiny; by default the first.",
            metavar="SETTING",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            help="By how much more than this a question must be served worse than by the baseline to count as hurt.",
            min=0.0,
            max=2.0,
            rich_help_panel=MEASURING,
        ),
    ] = 0.05,
    format_: Format = None,
    column: Columns = None,
    on_bad_line: OnBadLine = "raise",
    receiver: Receiver = None,
    entailer: Entailer = "embedded",
    references: References = "gold",
    samples: Samples = 10,
    kind: Kind = "soft",
    preset: Weights = None,
    workers: Workers = None,
    no_cache: NoCache = False,
    deadline: DeadlineSeconds = None,
    show: Annotated[
        int,
        typer.Option(help="Questions listed that a setting hurts, worst first.", min=0, metavar="N", rich_help_panel=OUTPUT),
    ] = 10,
    redact: Redact = False,
    redact_key: RedactKey = None,
    report: Report = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Study the components of a pipeline: what each setting is worth on the same questions, and how long its prompts are.

    Trace files are measured first, and kept in stores: the next time, only what is new in them.

    [bold]Examples[/bold]

      rag-cover study traces.jsonl --by k,reranker --receiver embedded

      rag-cover study small-utility.sqlite large-utility.sqlite --by generator --report study.html
    """
    measure = UtilityMeasure(n=samples, kind=kind, preset=preset, references=references)
    models = Models(entailer=entailer, receiver=receiver)
    components = [name.strip() for name in by.split(",") if name.strip()]
    names = [part for name in components for part in (name, *name.split("."))]
    redaction = redaction_of(redact, redact_key, names=names)
    evaluations = [
        kept_or_evaluated(
            Run(
                TraceFile(path, format_, columns_of(column), on_bad_line),
                store_for(path, "utility"),
                models,
                [measure],
                resume=True,
                workers=workers,
                quiet=quiet or as_json,
                cache=not no_cache,
                deadline_s=deadline,
                redaction=redaction,
            )
        )
        for path in _apart(traces)
    ]
    results = list(chain.from_iterable(evaluation.results for evaluation in evaluations))
    study = study_components(results, components or ["pipeline"], baseline=baseline, margin=margin)
    if report:
        write_page(report, partial(write_study, report, study))
    if as_json:
        print_json(study.to_dict() | {"report": str(report) if report else None})
        return
    screen(quiet=quiet).print(study_table(study, limit=show))
    if report:
        say(f"Report: {report}", quiet=quiet)


def _apart(paths: list[Path]) -> list[Path]:
    """Refuse files that would be kept in one store."""
    stores = [store_for(path, "utility") for path in paths]
    for path, store in zip(paths, stores, strict=True):
        if stores.count(store) > 1:
            message = f"{path} and another file would be kept in {store}; rename one, or give the stores of 'rag-cover utility'"
            raise typer.BadParameter(message, param_hint="TRACES")
    return paths
