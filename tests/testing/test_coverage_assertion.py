"""An answer is held against its sub-questions, whatever it comes as; a failure says what is missing and where it was lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem
from rag_cover.errors import InputError, InvalidValueError, ModelFailedError
from rag_cover.evaluation import evaluate
from rag_cover.questions import Passage
from rag_cover.registry import Models
from rag_cover.testing import KeywordScorer, ScriptedScorer, assert_covers
from rag_cover.testing.coverage_assertion import CheckedAnswer, Requirements, observe_assertions
from rag_cover.traces import RetrievalStep, Trace

PARTS = ["How long is the warranty?", "Why do leaves turn yellow?"]
QUESTION = "How long is the warranty, and why do leaves turn yellow?"
LEAVES = "Leaves turn yellow since chlorophyll breaks down, and why is that?"
SAID = "The warranty is two years long, that is how long."
JUDGE = KeywordScorer(threshold=0.6)


def _trace(answer: str | None = SAID) -> Trace:
    return Trace(question=QUESTION, steps=(RetrievalStep(id="search", passages=(Passage(LEAVES),)),), answer=answer)


def test_an_answer_that_covers_everything_passes_and_returns_what_was_measured() -> None:
    result = assert_covers(_trace(f"{SAID} {LEAVES}"), sub_questions=PARTS, judge=JUDGE)

    assert result.coverage is not None
    assert result.coverage.core_coverage == 1.0


def test_a_failure_says_what_is_missing_by_which_verdict_where_it_was_lost_and_in_which_passage() -> None:
    with pytest.raises(AssertionError) as failed:
        assert_covers(_trace(), sub_questions=PARTS, judge=JUDGE)

    said = str(failed.value)
    assert "covers 1 of 2 core sub-questions (50%); at least 100% are required" in said
    assert "missing: Why do leaves turn yellow?" in said
    assert "verdict: not covered, P = 0.00, below 0.60" in said
    assert "lost: in the prompt, not used" in said
    assert f"passage: P = 1.00, {LEAVES!r}" in said
    assert PARTS[0] not in said.replace(QUESTION, "")


class _NearScorer(KeywordScorer):
    """Gives every pair a probability that two digits do not tell from the threshold."""

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        return np.full(len(items), self.threshold - 0.0004, dtype=np.float32)


def test_a_probability_just_below_the_cut_is_told_with_the_digits_that_show_it() -> None:
    with pytest.raises(AssertionError, match=r"P = 0\.5996, below 0\.6000"):
        assert_covers(_trace(), sub_questions=PARTS, judge=_NearScorer(threshold=0.6))


def test_a_share_just_below_the_minimum_is_told_with_the_digits_that_show_it() -> None:
    with pytest.raises(AssertionError, match=r"\(50\.0%\); at least 50\.4% are required"):
        assert_covers(_trace(), sub_questions=PARTS, judge=JUDGE, min_core_coverage=0.504)


def test_a_lower_minimum_lets_a_part_be_left_out() -> None:
    assert_covers(_trace(), sub_questions=PARTS, judge=JUDGE, min_core_coverage=0.5)


def test_without_an_answer_coverage_is_undefined_and_that_fails() -> None:
    with pytest.raises(AssertionError, match=r"undefined: there is no answer; give one"):
        assert_covers(_trace(None), sub_questions=PARTS, judge=JUDGE, min_core_coverage=0.0)


def test_sentences_that_no_passage_supports_are_quoted() -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    said = "Leaves turn yellow because chlorophyll breaks down. The warranty was signed by a king of Mars."

    with pytest.raises(AssertionError) as failed:
        assert_covers(
            said,
            question=PARTS[1],
            contexts=["Leaves turn yellow because chlorophyll breaks down."],
            sub_questions=PARTS[1:],
            max_unsupported=0,
        )

    assert "No passage supports 1 of the answer's 2 sentences; at most 0 may be so." in str(failed.value)
    assert "not found: The warranty was signed by a king of Mars." in str(failed.value)


def test_statements_are_asked_for_as_nuggets() -> None:
    pytest.importorskip("rag_cover_embedded.judge")

    with pytest.raises(AssertionError, match=r"states 1 of 2 vital nuggets \(50%\)"):
        assert_covers(
            "A heat pump costs 12,000 euros.",
            question="What does a heat pump cost?",
            nuggets=["A heat pump costs 12,000 euros.", "The state pays 30 percent of the costs."],
        )


@pytest.mark.parametrize(
    "answer",
    [
        _trace(LEAVES),
        _trace(LEAVES).to_dict(),
        {"question": QUESTION, "answer": LEAVES, "contexts": [LEAVES]},
        {"input": QUESTION, "answer": LEAVES},
        {"user_input": QUESTION, "response": LEAVES, "retrieved_contexts": [LEAVES]},
    ],
    ids=["trace", "dict", "table row", "chain result", "ragas"],
)
def test_an_answer_may_come_as_a_trace_or_a_mapping(answer: object) -> None:
    result = assert_covers(answer, sub_questions=PARTS[1:], judge=JUDGE)

    assert (result.trace.question.text, result.trace.answer) == (QUESTION, LEAVES)


def test_a_text_is_an_answer_to_a_question_that_is_given_and_may_bring_its_contexts() -> None:
    result = assert_covers(LEAVES, question=QUESTION, contexts=[LEAVES], sub_questions=PARTS[1:], judge=JUDGE)

    assert result.trace.prompt == (Passage(LEAVES),)


def test_an_evaluation_of_one_trace_gives_that_trace() -> None:
    evaluation = evaluate([_trace(LEAVES)], measures=["coverage"], models=Models(judge=JUDGE))

    assert assert_covers(evaluation, sub_questions=PARTS[1:], judge=JUDGE).trace.answer == LEAVES
    assert assert_covers(evaluation.results[0], sub_questions=PARTS[1:], judge=JUDGE).trace.answer == LEAVES
    with pytest.raises(InputError, match="this holds 2"):
        assert_covers(evaluate([_trace(), _trace(LEAVES)], measures=["coverage"], models=Models(judge=JUDGE)))


def test_a_response_of_llama_index_brings_its_nodes() -> None:
    schema = pytest.importorskip("llama_index.core.schema")
    response = pytest.importorskip("llama_index.core.base.response.schema")
    found = schema.NodeWithScore(node=schema.TextNode(text=LEAVES))

    given = assert_covers(response.Response(LEAVES, [found]), question=QUESTION, sub_questions=PARTS[1:], judge=JUDGE)
    paired = assert_covers((QUESTION, response.Response(LEAVES, [found])), sub_questions=PARTS[1:], judge=JUDGE)

    assert [passage.text for passage in given.trace.chunks] == [passage.text for passage in paired.trace.chunks] == [LEAVES]
    with pytest.raises(AssertionError, match="there is no answer"):
        assert_covers(response.Response(None, [found]), question=QUESTION, sub_questions=PARTS, judge=JUDGE)


def test_a_result_of_a_chain_brings_its_documents_and_a_recording_its_trace() -> None:
    documents = pytest.importorskip("langchain_core.documents")
    messages = pytest.importorskip("langchain_core.messages")
    document = documents.Document(LEAVES, metadata={"title": "Autumn"})
    result: dict[str, Any] = {"input": QUESTION, "context": [document], "answer": messages.AIMessage(LEAVES)}

    trace = assert_covers(result, sub_questions=PARTS[1:], judge=JUDGE).trace
    classic = assert_covers(
        {"query": QUESTION, "result": LEAVES, "source_documents": [document]}, sub_questions=PARTS[1:], judge=JUDGE
    ).trace

    assert (trace.answer, trace.chunks[0].title) == (LEAVES, "Autumn")
    assert (classic.answer, classic.chunks[0].text) == (LEAVES, LEAVES)


def test_a_recorded_run_of_a_chain_is_checked() -> None:
    runnables = pytest.importorskip("langchain_core.runnables")
    adapter = pytest.importorskip("rag_cover_langchain")
    chain = runnables.RunnableLambda(lambda _: LEAVES)

    with adapter.RagCoverCallbackHandler(measures=()) as handler:
        chain.invoke(QUESTION, config={"callbacks": [handler]})
        checked = assert_covers(handler, sub_questions=PARTS[1:], judge=JUDGE)

    assert (checked.trace.question.text, checked.trace.answer) == (QUESTION, LEAVES)


@pytest.mark.parametrize(
    ("answer", "given", "problem"),
    [
        (LEAVES, {}, r"does not say what was asked; give question=…"),
        ({"question": QUESTION, "answer": LEAVES}, {"question": QUESTION}, r"leave question=… out"),
        ({"answer": LEAVES}, {}, "question"),
        (17, {}, "traces are not read from|is no trace"),
        ([], {}, "is no trace|holds 0"),
    ],
    ids=["no question", "two questions", "dict without question", "number", "empty list"],
)
def test_what_cannot_be_read_is_an_input_error_and_no_failed_assertion(
    answer: object, given: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        assert_covers(answer, judge=JUDGE, **given)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"min_core_coverage": 60}, "min_core_coverage is 60; give a number from 0 to 1"),
        ({"max_unsupported": -1}, "at least 0"),
        ({"sub_questions": "Why?"}, r"give a list: sub_questions=\['Why\?'\]"),
        ({"sub_questions": ["Why?"], "nuggets": ["So."]}, "leave sub_questions or nuggets out"),
    ],
)
def test_requirements_that_no_answer_can_meet_are_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        assert_covers(_trace(), judge=JUDGE, **given)


class _Broken(ScriptedScorer):
    def correctness(self, items: Any) -> Any:
        message = f"no reply to {len(items)} items"
        raise ModelFailedError(message, kind="timeout")


def test_a_judge_that_fails_is_no_failed_assertion() -> None:
    with pytest.raises(ModelFailedError, match="no reply"):
        assert_covers(_trace(), sub_questions=PARTS, judge=_Broken())


class _Watching:
    def __init__(self) -> None:
        self.seen: list[CheckedAnswer] = []

    def defaults(self) -> Requirements:
        return Requirements(min_core_coverage=0.5, nuggets=["So."])

    def open_judge(self) -> KeywordScorer:
        return JUDGE

    def observe(self, checked: CheckedAnswer) -> None:
        self.seen.append(checked)


def test_an_observer_gives_defaults_and_is_shown_what_was_checked_for_as_long_as_it_watches() -> None:
    watching = _Watching()

    with observe_assertions(watching):
        assert_covers(_trace(), sub_questions=PARTS)
        with pytest.raises(AssertionError):
            assert_covers(_trace(), sub_questions=PARTS, min_core_coverage=0.9)
    with pytest.raises(AssertionError):
        assert_covers(_trace(), sub_questions=PARTS, judge=JUDGE)

    assert [each.problem is None for each in watching.seen] == [True, False]
