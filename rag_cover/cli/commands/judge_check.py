"""``rag-cover judge check``: how far the judge can be trusted on texts that people labelled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.console import print_json, say, screen, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.option_groups import ScreenOptions
from rag_cover.cli.options import INPUT, OUTPUT, Columns, Force, Judge, LabelTable, columns_of
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.judge_check.run import check_judge
from rag_cover.reports import check_panels
from rag_cover.stores.files import replacing

__all__ = ["JudgeCheckOptions", "check_labels", "judge_app"]

judge_app = typer.Typer(no_args_is_help=True, help="Check how far a judge can be trusted, and fit a judge to labels.")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCheckOptions:
    """The options of ``rag-cover judge check``."""

    labels: LabelTable
    unlabelled: Annotated[
        Path | None,
        typer.Option(
            help="More rows without labels. The labelled rows must be a random sample of all rows.",
            metavar="FILE",
            rich_help_panel=INPUT,
            show_default="none",
        ),
    ] = None
    column: Columns = None
    judge: Judge = "embedded"
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write all figures to this JSON file.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="not written",
        ),
    ] = None
    force: Force = False
    screen: ScreenOptions


@judge_app.command("check")
@expand_options
def check_labels(options: JudgeCheckOptions) -> None:
    """Compare a judge with your own labels: agreement, threshold, calibration, and the covered share with its interval.

    The table needs three columns: question or sub_question; text, passage, answer or response; label, covered, answered or
    correct. Optional columns: references (separated by "|"), role or group, question_id or trace_id, annotator.

    Exits with 1 if the judge fails too many plain cases. Do not trust the verdicts of such a judge.

    [bold]Examples[/bold]

      rag-cover judge check --labels labels.csv

      rag-cover judge check --labels labels.csv --unlabelled more.csv --out check.json
    """
    refuse_existing(options.out, force=options.force, inputs=[options.labels, options.unlabelled])
    columns, out = columns_of(options.column), options.out
    check = check_judge(options.labels, judge=options.judge, unlabelled=options.unlabelled or (), columns=columns)
    document = check.to_dict()
    if out:
        with replacing(out) as file:
            file.write((json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode())
    if options.screen.as_json:
        print_json(document)
    else:
        screen(quiet=options.screen.quiet).print(check_panels(check))
        if out:
            say(f"Figures: {out}", quiet=options.screen.quiet)
    if check.failed_because:
        line = f"Check failed: {check.failed_because}."
        warn(line, style="red")
        raise typer.Exit(ExitCode.GATE_FAILED)
