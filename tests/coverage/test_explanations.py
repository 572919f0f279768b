"""What a comment says of an answer: what it left out, and which step dropped it."""

from __future__ import annotations

from rag_cover import Models, Passage, Question, RetrievalStep, SubQuestion, Trace, evaluate
from rag_cover.coverage import CoverageResult
from rag_cover.coverage.explanations import dropping_step, explain_coverage
from rag_cover.testing import KeywordScorer

COST = Passage("The heat pump cost is 12,000 euros.", id="cost")
NOISE = Passage("Fans hum at night.", id="noise")
ASKED = (SubQuestion("What is the heat pump cost?", role="core"), SubQuestion("Which grants exist in Wales?", role="core"))
SEARCH = RetrievalStep(query="heat pump", passages=(COST, NOISE), id="search")
RANK = RetrievalStep(query="heat pump", passages=(NOISE, COST), kind="rerank", id="rank", input_ids=("search",))
GRADE = RetrievalStep(query="heat pump", passages=(NOISE,), kind="filter", id="grade", input_ids=("rank",))


def measured(
    *steps: RetrievalStep, prompt: tuple[Passage, ...] | None = None, redact: bool = False
) -> tuple[CoverageResult, Trace]:
    """Measure an answer that says neither."""
    trace = Trace(question=Question("heat pump?"), sub_questions=ASKED, steps=steps, prompt=prompt, answer=NOISE.text)
    run = evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer()), redact=redact)
    (result,) = run.results
    assert result.coverage is not None
    return result.coverage, result.trace


def test_the_step_is_named_after_which_no_passage_that_answers_was_left() -> None:
    coverage, trace = measured(SEARCH, RANK, GRADE, prompt=(NOISE,))

    step = dropping_step(coverage.sub_questions[0], coverage, trace)

    assert step is not None
    assert step.id == "grade"
    assert dropping_step(coverage.sub_questions[1], coverage, trace) is None


def test_a_comment_tells_where_each_sub_question_was_lost() -> None:
    coverage, trace = measured(SEARCH, RANK, GRADE, prompt=(NOISE,))

    assert explain_coverage(coverage, trace) == (
        "0 of 2 core sub-questions answered; dropped by `grade`: What is the heat pump cost?; "
        "not retrieved: Which grants exist in Wales?"
    )


def test_what_no_step_dropped_was_left_out_of_the_prompt() -> None:
    coverage, trace = measured(SEARCH, prompt=(NOISE,))

    assert dropping_step(coverage.sub_questions[0], coverage, trace) is None
    assert "retrieved, then left out of the prompt: What is the heat pump cost?" in explain_coverage(coverage, trace)


def test_what_the_model_was_shown_is_not_called_dropped() -> None:
    coverage, trace = measured(SEARCH, prompt=(COST, NOISE))

    assert "in the prompt, not used: What is the heat pump cost?" in explain_coverage(coverage, trace)


def test_of_redacted_results_sub_questions_are_counted_and_no_step_is_named() -> None:
    said = explain_coverage(*measured(SEARCH, RANK, GRADE, prompt=(NOISE,), redact=True))

    assert said == "0 of 2 core sub-questions answered; dropped by a step: 1; not retrieved: 1"


def test_a_comment_is_bounded() -> None:
    many = tuple(SubQuestion(f"Which grants exist in the town of number {number}?", role="core") for number in range(100))
    trace = Trace(question=Question("heat pump?"), sub_questions=many, steps=(SEARCH,), answer=NOISE.text)
    (result,) = evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer())).results

    assert result.coverage is not None
    assert len(explain_coverage(result.coverage, result.trace)) == 1000


def test_without_core_sub_questions_there_is_nothing_to_tell() -> None:
    asked = (SubQuestion("What is the heat pump cost?", role="background"),)
    trace = Trace(question=Question("heat pump?"), sub_questions=asked, answer=NOISE.text)
    (result,) = evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer())).results

    assert result.coverage is not None
    assert explain_coverage(result.coverage, result.trace) == ""
