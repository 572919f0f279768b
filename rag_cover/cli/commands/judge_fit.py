"""``rag-cover judge fit``: a judge fitted to labels of the user's own, kept under a name where it is clearly better."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.commands.judge_check import judge_app
from rag_cover.cli.console import print_json, say, screen, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.option_groups import ScreenOptions
from rag_cover.cli.options import OUTPUT, Columns, Force, Judge, LabelTable, columns_of
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.evaluation import Evaluation
from rag_cover.judge_fit import fit_judge
from rag_cover.judge_fit.run import open_fittable
from rag_cover.reports.judge_fit import fit_panels

__all__ = ["JudgeFitOptions", "fit_labels", "judge_app"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFitOptions:
    """The options of ``rag-cover judge fit``."""

    results: Annotated[
        Path | None,
        typer.Argument(
            help="A store of results. Then only labels of its answers and passages count. The store tells which text replies"
            " to which question.",
            metavar="RESULTS",
            show_default="all labels count",
        ),
    ] = None
    labels: LabelTable
    column: Columns = None
    judge: Judge = "embedded"
    name: Annotated[
        str | None,
        typer.Option(
            help="Save the judge in your configuration folder. Use it as --judge embedded:NAME.",
            metavar="NAME",
            rich_help_panel=OUTPUT,
            show_default="not kept",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Save the judge in this folder. Use it as --judge embedded:FOLDER.",
            metavar="FOLDER",
            rich_help_panel=OUTPUT,
            show_default="not kept",
        ),
    ] = None
    force: Force = False
    screen: ScreenOptions

    @property
    def place(self) -> str | Path | None:
        """Return the name or the folder that the judge is kept under.

        Raises:
            BadParameter: both are given.
        """
        if self.name is not None and self.out is not None:
            message = "a judge is kept under a name or in a folder; leave --name or --out out"
            raise typer.BadParameter(message, param_hint="--out")
        return self.name if self.out is None else self.out


@judge_app.command("fit")
@expand_options
def fit_labels(options: JudgeFitOptions) -> None:
    """Fit a judge to your own labels: its weights, thresholds and calibration, separately for passages and replies.

    The network is not trained. Every figure is cross-validated over questions. If a fit is not clearly better than the judge
    without it, the command refuses the fit, gives the reason and exits with 1. The columns are those of [bold]rag-cover
    judge check[/bold].

    [bold]Examples[/bold]

      rag-cover judge fit --labels labels.csv

      rag-cover judge fit --labels labels.csv results.sqlite --name mine

      rag-cover evaluate traces.jsonl --judge embedded:mine
    """
    place = options.place
    if place is not None:
        kept = open_fittable(options.judge).fitted_folder(place) / "judge.json"
        refuse_existing(kept, force=options.force, inputs=[options.labels, options.results])
    fit = fit_judge(
        options.labels,
        judge=options.judge,
        results=None if options.results is None else Evaluation.open(options.results).results,
        columns=columns_of(options.column),
        save_as=place,
        overwrite=options.force,
    )
    if options.screen.as_json:
        print_json(json.loads(json.dumps(fit.to_dict())))
    else:
        screen(quiet=options.screen.quiet).print(fit_panels(fit))
        if fit.saved is not None:
            say(f"Judge: {fit.saved.folder}; use it with --judge {fit.saved.name}", quiet=options.screen.quiet)
        elif fit.fitted:
            say("The judge was not kept; --name NAME keeps it.", quiet=options.screen.quiet)
    if fit.refused_because:
        line = f"Fit refused: {fit.refused_because}."
        warn(line, style="red")
        raise typer.Exit(ExitCode.GATE_FAILED)
