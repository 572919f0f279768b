"""``rag-cover route``: where a question should go, by what retrieval brings back, or by what pipelines can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from rag_cover.cli.commands.skills import CostTable, EmbedderName, open_embedder_or_judge, read_costs
from rag_cover.cli.console import print_json, say, screen, warn
from rag_cover.cli.inputs import TraceFile, open_traces, read_document_folder
from rag_cover.cli.option_groups import ScreenOptions
from rag_cover.cli.options import INPUT, MEASURING, Corpus, Judge, QuestionFile, RetrieverName, TopK
from rag_cover.cli.parameters import expand_options
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Question
from rag_cover.registry import Models, build_retriever
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.routing import Caimira, ComplexityRouter, Route, SkillRecord, SkillRouter, trace_subject
from rag_cover.stores.files import require_corpus

__all__ = ["RouteOptions", "route_questions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteOptions:
    """The options of ``rag-cover route``."""

    question: Annotated[
        list[str] | None,
        typer.Argument(help="The question. Several questions are routed one by one.", metavar="QUESTION", show_default=False),
    ] = None
    questions: QuestionFile = None
    corpus: Corpus = None
    skills: Annotated[
        Path | None,
        typer.Option(
            help="The model of 'rag-cover skills fit': route to the pipeline that most likely succeeds, or by cost.",
            metavar="SKILLS",
            rich_help_panel=INPUT,
            show_default="none",
        ),
    ] = None
    costs: CostTable = None
    subject: Annotated[
        str | None,
        typer.Option(
            help="With --skills: the subject of the questions. A subject that is unknown to the skills counts as none.",
            metavar="NAME",
            rich_help_panel=INPUT,
            show_default="that of each question in the file",
        ),
    ] = None
    target: Annotated[
        float | None,
        typer.Option(
            help="With --skills: choose the cheapest pipeline whose predicted success is at least this.",
            min=0.0,
            max=1.0,
            metavar="NUMBER",
            rich_help_panel=MEASURING,
            show_default="none",
        ),
    ] = None
    budget: Annotated[
        float | None,
        typer.Option(
            help="With --skills: choose no pipeline that costs more than this.",
            min=0.0,
            metavar="NUMBER",
            rich_help_panel=MEASURING,
            show_default="none",
        ),
    ] = None
    cut: Annotated[
        float | None,
        typer.Option(
            help="With --corpus: split a question if P(complex) is at least this.",
            min=0.0,
            max=1.0,
            metavar="NUMBER",
            rich_help_panel=MEASURING,
            show_default="as the judge's thresholds decide",
        ),
    ] = None
    top_k: TopK = 10
    judge: Judge = "embedded"
    embedder: EmbedderName = None
    retriever: RetrieverName = "embedded"
    screen: ScreenOptions

    @property
    def models(self) -> Models:
        """Name the models."""
        return Models(judge=self.judge, embedder=self.embedder)


@expand_options
def route_questions(options: RouteOptions) -> None:
    """Choose the route of a question, and print why.

    With [bold]--corpus[/bold], the route depends on retrieval complexity: direct, decompose (several passages together may
    answer the question), or abstain (the corpus does not answer it). With [bold]--skills[/bold], the route is one of the
    pipelines that the skills were learnt from. --corpus then adjusts the predictions, if this helped in the fit.

    [bold]Examples[/bold]

      rag-cover route "Who wrote Emma, and when did she die?" --corpus passages.jsonl

      rag-cover route "Who wrote Emma?" --skills skills --costs costs.json --target 0.7

      rag-cover route --questions questions.jsonl --skills skills --json
    """
    asked, subjects = _read_questions(options.question, options.questions, options.subject)
    router = _router(options)
    if not options.screen.as_json and len(asked) == 1:
        say(_explain(router, asked[0], subjects[0]), quiet=options.screen.quiet)
        return
    routes = router.routes(asked, subjects=subjects) if isinstance(router, SkillRouter) else router.routes(asked)
    if options.screen.as_json:
        print_json({"routes": [{"question": each.text, **route.to_dict()} for each, route in zip(asked, routes, strict=True)]})
    else:
        screen(quiet=options.screen.quiet).print(_table(asked, routes))


def _read_questions(texts: list[str] | None, path: Path | None, subject: str | None) -> tuple[list[Question], list[str | None]]:
    """Return what is asked, and what each question is filed under."""
    for text in texts or ():
        if not text.strip():
            message = "a question needs a text; this one is blank"
            raise typer.BadParameter(message, param_hint="QUESTION")
    traces = list(open_traces(TraceFile(path))) if path else []
    asked = [*(Question(text) for text in texts or ()), *(trace.question for trace in traces)]
    if not asked:
        message = "give a question, or a file of them with --questions"
        raise typer.BadParameter(message, param_hint="QUESTION")
    if subject is not None:
        return asked, [subject] * len(asked)
    return asked, [*(None for _ in texts or ()), *map(trace_subject, traces)]


def _explain(router: ComplexityRouter | SkillRouter, question: Question, subject: str | None) -> str:
    return router.explain(question, subject=subject) if isinstance(router, SkillRouter) else router.explain(question)


def _router(options: RouteOptions) -> ComplexityRouter | SkillRouter:
    """Open the router that the options ask for.

    Raises:
        BadParameter: they ask for none, or do not go together.
    """
    if options.skills is None:
        if any(each is not None for each in (options.costs, options.subject, options.target, options.budget)):
            message = "costs, a subject, a target and a budget choose between pipelines; give --skills, too"
            raise typer.BadParameter(message, param_hint="--skills")
        if options.corpus is None:
            message = "route by what? Give --corpus passages.jsonl (retrieval complexity), --skills SKILLS, or both"
            raise typer.BadParameter(message)
        return _complexity_router(options.corpus, options)
    by_complexity = _complexity_router(options.corpus, options) if options.corpus else None
    if options.cut is not None:
        message = "a cut is for routing by complexity, without --skills"
        raise typer.BadParameter(message, param_hint="--cut")
    return _skill_router(options.skills, options, by_complexity)


def _complexity_router(corpus: Path, options: RouteOptions) -> ComplexityRouter:
    require_corpus(corpus)
    opened_models = options.models.open(["scorer", "relevance"])
    return ComplexityRouter(
        retriever=build_retriever(options.retriever, read_document_folder(corpus)[0] if corpus.is_dir() else corpus),
        scorer=opened_models["scorer"],
        relevance=opened_models.get("relevance"),
        k=options.top_k,
        cut=options.cut,
    )


def _skill_router(skills: Path, options: RouteOptions, probe: ComplexityRouter | None) -> SkillRouter:
    record = SkillRecord.load(skills)
    costs = read_costs(options.costs) if options.costs else record.costs or None
    if costs is None and (options.target is not None or options.budget is not None):
        message = "a target or a budget needs --costs costs.json: what each pipeline costs"
        raise typer.BadParameter(message, param_hint="--costs")
    embedder = open_embedder_or_judge(options.models)
    if probe is not None and record.adjustment is None:
        warn("These skills hold no adjustment by complexity, so --corpus changes nothing; 'rag-cover skills fit' says why.")
    if probe is None and record.adjustment is not None:
        warn("These skills hold an adjustment by complexity; give --corpus to use it.")
    try:
        return SkillRouter(
            _load_router(skills, embedder),
            costs,
            embedder=embedder,
            target=options.target,
            budget=options.budget,
            adjustment=record.adjustment if probe else None,
            probe=probe.complexity if probe and record.adjustment else None,
        )
    except InvalidValueError as wrong:
        raise typer.BadParameter(str(wrong)) from wrong


def _load_router(skills: Path, embedder: object) -> Caimira:
    from rag_cover.backends import fingerprint_of

    return Caimira.load(skills, encoder=fingerprint_of(embedder))


def _table(asked: Sequence[Question], routes: Sequence[Route]) -> Encodable:
    table = plain_table(("Question", "left"), ("Route", "left"), ("P", "right"), ("Because", "left"))
    for question, route in zip(asked, routes, strict=True):
        probability = "–" if route.probability is None else f"{route.probability:.2f}"
        table.add_row(Text(one_line(question.text, limit=100)), Text(route.name), probability, Text(route.reason, style="dim"))
    return Encodable(table)
