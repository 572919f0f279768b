"""Small hand-made results: one question with a sub-question of every fate, and what sums them up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from rag_cover.backends import Failure, Span
from rag_cover.coverage import CoverageResult, Loss, SubQuestionCoverage, Verdict
from rag_cover.coverage.metrics import Scenarios
from rag_cover.grounding import GroundednessResult, SentenceSupport
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.stats.intervals import Interval
from rag_cover.summaries import (
    ChangedQuestion,
    Comparison,
    MetricComparison,
    MetricValue,
    OutcomeCounts,
    Summary,
)
from rag_cover.summaries.metrics import metrics_of_installed
from rag_cover.traces import RetrievalStep, Trace

ANSWER = "Rayleigh scattering makes it blue. It was discovered on a Tuesday."
PASSAGES = (
    "Short waves scatter more, as Rayleigh found.",
    "At sunset the light takes a longer way.",
    "Violet is absorbed higher up.",
)
NO = Verdict(0.1, covered=False)


def found(text: str, fragment: str) -> Verdict:
    start = text.index(fragment)
    return Verdict(0.9, covered=True, fragment=Span(start, start + len(fragment)))


def coverage_of(trace: Trace) -> CoverageResult:
    first, second, third = (Verdict(0.8, covered=True, fragment=Span(0, len(passage.text))) for passage in trace.chunks)
    answered = found(trace.answer or "", (trace.answer or "")[:19])

    def row(text: str, role: Role, chunks: tuple[Verdict, ...], loss: Loss | None = None) -> SubQuestionCoverage:
        return SubQuestionCoverage(text, role, "given", NO if loss else answered, chunks=chunks, loss=loss)

    rows = (
        row("Why is the sky blue?", Role.CORE, (first, NO, NO)),
        row("Why is the sunset red?", Role.CORE, (NO, second, NO), Loss.UNUSED),
        row("Why is it not violet?", Role.CORE, (NO, NO, third), Loss.DROPPED),
        row("What do eyes see?", Role.CORE, (NO, NO, NO), Loss.NOT_RETRIEVED),
        row("Who found it?", Role.BACKGROUND, (NO, NO, NO)),
        row("Is Mars's sky blue?", Role.FOLLOW_UP, (NO, NO, NO), Loss.NOT_RETRIEVED),
    )
    return CoverageResult(
        rows, tuple(passage.key for passage in trace.chunks), 0.5, -0.25, prompt_assumed=False, decomposed_by="given"
    )


def result_of(
    question: str = "Why is the sky blue?",
    *,
    passages: Sequence[str] = PASSAGES,
    answer: str = ANSWER,
    title: str | None = "Light",
) -> TraceResult:
    kept = tuple(Passage(text=text, id=f"p{number}", title=title, score=0.5) for number, text in enumerate(passages))
    steps = (
        RetrievalStep(query=question, passages=kept),
        RetrievalStep(kind="rerank", passages=kept[:2], input_ids=("step-1",)),
    )
    trace = Trace(
        question=Question(text=question, id=question),
        steps=steps,
        prompt=kept[:2],
        answer=answer,
        pipeline="baseline",
        sub_questions=(SubQuestion(text="Why is the sky blue?"),),
    )
    end = answer.index(". ") + 1 if ". " in answer else len(answer)
    sentences = (
        SentenceSupport(0, end, 0.9, supported=True, passage=0),
        SentenceSupport(min(end + 1, len(answer)), len(answer), 0.2, supported=False, passage=None),
    )
    grounded = GroundednessResult(sentences, 0.5, prompt_assumed=False)
    return TraceResult(trace, {"coverage": coverage_of(trace), "groundedness": grounded})


def value(name: str, label: str, interval: Interval | None, reason: str | None = None) -> MetricValue:
    owned = metrics_of_installed().get(name)
    made = MetricValue(name, label, f"formula of {name}", interval, reason, higher_is_better=True, measure="coverage")
    return replace(made, known_as=owned.metric.known_as) if owned else made


@pytest.fixture
def make_result() -> Callable[..., TraceResult]:
    """Make one question with four core sub-questions, each with another fate, a background and a follow-up one."""
    return result_of


@pytest.fixture
def results() -> list[TraceResult]:
    bare = TraceResult(
        Trace(question=Question(text="What is rain?"), pipeline="baseline"),
        {
            "coverage": NotApplicable("the trace has no answer and no steps"),
            "groundedness": Failure("timeout", "no reply in 60 s", 3),
        },
    )
    return [bare, result_of(), result_of("Why is the sea blue?")]


@pytest.fixture
def summary() -> Summary:
    metrics = (
        value("core_coverage", "core answered", Interval(0.54, 0.47, 0.61, 18)),
        value("core_retrieved", "core retrieved", Interval(0.999, 0.9, 1.0, 18)),
        value("rating", "rating", Interval(-0.25, -0.4, 0.1, 18)),
        value("order_alignment", "order alignment", None, "no answer covers a follow-up sub-question"),
        value("groundedness", "sentences supported", Interval(0.5, None, None, 1)),
    )
    return Summary(
        traces=3,
        questions=3,
        pipelines=("baseline",),
        judge="a test judge",
        metrics={metric.name: metric for metric in metrics},
        scenarios={Role.CORE: Scenarios(0.5, 0.04, 0.2, 0.26), Role.BACKGROUND: Scenarios(0.0, 1.0, 0.0, 0.0)},
        losses={Loss.NOT_RETRIEVED: 3, Loss.DROPPED: 1, Loss.UNUSED: 2},
        outcomes={
            "coverage": OutcomeCounts(2, 1, 0, {"the trace has no answer and no steps": 1}),
            "groundedness": OutcomeCounts(2, 0, 1, {"timeout: no reply in 60 s": 1}),
        },
        notes=("Sub-questions were typed by rules.",),
    )


@pytest.fixture
def comparison() -> Comparison:
    def metric(name: str, a: float | None, b: float, p_value: float | None) -> MetricComparison:
        side_a, side_b = None if a is None else Interval(a, a - 0.1, a + 0.1, 9), Interval(b, b - 0.1, b + 0.1, 9)
        difference = None if a is None else b - a
        return MetricComparison(
            name, name.replace("_", " "), side_a, side_b, difference, p_value, questions=9, higher_is_better=True
        )

    metrics = (
        metric("core_coverage", 0.4, 0.6, 0.01),
        metric("rating", 0.4, 0.1, 0.0004),
        metric("core_use", 0.4, 0.5, 0.4),
        metric("order_alignment", None, 0.1, None),
    )
    return Comparison(
        name_a="before",
        name_b="after",
        questions=9,
        only_a=1,
        only_b=0,
        metrics={metric.name: metric for metric in metrics},
        losses_a={Loss.NOT_RETRIEVED: 4},
        losses_b={},
        changed=(ChangedQuestion("Why is the sky blue?", "q1", 0.25, 0.5, ("Why is the sunset red?",), ()),),
        notes=("Both sides used the same judge.",),
    )
