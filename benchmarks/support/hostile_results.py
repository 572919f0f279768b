"""Results in whose every text field one text stands, and every report of them: for fuzzing and injections."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from rich.console import Console, RenderableType

from rag_cover.augmentation import Augmentation, Purchase, Sought
from rag_cover.backends import Failure, Span
from rag_cover.belief import Belief, SampledAnswer, StepUtility, TraceUtility, Utility
from rag_cover.complexity import Complexity, DocumentEvidence
from rag_cover.coverage import CoverageResult, Loss, SubQuestionCoverage, Verdict
from rag_cover.coverage.metrics import Scenarios
from rag_cover.dashboards import Dashboard, DashboardBuilder, StoreSource, TraceSelection
from rag_cover.grounding import GroundednessResult, SentenceSupport
from rag_cover.judge_check.run import check_judge
from rag_cover.labels import LabelledText
from rag_cover.llm.usage import Price, Usage, UsageReport
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.pairwise import PairVerdict, PairwiseComparison, UnjudgedPair, position_bias, win_rates_of
from rag_cover.pairwise.win_rates import overall_win_rate
from rag_cover.questions import Passage, Question, Role, SubQuestion, legible
from rag_cover.reports import (
    augmentation_panel,
    before_and_after,
    check_panels,
    comparison_table,
    complexity_panel,
    dashboard_table,
    hardest_table,
    hurting_table,
    skills_table,
    spending_table,
    study_table,
    summary_panel,
    trace_utilities,
    utility_panel,
    winning_table,
    worst_questions,
    write_comparison,
    write_dashboard,
    write_pairwise,
    write_report,
    write_skills,
    write_study,
)
from rag_cover.reports.gains import AugmentedQuestion, gains_of
from rag_cover.reports.set_queries import reading_panel, set_answer_report, set_answers_table
from rag_cover.routing import HeldOut, Responses, SkillDescription, SkillRecord, describe_skills
from rag_cover.setqueries import AtomEvidence, Candidate, ParsedQuery, SetAnswer, SetQuery
from rag_cover.stats.intervals import Interval
from rag_cover.studies import Study, study_components
from rag_cover.summaries import ChangedQuestion, Comparison, MetricComparison, MetricValue, OutcomeCounts, Summary, summarise
from rag_cover.testing import KeywordScorer
from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace

__all__ = ["FIELDS", "PAGES", "hostile_pages", "hostile_screens"]

FIELDS: Mapping[str, Sequence[str]] = {
    "evaluation": (
        *("title", "question", "question id", "references", "trace id", "pipeline", "answer", "step id", "query", "step error"),
        *("passage text", "passage title", "passage id", "passage metadata", "trace metadata", "sub-question", "role's source"),
        *("decomposed by", "judge", "failure kind", "failure message", "reason", "metric label", "explanation", "notes"),
        *("samples", "receiver", "undefined because", "name a", "name b", "changed question", "gained", "lost"),
    ),
    "utility": ("question", "step id", "query", "sampled answers", "receiver", "passage", "pipeline", "query type", "judge"),
    "complexity": ("question", "tokens", "passage", "failure kind", "failure message", "calibration", "notes", "judge"),
    "comparison": ("title", "name a", "name b", "metric label", "changed question", "key", "gained", "lost", "notes"),
    "pairwise": ("title", "pipelines", "judge", "questions", "reasons", "unjudged because", "notes"),
    "study": ("title", "setting", "value", "question", "receiver"),
    "skills": ("title", "agents", "questions", "measure"),
    "dashboard": (
        *("title", "store", "judge", "measures", "selection", "refused store", "reason", "pipeline", "question", "answer"),
        *("trace id", "sub-question", "part of the pipeline", "metric label"),
    ),
}
"""The fields of each page that carry the text."""

_HALF = Interval(0.5, 0.4, 0.6, 9)


def _passages(text: str) -> tuple[Passage, ...]:
    plain = legible(text)
    return tuple(
        Passage(f"{plain} {number}", id=f"{plain}{number}", title=plain, score=0.5, metadata={plain: plain})
        for number in range(3)
    )


def _trace(text: str, number: int = 0) -> Trace:
    plain, passages = legible(text), _passages(text)
    steps = (
        RetrievalStep(id=f"{plain}s1", query=plain, passages=passages),
        RetrievalStep(id=f"{plain}s2", query=plain, kind="rerank", input_ids=(f"{plain}s1",), passages=passages[:2]),
        RetrievalStep(id=f"{plain}s3", query=plain, error=plain),
    )
    return Trace(
        question=Question(f"Q{number // 2} {plain}", id=f"{plain}{number // 2}", references=(plain,)),
        id=f"{plain}{number}",
        steps=steps,
        prompt=passages[:1],
        answer=f"{plain}. And {plain}",
        sub_questions=(SubQuestion(f"S {plain}", role=Role.CORE, role_source=f"model:m{plain}"),),
        samples=(SampleSet(receiver=plain, context="none", samples=(Sample(plain),)),),
        pipeline=plain,
        metadata={plain: plain, "query_type": plain, "setting": f"{plain}{number % 2}"},
    )


def _coverage(text: str, trace: Trace) -> CoverageResult:
    answer = trace.answer or ""
    yes, no = Verdict(0.9, covered=True, fragment=Span(0, max(1, len(answer) // 2))), Verdict(0.1, covered=False)
    chunk = Verdict(0.8, covered=True, fragment=Span(0, max(1, len(trace.chunks[0].text) - 1)))
    rows = tuple(
        SubQuestionCoverage(f"S {text}", role, f"model:{text}", no if loss else yes, chunks=(chunk, no, no), loss=loss)
        for role in Role
        for loss in (None, *Loss)
    )
    keys = tuple(passage.key for passage in trace.chunks)
    return CoverageResult(rows, keys, 0.5, -0.25, prompt_assumed=False, decomposed_by=f"model:{text}")


def _results(text: str) -> list[TraceResult]:
    trace = _trace(text)
    middle = len(trace.answer or "") // 2
    grounded = GroundednessResult(
        (
            SentenceSupport(0, middle, 0.9, supported=True, passage=0),
            SentenceSupport(middle, 2 * middle, 0.2, supported=False, passage=None),
        ),
        0.5,
        prompt_assumed=False,
    )
    failed = {"coverage": NotApplicable(text), "groundedness": Failure(text, text, 3, text), "utility": Failure(text, text)}
    return [
        TraceResult(trace, {"coverage": _coverage(text, trace), "groundedness": grounded}),
        TraceResult(_trace(text, 1), failed),
    ]


def _summary(text: str, results: Sequence[TraceResult]) -> Summary:
    made = summarise(results, judge=text)
    label = MetricValue("core_coverage", text, text, _HALF, None, higher_is_better=True, measure="coverage")
    undefined = MetricValue("order_alignment", text, text, None, text, higher_is_better=None, measure="coverage")
    return Summary(
        traces=made.traces,
        questions=made.questions,
        pipelines=(text, f"{text}2"),
        judge=text,
        metrics={"core_coverage": label, "order_alignment": undefined, **made.metrics},
        scenarios={Role.CORE: Scenarios(0.5, 0.04, 0.2, 0.26)},
        losses=dict.fromkeys(Loss, 1),
        outcomes={"coverage": OutcomeCounts(1, 1, 1, {text: 1, f"{text}: {text}": 1})},
        notes=(text,),
        utility=made.utility,
        complexity=made.complexity,
    )


def _comparison(text: str) -> Comparison:
    metric = MetricComparison("core_coverage", text, _HALF, _HALF, 0.1, 0.01, questions=9, higher_is_better=True)
    changed = ChangedQuestion(text, text, 0.25, 0.5, (text,), (text,))
    return Comparison(text, f"{text}b", 9, 1, 0, {"core_coverage": metric}, {Loss.DROPPED: 1}, {}, (changed,), (text,))


def _measured(text: str, number: int, change: float) -> TraceResult:
    """Measure the utility of a trace."""
    trace = _trace(text, number)

    def belief(score: float) -> Belief:
        return Belief(
            score, "soft", "official", (SampledAnswer(text, score, None, 1.0), SampledAnswer(text, 1 - score, 1, 0.0))
        )

    def worth(value: float) -> Utility:
        return Utility(value, belief(0.3), belief(0.3 + value), Interval(value, value - 0.05, value + 0.05, 2))

    steps = tuple(StepUtility(step.id, step.kind, step.query, worth(change), worth(change)) for step in trace.steps)
    utility = TraceUtility(text, "gold", "soft", "official", belief(0.3), steps, worth(change), 60)
    return TraceResult(trace, {"utility": utility})


def _utilities(text: str) -> list[TraceResult]:
    return [_measured(text, number, (-0.2, 0.1, 0.3)[number % 3]) for number in range(6)]


def _complex(text: str) -> list[TraceResult]:
    trace = _trace(text)
    key = trace.chunks[0].key
    documents = (
        DocumentEvidence(key, 0.05, (0.1, 0.9), 0.8),
        DocumentEvidence(trace.chunks[1].key, None, failure=Failure(text, text)),
    )
    found = Complexity(
        0.05, False, 0.9, True, True, 0.3, 0.8,  # noqa: FBT003 -- positions of a value that is written once
        probability=0.75, calibration=text, tokens=(text, text), documents=documents, notes=(text,),
    )  # fmt: skip
    return [TraceResult(trace, {"complexity": found}), TraceResult(_trace(text, 1), {"complexity": NotApplicable(text)})]


def _pairwise(text: str) -> PairwiseComparison:
    names = (text, f"{text}2")
    told = [PairVerdict(f"{text}{number}", *names, "a", "b" if number else "a", reasons=(text, text)) for number in range(4)]
    lacking = (UnjudgedPair(text, *names, text, failed=True),)
    return PairwiseComparison(
        names, text, 5, dict.fromkeys(names, 1), win_rates_of(names, told, lacking),
        {name: overall_win_rate(name, told) for name in names}, position_bias(told), None, tuple(told), lacking, (text,),
    )  # fmt: skip


def _study(text: str) -> Study:
    return study_components(_utilities(text), by=["setting", legible(text)])


def _skills(text: str) -> SkillDescription:
    rng = np.random.default_rng(0)
    agents, n = (f"{text}1", f"{text}2"), 40
    relevance, difficulty = rng.dirichlet([0.4, 0.4], n), rng.normal(0, 1, (n, 2))
    values = (rng.random((n, 2)) < 0.5).astype(float)  # noqa: PLR2004 -- a coin
    skills = np.array([[0.0, 1.0], [1.0, 0.5]])
    held_out = HeldOut(0.51, 0.62, Interval(0.11, 0.08, 0.14, n), _HALF)
    questions = [f"{text} {number}" for number in range(n)]
    record = SkillRecord(text, Responses(agents, questions, values), relevance, difficulty, np.full((n, 2), 0.5), held_out)
    return describe_skills(
        record, skills, np.stack([skills - 0.2, skills + 0.2], axis=-1), costs={agents[0]: 1.0, agents[1]: 2.0}
    )


def _dashboard(text: str) -> Dashboard:
    """Two stores of each kind of loss, of which every cause has a worst question, and one that cannot be read."""
    plain, trace = legible(text), _trace(text)
    builder = DashboardBuilder(TraceSelection(where={plain: [plain]}))
    lost = [
        SubQuestionCoverage(text, Role.CORE, "given", Verdict(0.1, covered=False), loss=loss, lost_by=text) for loss in Loss
    ]
    coverage = [replace(_coverage(text, trace), sub_questions=(each,)) for each in lost]
    results = [
        TraceResult(
            trace.model_copy(update={"question": Question(f"{plain} {number}"), "metadata": {plain: plain}}), {"coverage": each}
        )
        for number, each in enumerate([_coverage(text, trace), *coverage])
    ]
    for day in (2, 1):
        time = datetime(2026, 1, day, tzinfo=UTC)
        builder.add(StoreSource(f"{text}{day}", time, "file", results, f"{text}{day}", (text,)))
    builder.refuse(text, text)
    return builder.build()


def _evaluation_page(path: Path, text: str) -> None:
    results = _results(text)
    write_report(path, results, _summary(text, results), title=text, comparison=_comparison(text))


def _page_of(results_of: Callable[[str], list[TraceResult]]) -> Callable[[Path, str], None]:
    def write(path: Path, text: str) -> None:
        results = results_of(text)
        write_report(path, results, summarise(results, judge=text), title=text)

    return write


PAGES: Mapping[str, Callable[[Path, str], None]] = {
    "evaluation": _evaluation_page,
    "utility": _page_of(_utilities),
    "complexity": _page_of(_complex),
    "comparison": lambda path, text: write_comparison(path, _comparison(text), title=text),
    "pairwise": lambda path, text: write_pairwise(path, _pairwise(text), title=text),
    "study": lambda path, text: write_study(path, _study(text), title=text),
    "skills": lambda path, text: write_skills(path, _skills(text), title=text),
    "dashboard": lambda path, text: write_dashboard(path, _dashboard(text), title=text),
}
"""Every kind of page, written with a text in every field."""


def hostile_pages(text: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Write every kind of page with a text in every field."""
    for name, write in PAGES.items():
        write(folder / f"{name}.html", text)
        yield name, folder / f"{name}.html"


def hostile_screens(text: str) -> str:
    """Print every kind of table with a text in every field, 80 columns wide and without styles."""
    stream = io.StringIO()
    console = Console(file=stream, width=80, color_system=None)
    for renderable in _renderables(text):
        console.print(renderable)
    return stream.getvalue()


def _renderables(text: str) -> Iterator[RenderableType]:
    results, utilities, complexities = _results(text), _utilities(text), _complex(text)
    yield summary_panel(_summary(text, results))
    yield worst_questions(results)
    yield comparison_table(_comparison(text))
    yield spending_table(UsageReport((Usage(text, text, calls=1),)), {text: Price(1, 1)})
    yield utility_panel(summarise(utilities, judge=text))
    yield hurting_table(utilities)
    yield trace_utilities(utilities)
    yield complexity_panel(summarise(complexities, judge=text))
    yield hardest_table(complexities)
    yield winning_table(_pairwise(text))
    yield study_table(_study(text))
    yield skills_table(_skills(text))
    yield dashboard_table(_dashboard(text))
    yield from _augmented(text)
    yield from _set_queries(text)
    yield check_panels(check_judge([LabelledText(f"Q {text}", f"T {text}", True, (text,), group=text)], judge=KeywordScorer()))  # noqa: FBT003


def _augmented(text: str) -> Iterator[RenderableType]:
    trace = _trace(text)
    sought = (Sought(text, text, text, trace.steps[0].id, covered_at_first=False, covered=True, answer=text),)
    bought = (Purchase(trace.steps[0].id, text, (text,), 0.1),)
    made = Augmentation(
        trace.question, "retrieval", sought, trace.steps, trace.chunks, answer=text, bought=bought,
        failures=(Failure(text, text),), notes=(text,),
    )  # fmt: skip
    results = [AugmentedQuestion(trace, made), AugmentedQuestion(trace, Failure(text, text))]
    yield augmentation_panel(gains_of(results, "retrieval"), judge=text)
    yield before_and_after(results)


def _set_queries(text: str) -> Iterator[RenderableType]:
    query = SetQuery.atom(f"A {text}") - f"B {text}"
    parsed = ParsedQuery(f"Q {text}", query, 0.5, "grammar", ((SetQuery.atom(f"C {text}"), 0.3),), notes=(text,))
    evidence = tuple(AtomEvidence(atom, 0.5, atom not in query.sources, fragment=text) for atom in query.atoms)
    kept = Candidate(text, (Passage(legible(text)),), 0.5, evidence, text)
    steps = _trace(text).steps
    answer = SetAnswer(
        parsed, (kept,), (kept,), steps, 0.5, "product", judged=2, failures=(Failure(text, text),), notes=(text,)
    )
    yield reading_panel(parsed)
    yield set_answer_report(answer, judge=text, limit=10, shown=3)
    yield set_answers_table([(text, answer), (text, Failure(text, text))], limit=10)
