"""``rag-cover skills``: what pipelines can do, learnt from their evaluated traces, and shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_cover.backends import Embedder, Scorer
from rag_cover.cli.console import print_json, say, screen
from rag_cover.cli.inputs import output_name
from rag_cover.cli.json_output import write_page
from rag_cover.cli.option_groups import ScreenOptions
from rag_cover.cli.options import INPUT, MEASURING, OUTPUT, Force, Judge
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.errors import InputError, NotOfferedError
from rag_cover.evaluation import Evaluation
from rag_cover.importers import read_outcomes
from rag_cover.measures import TraceResult
from rag_cover.registry import Models
from rag_cover.reports import skills_table, write_skills
from rag_cover.routing import (
    Caimira,
    Outcomes,
    SkillDescription,
    SkillRecord,
    complexities_without_references,
    describe_skills,
    gather_outcomes,
    learn_skills,
)
from rag_cover.routing.skill_report import record_path
from rag_cover.stores.files import open_input

__all__ = [
    "CostTable",
    "EmbedderName",
    "SkillFitOptions",
    "SkillReportOptions",
    "fit_skills",
    "open_embedder_or_judge",
    "read_costs",
    "report_skills",
    "skills_app",
]

skills_app = typer.Typer(
    no_args_is_help=True, help="Learn which pipeline answers which questions correctly, and show the result."
)

EmbedderName = Annotated[
    str | None,
    typer.Option(
        help="The model that embeds questions. Use the same model for fitting and routing.",
        metavar="NAME",
        rich_help_panel=MEASURING,
        show_default="the judge",
    ),
]
CostTable = Annotated[
    Path | None,
    typer.Option(
        "--costs",
        help='The cost of a question for each pipeline, in any unit, as JSON: {"small": 1, "large": 6.5}.',
        metavar="FILE",
        rich_help_panel=INPUT,
        show_default="the costs in the table of the skills",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFitOptions:
    """The options of ``rag-cover skills fit``."""

    store: Annotated[
        list[Path] | None,
        typer.Option(
            help="The store of an evaluation. May be repeated. A pipeline without a name is named after its store.",
            metavar="STORE",
            rich_help_panel=INPUT,
            show_default="none",
        ),
    ] = None
    table: Annotated[
        Path | None,
        typer.Option(
            help="A table of outcomes (CSV, TSV, JSONL, Parquet) instead of stores. Columns: question, model, "
            "outcome, and optionally cost and subject. Or one column for each model, with costs in "
            "MODEL|total_cost.",
            metavar="FILE",
            rich_help_panel=INPUT,
            show_default="none",
        ),
    ] = None
    success: Annotated[
        str | None,
        typer.Option(
            help="What counts as success: correct (by the judge, against references), coverage (of core "
            "sub-questions), or label:KEY of the traces' metadata.",
            metavar="NAME",
            rich_help_panel=MEASURING,
            show_default="correct if most traces have references, else coverage",
        ),
    ] = None
    share: Annotated[
        float,
        typer.Option(
            help="With --success coverage: the share of core sub-questions that an answer must cover.",
            min=0.01,
            max=1.0,
            metavar="NUMBER",
            rich_help_panel=MEASURING,
        ),
    ] = 0.5
    complexity: Annotated[
        bool,
        typer.Option(
            "--complexity",
            help="Also judge the complexity of each question for its retrieved passages, and adjust predictions by "
            "it if that helps.",
            rich_help_panel=MEASURING,
            show_default=False,
        ),
    ] = False
    dimensions: Annotated[
        int | None,
        typer.Option(
            help="The number of dimensions (latent skills).",
            min=1,
            metavar="N",
            rich_help_panel=MEASURING,
            show_default="1, or 2, 3, 5 if clearly better",
        ),
    ] = None
    judge: Judge = "embedded"
    embedder: EmbedderName = None
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Save the skills in files of this name.", metavar="SKILLS", rich_help_panel=OUTPUT),
    ] = Path("skills")
    force: Force = False
    screen: ScreenOptions

    def learn(self) -> tuple[Caimira, SkillRecord]:
        """Learn the skills from what the stores or the table hold.

        Raises:
            RagCoverError: a store or the table cannot be read, or holds too little to learn from.
            BadParameter: stores and a table, none of them, or options of stores with a table.
        """
        models = Models(judge=self.judge, embedder=self.embedder)
        outcomes, scorer = self._read_table() if self.table else self._gather(models)
        known = complexities_without_references(outcomes, scorer if self.complexity else None)
        return learn_skills(
            outcomes,
            open_embedder_or_judge(models),
            dimensions=self.dimensions,
            complexities=known,
            require_gain=not self.force,
        )

    def _read_table(self) -> tuple[Outcomes, None]:
        if self.store or self.success is not None or self.complexity:
            message = "a table says itself what succeeded, and holds no passages: leave out --store, --success and --complexity"
            raise typer.BadParameter(message, param_hint="--table")
        return read_outcomes(self.table or Path()), None

    def _gather(self, models: Models) -> tuple[Outcomes, Scorer | None]:
        if not self.store:
            message = "learn from what? Give --store STORE (evaluated traces) or --table FILE (outcomes)"
            raise typer.BadParameter(message, param_hint="--store")
        judged = self.success in (None, "correct") or self.complexity
        scorer: Scorer | None = models.open(["scorer"]).get("scorer") if judged else None
        return gather_outcomes(_results(self.store), success=self.success, scorer=scorer, share=self.share), scorer


@skills_app.command("fit")
@expand_options
def fit_skills(options: SkillFitOptions) -> None:
    """Learn from evaluated traces or a table which pipeline answers which questions correctly.

    At least two pipelines must have answered the same questions. The predictions are tested on held-out questions. Skills
    that are not clearly better than the mean of each pipeline are refused. [bold]rag-cover route[/bold] uses the skills.
    Fitting needs scipy (extra 'skills'), routing does not.

    [bold]Examples[/bold]

      rag-cover skills fit --store small-coverage.sqlite --store large-coverage.sqlite --out skills

      rag-cover skills fit --store run.sqlite --success label:thumbs_up

      rag-cover skills fit --table outcomes.csv

      rag-cover route "Who found it?" --skills skills
    """
    out = options.out
    refuse_existing(record_path(out), out.with_name(f"{out.name}.npz"), force=options.force)
    model, record = options.learn()
    model.save(out)
    record.save(out)
    description = _describe(model, record, None)
    if options.screen.as_json:
        print_json(_document(description) | {"skills": str(out)})
        return
    screen(quiet=options.screen.quiet).print(skills_table(description))
    say(f"Skills: {out} (see them with 'rag-cover skills report {out}')", quiet=options.screen.quiet)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillReportOptions:
    """The options of ``rag-cover skills report``."""

    skills: Annotated[Path, typer.Argument(help="The model of 'rag-cover skills fit'.", metavar="SKILLS", show_default=False)]
    costs: CostTable = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the page to this file.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="SKILLS.html",
        ),
    ] = None
    force: Force = False
    screen: ScreenOptions


@skills_app.command("report")
@expand_options
def report_skills(options: SkillReportOptions) -> None:
    """Show skills: the skills of each pipeline with intervals, the dimensions, the hard questions, and the effect of routing.

    [bold]Example[/bold]

      rag-cover skills report skills --costs costs.json --out report.html
    """
    page = options.out or Path(f"{options.skills.name}.html")
    refuse_existing(page, force=options.force, inputs=[options.costs])
    record = SkillRecord.load(options.skills)
    costs = read_costs(options.costs) if options.costs else None
    description = _describe(Caimira.load(options.skills), record, costs)
    write_page(page, partial(write_skills, page, description))
    if options.screen.as_json:
        print_json(_document(description) | {"report": str(page)})
        return
    screen(quiet=options.screen.quiet).print(skills_table(description))
    say(f"Report: {page}", quiet=options.screen.quiet)


def read_costs(path: Path) -> dict[str, float]:
    """Read what pipelines cost.

    Raises:
        InputError: the file cannot be read, or is no table of numbers.
    """
    with open_input(path) as file:
        content = file.read()
    try:
        table = json.loads(content)
    except ValueError:
        table = None
    numbers = isinstance(table, dict) and all(
        isinstance(cost, int | float) and not isinstance(cost, bool) for cost in table.values()
    )
    if not numbers or not table:
        problem = 'costs are JSON such as {"small": 1, "large": 6.5}: a number for each pipeline'
        raise InputError(problem, file=path)
    return {str(name): float(cost) for name, cost in table.items()}


def open_embedder_or_judge(models: Models) -> Embedder:
    """Open the embedder that is named, or the judge where it embeds.

    Raises:
        NotOfferedError: none is named, and the judge does not embed.
    """
    embedder: Embedder | None = models.open(["embedder"]).get("embedder")
    if embedder is None:
        raise NotOfferedError(str(models.judge), "embedder", [])
    return embedder


def _results(stores: list[Path]) -> Iterator[tuple[str, TraceResult]]:
    for path in stores:
        for result in Evaluation.open(path).results:
            yield output_name(path), result


def _describe(model: Caimira, record: SkillRecord, costs: Mapping[str, float] | None) -> SkillDescription:
    return describe_skills(record, model.skills, model.skill_intervals, costs=costs)


def _document(description: SkillDescription) -> dict[str, Any]:
    record = description.record
    return {
        "criterion": record.criterion,
        "questions": len(record.responses.questions),
        "responses": record.responses.observed,
        "agents": [
            {
                "name": agent.name,
                "success": agent.success.estimate if agent.success else None,
                "skills": [skill.estimate for skill in agent.skills],
            }
            for agent in description.agents
        ],
        "held_out": {
            "log_loss": record.held_out.log_loss,
            "agent_means_log_loss": record.held_out.agent_means_log_loss,
            "gain": [record.held_out.gain.estimate, record.held_out.gain.lower, record.held_out.gain.upper],
            "area": record.held_out.area.estimate if record.held_out.area else None,
            "dimensions": list(record.held_out.dimensions),
        },
        "adjusted_by_complexity": record.adjustment is not None,
        "frontier": description.frontier.to_dict() if description.frontier else None,
        "notes": list(record.notes),
    }
