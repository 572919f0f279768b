"""A step that grades passages and drops those that answer: the refusal after it is the filter's fault, and nobody's merit."""

from __future__ import annotations

import pytest

from rag_cover import Models, Passage, Question, RetrievalStep, SubQuestion, Trace, UtilityMeasure, evaluate
from rag_cover.coverage import Loss
from rag_cover.evaluation import Evaluation
from rag_cover.measures import Measure, NotApplicable
from rag_cover.reports.loss_text import loss_advice
from rag_cover.reports.text import abstentions_sentence, headline
from rag_cover.summaries import Summary
from rag_cover_embedded.weights import FOLDER

QUESTION = "What is the capital of France?"
PASSAGES = (
    Passage("Paris is the capital of France, and lies on the Seine."),
    Passage("France has borders with Spain and Italy."),
)
REFUSAL = "I don't know based on the documents."

FOUND = RetrievalStep(id="search", query=QUESTION, passages=PASSAGES)
GRADED = RetrievalStep(id="grade", kind="filter", input_ids=("search",), passages=())
TRACE = Trace(
    question=Question(QUESTION),
    steps=(FOUND, GRADED),
    answer=REFUSAL,
    sub_questions=(SubQuestion(QUESTION, role="core"),),
)


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    """Evaluate the trace with the shipped judge and reader."""
    if not (FOLDER / "judge.onnx").exists():
        pytest.skip("needs the trained weights (weights/judge.onnx)")
    measures: list[str | Measure] = ["coverage", "groundedness", UtilityMeasure(references="answer")]
    return evaluate([TRACE], measures=measures, models=Models(receiver="embedded"))


@pytest.fixture(scope="module")
def summary(evaluation: Evaluation) -> Summary:
    return evaluation.summary()


def test_the_refusal_is_recognised_and_the_filter_is_where_it_was_lost(evaluation: Evaluation) -> None:
    coverage = evaluation.results[0].coverage

    assert coverage is not None
    assert (coverage.abstained, coverage.core_coverage) == ("wholly", 0.0)
    assert [each.loss for each in coverage.sub_questions] == [Loss.DROPPED]


def test_it_counts_as_declined_though_it_was_retrieved(summary: Summary) -> None:
    metrics = [summary.metrics[name].interval for name in ("abstentions", "abstentions_though_retrieved")]

    assert [interval and interval.estimate for interval in metrics] == [1.0, 1.0]
    assert headline(summary).text.startswith("100% of the answers decline to answer; the answers cover 0%")
    assert abstentions_sentence(summary.answers) == (
        "1 of 1 answer declines to answer: 1 where a retrieved passage covers a core sub-question."
    )


def test_the_advice_names_the_filter_and_not_the_retriever(summary: Summary) -> None:
    advice = loss_advice(summary.losses)

    assert "filter" in advice
    assert "retriev" not in advice


def test_belief_in_a_refusal_credits_no_step(evaluation: Evaluation) -> None:
    outcome = evaluation.results[0].outcomes["utility"]

    assert outcome == NotApplicable("the answer, which stands in for references, declines to answer")
