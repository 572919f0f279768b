"""``rag-cover route``: where a question should go, by what retrieval brings back, or by what pipelines can do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from rag_cover.cli.console import print_json, say, screen, warn
from rag_cover.cli.inputs import TraceFile, opened
from rag_cover.cli.options import INPUT, MEASURING, AsJson, Judge, Quiet
from rag_cover.cli.skills import CostTable, EmbedderName, opened_embedder, read_costs
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Question
from rag_cover.registry import Models, build_retriever
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.routing import Caimira, ComplexityRouter, Route, SkillRecord, SkillRouter
from rag_cover.stores.files import require_file

__all__ = ["route_questions"]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A router's two ways to answer."""

    routes: Callable[[Sequence[Question | str]], list[Route]]
    explain: Callable[[Question | str], str]


def route_questions(  # noqa: PLR0913  # a command has as many options as it has
    question: Annotated[
        list[str] | None,
        typer.Argument(help="What is asked. Several are routed one by one.", metavar="QUESTION", show_default=False),
    ] = None,
    *,
    questions: Annotated[
        Path | None,
        typer.Option(
            help='More questions, from a trace file: {"question": "…"} is a line.', metavar="FILE", rich_help_panel=INPUT
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="The passages to retrieve from, JSONL with a text in each line: routes by retrieval complexity.",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    skills: Annotated[
        Path | None,
        typer.Option(
            help="What 'rag-cover skills fit' kept: routes to the pipeline that is likeliest to succeed, or by cost.",
            metavar="SKILLS",
            rich_help_panel=INPUT,
        ),
    ] = None,
    costs: CostTable = None,
    target: Annotated[
        float | None,
        typer.Option(
            help="Take the cheapest pipeline whose predicted success is at least this.",
            min=0.0,
            max=1.0,
            rich_help_panel=MEASURING,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(help="Take none that costs more than this.", min=0.0, rich_help_panel=MEASURING),
    ] = None,
    cut: Annotated[
        float | None,
        typer.Option(
            help="By complexity: take a question apart from this P(complex) on; by default as the judge's thresholds decide.",
            min=0.0,
            max=1.0,
            rich_help_panel=MEASURING,
        ),
    ] = None,
    k: Annotated[
        int, typer.Option("--k", help="Passages retrieved for a question.", min=1, metavar="N", rich_help_panel=MEASURING)
    ] = 10,
    judge: Judge = "embedded",
    embedder: EmbedderName = None,
    retriever: Annotated[
        str, typer.Option(help="What retrieves from --corpus.", metavar="NAME", rich_help_panel=MEASURING)
    ] = "embedded",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say where a question should go, and why.

    With [bold]--corpus[/bold], by retrieval complexity: direct, decompose (no single passage answers it, but several may
    together), or abstain (the corpus is about something else). With [bold]--skills[/bold], to one of the pipelines whose
    traces they were learnt from; --corpus then adjusts what is predicted, where that was found to help.

    [bold]Examples[/bold]

      rag-cover route "Who wrote Emma, and when did she die?" --corpus passages.jsonl

      rag-cover route "Who wrote Emma?" --skills skills --costs costs.json --target 0.7

      rag-cover route --questions questions.jsonl --skills skills --json
    """
    asked = _asked(question, questions)
    models = Models(judge=judge, embedder=embedder)
    if skills is None:
        _refuse_prices(costs, target, budget)
    by_complexity = _complexity_router(corpus, models, retriever, k, cut) if corpus else None
    if skills is not None:
        if cut is not None:
            message = "a cut is for routing by complexity, without --skills"
            raise typer.BadParameter(message, param_hint="--cut")
        router = _skill_router(skills, models, costs, target, budget, by_complexity)
        chosen = _Chosen(router.routes, router.explain)
    elif by_complexity is not None:
        chosen = _Chosen(by_complexity.routes, by_complexity.explain)
    else:
        message = "route by what? Give --corpus passages.jsonl (retrieval complexity), --skills SKILLS, or both"
        raise typer.BadParameter(message)
    if not as_json and len(asked) == 1:
        say(chosen.explain(asked[0]), quiet=quiet)
        return
    routes = chosen.routes(asked)
    if as_json:
        print_json({"routes": [{"question": each.text, **route.to_dict()} for each, route in zip(asked, routes, strict=True)]})
    else:
        screen(quiet=quiet).print(_table(asked, routes))


def _asked(texts: list[str] | None, path: Path | None) -> list[Question]:
    for text in texts or ():
        if not text.strip():
            message = "a question needs a text; this one is blank"
            raise typer.BadParameter(message, param_hint="QUESTION")
    asked = [Question(text) for text in texts or ()]
    asked += [trace.question for trace in opened(TraceFile(path))] if path else []
    if not asked:
        message = "give a question, or a file of them with --questions"
        raise typer.BadParameter(message, param_hint="QUESTION")
    return asked


def _refuse_prices(costs: Path | None, target: float | None, budget: float | None) -> None:
    if costs is not None or target is not None or budget is not None:
        message = "costs, a target and a budget choose between pipelines; give --skills, too"
        raise typer.BadParameter(message, param_hint="--skills")


def _complexity_router(corpus: Path, models: Models, retriever: str, k: int, cut: float | None) -> ComplexityRouter:
    require_file(corpus)
    opened_models = models.open(["scorer", "relevance"])
    return ComplexityRouter(
        retriever=build_retriever(retriever, corpus),
        scorer=opened_models["scorer"],
        relevance=opened_models.get("relevance"),
        k=k,
        cut=cut,
    )


def _skill_router(
    skills: Path, models: Models, costs: Path | None, target: float | None, budget: float | None, probe: ComplexityRouter | None
) -> SkillRouter:
    if costs is None and (target is not None or budget is not None):
        message = "a target or a budget needs --costs costs.json: what each pipeline costs"
        raise typer.BadParameter(message, param_hint="--costs")
    record = SkillRecord.load(skills)
    embedder = opened_embedder(models)
    if probe is not None and record.adjustment is None:
        warn("These skills hold no adjustment by complexity, so --corpus changes nothing; 'rag-cover skills fit' says why.")
    if probe is None and record.adjustment is not None:
        warn("These skills hold an adjustment by complexity; give --corpus to use it.")
    try:
        return SkillRouter(
            _loaded(skills, embedder),
            read_costs(costs) if costs else None,
            embedder=embedder,
            target=target,
            budget=budget,
            adjustment=record.adjustment if probe else None,
            probe=probe.complexity if probe and record.adjustment else None,
        )
    except InvalidValueError as wrong:
        raise typer.BadParameter(str(wrong)) from wrong


def _loaded(skills: Path, embedder: object) -> Caimira:
    from rag_cover.backends import fingerprint_of

    return Caimira.load(skills, encoder=fingerprint_of(embedder))


def _table(asked: Sequence[Question], routes: Sequence[Route]) -> Encodable:
    table = plain_table(("Question", "left"), ("Route", "left"), ("P", "right"), ("Because", "left"))
    for question, route in zip(asked, routes, strict=True):
        probability = "–" if route.probability is None else f"{route.probability:.2f}"
        table.add_row(Text(one_line(question.text, limit=100)), Text(route.name), probability, Text(route.reason, style="dim"))
    return Encodable(table)
