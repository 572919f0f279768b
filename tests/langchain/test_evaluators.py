"""The evaluators: what each scores, what it says, and how it says that there is no score."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import BaseModel

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langsmith.evaluation import EvaluationResult, run_evaluator

from rag_cover import ComplexityMeasure, CoverageMeasure, Passage, RetrievalStep, SubQuestion, Trace, UtilityMeasure
from rag_cover.backends import ScoringItem
from rag_cover.coverage import RATING_WEIGHTS, CoverageResult
from rag_cover.errors import BackendNotFoundError, InvalidValueError, ModelFailedError
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedEntailer, ScriptedReceiver, ScriptedScorer
from rag_cover_langchain.evaluators import (
    CoverageRatingEvaluator,
    GroundednessEvaluator,
    RetrievalComplexityEvaluator,
    RetrievalUtilityEvaluator,
    SubQuestionCoverageEvaluator,
)
from rag_cover_langchain.trace_evaluators import TraceEvaluator
from rag_cover_langchain.traces import trace_of
from tests.langchain.parts import ScriptedChatModel

QUESTION = "Is a heat pump worth it?"
COST, HEAT = SubQuestion("What does a pump cost?", role="core"), SubQuestion("How much heat is lost?", role="core")
NOISE = SubQuestion("Who invented it?", role="background")
ANSWER = "A pump will cost 12,000 euros."
PASSAGES = ["A pump will cost 12,000 euros.", "Cincinnati is a city in Ohio."]


def coverage(**options: Any) -> SubQuestionCoverageEvaluator:
    return SubQuestionCoverageEvaluator(judge=KeywordScorer(), **options)


def rating(**options: Any) -> CoverageRatingEvaluator:
    return CoverageRatingEvaluator(judge=KeywordScorer(), **options)


def utility(**options: Any) -> RetrievalUtilityEvaluator:
    receiver = ScriptedReceiver({"12,000": ("12,000 euros",)}, prior=("I do not know.",))
    return RetrievalUtilityEvaluator(receiver=receiver, entailer=KeywordEntailer(), **options)


def everything() -> list[TraceEvaluator]:
    grounded = GroundednessEvaluator(entailer=KeywordEntailer())
    return [coverage(), rating(), grounded, utility(), RetrievalComplexityEvaluator(judge=KeywordScorer())]


class BrokenJudge:
    """A judge whose server is gone."""

    threshold = 0.5
    fingerprint = "broken"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        raise self.error


class TestCoverage:
    def test_its_score_is_the_share_of_core_sub_questions_that_the_answer_covers(self) -> None:
        feedback = coverage()(
            inputs={"question": QUESTION},
            outputs={"answer": ANSWER, "context": [Document(text) for text in PASSAGES]},
            reference_outputs={"sub_questions": [COST, HEAT, NOISE]},
        )

        assert (feedback["key"], feedback["score"]) == ("coverage", 0.5)
        assert feedback["comment"] == (
            "The answer covers 1 of 2 core sub-questions.\nLost: How much heat is lost? (not retrieved)"
        )

    def test_its_comment_says_that_the_answer_declines(self) -> None:
        feedback = coverage()(inputs=QUESTION, outputs="I'm sorry, but I do not know.", sub_questions=[COST])

        assert (feedback["score"], str(feedback["comment"]).splitlines()[-1]) == (0.0, "The answer declines to answer.")

    def test_its_metadata_tell_where_each_was_lost_who_judged_and_the_whole_result(self) -> None:
        feedback = coverage()(inputs=QUESTION, outputs="It depends.", context=PASSAGES, sub_questions=[COST, NOISE])

        metadata = feedback["metadata"]
        assert metadata["sub_questions"] == [
            {"text": COST.text, "role": "core", "covered": False, "lost": "in the prompt, not used"},
            {"text": NOISE.text, "role": "background", "covered": False, "lost": "not retrieved"},
        ]
        assert metadata["judge"] == KeywordScorer().fingerprint
        assert CoverageResult.from_dict(metadata["result"]).core_coverage == 0.0
        assert "passing" not in metadata

    def test_sub_questions_of_a_dataset_are_texts_or_have_roles(self) -> None:
        known = {"sub_questions": [COST.text, {"text": HEAT.text, "role": "follow-up"}]}

        feedback = coverage()(inputs=QUESTION, outputs=ANSWER, reference_outputs=json.loads(json.dumps(known)))

        assert feedback["score"] == 1.0

    @pytest.mark.parametrize("outputs", ["", {"answer": ""}, {"output": AIMessage("")}, AIMessage(""), {"answer": " "}])
    def test_a_blank_answer_covers_nothing(self, outputs: Any) -> None:
        feedback = coverage()(inputs=QUESTION, outputs=outputs, sub_questions=[COST])

        assert feedback["score"] == 0.0

    def test_a_model_that_calls_a_tool_has_not_answered(self) -> None:
        calling = AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}])

        assert coverage()(inputs=QUESTION, outputs={"output": calling}, sub_questions=[COST])["score"] is None

    def test_a_question_without_core_sub_questions_has_no_coverage(self) -> None:
        feedback = coverage(fail_under=0.5)(inputs=QUESTION, outputs=ANSWER, sub_questions=[NOISE])

        assert feedback["score"] is None
        assert str(feedback["comment"]).startswith("none of its 1 sub-questions is core; give some")
        assert feedback["metadata"]["invalid"] is True
        assert "result" in feedback["metadata"]
        assert "passing" not in feedback["metadata"]

    def test_a_chat_model_splits_questions(self) -> None:
        model = ScriptedChatModel(
            script={
                QUESTION: '{"sub_questions": ["What does a pump cost?", "How loud is a pump?"], '
                '"types": [{"number": 1, "type": "core"}, {"number": 2, "type": "background"}]}'
            }
        )

        feedback = coverage(generator=model)(inputs=QUESTION, outputs=ANSWER, context=PASSAGES)

        assert [each["text"] for each in feedback["metadata"]["sub_questions"]] == [COST.text, "How loud is a pump?"]


class TestRating:
    def test_its_score_weighs_core_for_background_half_and_follow_up_against(self) -> None:
        later = SubQuestion("Where is Ohio?", role="follow-up")
        answer = f"{ANSWER} Ada invented it. Ohio is there."

        feedback = rating()(inputs=QUESTION, outputs=answer, sub_questions=[COST, HEAT, NOISE, later])

        assert feedback["score"] == 1 * 0.5 + 0.5 * 1 - 1 * 1
        assert feedback["comment"] == (
            "The answer covers 1 of 2 core sub-questions (all: +1), 1 of 1 background sub-question (all: +0.5), "
            "1 of 1 follow-up sub-question (all: -1)."
        )

    def test_it_is_the_rating_that_the_measure_holds(self) -> None:
        measure = CoverageMeasure(weights={**RATING_WEIGHTS, "core": 3.0})  # type: ignore[dict-item]

        feedback = rating(measure=measure, fail_under=3)(inputs=QUESTION, outputs=ANSWER, sub_questions=[COST])

        assert feedback["score"] == 3.0
        assert feedback["metadata"]["result"]["rating"] == 3.0
        assert feedback["metadata"]["passing"] is True

    def test_sub_questions_without_a_role_have_no_rating(self) -> None:
        untyped = CoverageMeasure(untyped="leave")
        feedback = rating(measure=untyped)(inputs=QUESTION, outputs=ANSWER, sub_questions=[{"text": COST.text}])

        assert feedback["score"] is None
        assert str(feedback["comment"]).startswith("none of its 1 sub-questions has a role")

    def test_limits_are_those_of_the_weights(self) -> None:
        rating(fail_under=1.5)

        with pytest.raises(InvalidValueError, match="give a number from -1 to 1.5"):
            rating(fail_under=1.6)


class TestGroundedness:
    def test_its_score_is_the_share_of_sentences_that_the_documents_support(self) -> None:
        answer = f"{ANSWER} The moon is made of green cheese."

        feedback = GroundednessEvaluator(entailer=KeywordEntailer())(inputs=QUESTION, outputs=answer, context=PASSAGES)

        assert (feedback["key"], feedback["score"]) == ("groundedness", 0.5)
        assert str(feedback["comment"]).endswith("Not supported: The moon is made of green cheese.")

    def test_an_answer_that_claims_nothing_has_no_groundedness(self) -> None:
        feedback = GroundednessEvaluator(entailer=KeywordEntailer())(inputs=QUESTION, outputs="Which?", context=PASSAGES)

        assert (feedback["score"], feedback["comment"]) == (None, "the answer has no sentence that claims anything")


class TestUtility:
    def test_its_score_is_how_far_the_documents_moved_the_belief_in_the_gold_answer(self) -> None:
        feedback = utility()(inputs="How much is it?", context=PASSAGES, reference_outputs={"answer": "12,000 euros"})

        assert (feedback["key"], feedback["score"]) == ("delta_seper", 1.0)
        assert feedback["metadata"]["result"]["references"] == "gold"

    def test_each_call_of_an_agents_tool_is_a_step(self) -> None:
        calls = [{"name": "search", "args": {"query": query}, "id": query} for query in ("city", "cost")]
        found = dict(zip(("city", "cost"), reversed(PASSAGES), strict=True))
        messages = [
            HumanMessage("How much is it?"),
            AIMessage("", tool_calls=calls),
            *(ToolMessage("…", tool_call_id=query, artifact=[Document(text)]) for query, text in found.items()),
            AIMessage("12,000 euros"),
        ]

        feedback = utility()(inputs="How much is it?", outputs={"messages": messages}, reference_outputs="12,000 euros")

        steps = feedback["metadata"]["result"]["steps"]
        assert feedback["score"] == 1.0
        assert [(step["query"], step["marginal"]["value"]) for step in steps] == [("city", 0.0), ("cost", 1.0)]

    def test_without_a_gold_answer_the_answer_stands_in_and_the_comment_says_so(self) -> None:
        feedback = utility()(inputs="How much is it?", outputs="12,000 euros", context=PASSAGES)

        assert feedback["score"] == 1.0
        assert str(feedback["comment"]).endswith("self-consistency, not correctness.")

    def test_what_an_example_says_of_other_things_is_no_gold_answer(self) -> None:
        evaluator = utility(references="gold")

        feedback = evaluator(inputs="How much is it?", context=PASSAGES, reference_outputs={"source": "wiki"})

        assert feedback["comment"] == (
            "there is no gold answer; give reference_outputs={'answer': …}, or its text, or a list of several"
        )

    def test_a_chat_model_is_the_receiver_whose_belief_is_measured(self) -> None:
        evaluator = RetrievalUtilityEvaluator(
            receiver=ScriptedChatModel(script={"12,000": "12,000 euros"}),
            entailer=KeywordEntailer(),
            measure=UtilityMeasure(n=2),
        )

        assert evaluator(inputs="How much is it?", context=PASSAGES, reference_outputs="12,000 euros")["score"] == 1.0


class TestComplexity:
    def test_a_judge_without_a_calibration_scores_by_how_little_the_best_document_answers(self) -> None:
        evaluator = RetrievalComplexityEvaluator(judge=ScriptedScorer({(QUESTION, PASSAGES[0]): 0.75}), fail_over=0.2)

        feedback = evaluator(inputs=QUESTION, outputs=[Document(text) for text in PASSAGES])

        assert (feedback["key"], feedback["score"]) == ("retrieval_complexity", 0.25)
        assert feedback["metadata"]["passing"] is False

    def test_the_embedded_judge_scores_by_its_calibrated_probability(self) -> None:
        evaluator = RetrievalComplexityEvaluator(fail_over=0.5)

        easy, hard = (
            evaluator(inputs="Who directed Jaws?", outputs={"documents": texts})
            for texts in (
                ["Jaws is a 1975 film directed by Steven Spielberg."],
                ["Jaws is a 1975 film.", "Steven Spielberg was born in Cincinnati."],
            )
        )

        assert easy["score"] == easy["metadata"]["result"]["probability"]
        assert easy["metadata"]["passing"]
        assert (hard["score"] or 0) > (easy["score"] or 0)

    def test_where_nothing_was_retrieved_no_complexity_is_known(self) -> None:
        feedback = RetrievalComplexityEvaluator(judge=KeywordScorer())(inputs=QUESTION, outputs={"context": []})

        assert feedback["score"] is None
        assert feedback["comment"] == "nothing was retrieved by which the complexity of the question could be judged"


class TestMissing:
    def test_what_is_missing_is_named_with_how_to_give_it(self) -> None:
        comments = [evaluator(inputs=QUESTION)["comment"] for evaluator in everything()]

        answer = "there is no answer; give outputs={'answer': …}, its text, or messages"
        contexts = "there are no contexts; give outputs={'context': […]} (documents or texts), context=[…], steps=… or trace=…"
        either = "reference_outputs={'answer': …} or outputs={'answer': …}"
        gold = f"there is no gold answer, and no answer to stand in for it; give {either}"
        assert comments == [answer, answer, f"{answer}; {contexts}", f"{contexts}; {gold}", contexts]

    @pytest.mark.parametrize(
        ("told", "reason"),
        [
            ({"outputs": ANSWER}, "the question is missing; give inputs={'question': …}, or its text"),
            ({"inputs": {"question": " "}, "outputs": ANSWER}, "the question is blank"),
            ({"inputs": 5, "outputs": ANSWER}, "the question is missing"),
            ({"inputs": QUESTION, "outputs": {}}, "there is no answer"),
            ({"inputs": QUESTION, "outputs": ANSWER, "context": [1.5]}, "contexts holds a float; give the passages' texts"),
            ({"inputs": QUESTION, "outputs": ANSWER, "context": 7}, "contexts is a int; give a list"),
            ({"inputs": QUESTION, "outputs": ANSWER, "subquestions": ["Why?"]}, "did you mean 'sub_questions'?"),
            ({"inputs": QUESTION, "outputs": ANSWER, "Contexts": ["…"]}, "did you mean 'contexts'?"),
            ({"inputs": QUESTION, "outputs": ANSWER, "references": [{}]}, "reference is a dict, not a text"),
            ({"inputs": QUESTION, "outputs": ANSWER, "sub_questions": [{"texte": "?"}]}, "Did you mean 'text'?"),
        ],
    )
    def test_what_cannot_be_read_is_named_and_no_model_is_asked(self, told: dict[str, Any], reason: str) -> None:
        judge = KeywordScorer()

        feedback = SubQuestionCoverageEvaluator(judge=judge)(**told)

        assert feedback["score"] is None
        assert reason in str(feedback["comment"])
        assert feedback["metadata"] == {"invalid": True, "reason": feedback["comment"]}
        assert judge.asked.calls == 0

    def test_a_model_that_is_not_there_is_opened_only_when_it_is_needed(self) -> None:
        evaluator = SubQuestionCoverageEvaluator(judge="embedded:nobody")

        missing, needed = evaluator(inputs=QUESTION), evaluator(inputs=QUESTION, outputs=ANSWER)

        assert str(missing["comment"]).startswith("there is no answer")
        assert str(needed["comment"]).startswith("there is no folder nobody with a judge")
        assert needed["metadata"]["failure"]["kind"] == "InvalidValueError"

    def test_a_model_that_nobody_offers_is_refused_at_once(self) -> None:
        with pytest.raises(BackendNotFoundError, match="No backend is called 'opnai'. Did you mean 'openai'?"):
            SubQuestionCoverageEvaluator(judge="opnai:small")


class TestFailures:
    def test_a_judge_that_fails_leaves_no_score_and_says_why(self) -> None:
        judge = BrokenJudge(ModelFailedError("the server is gone", kind="timeout", attempts=3))

        feedback = SubQuestionCoverageEvaluator(judge=judge)(inputs=QUESTION, outputs=ANSWER, sub_questions=[COST])

        assert (feedback["score"], feedback["comment"]) == (None, "the server is gone (timeout)")
        assert feedback["metadata"]["failure"] == {
            "kind": "timeout",
            "message": "the server is gone",
            "attempts": 3,
            "raw": None,
        }

    def test_a_judge_with_a_bug_leaves_no_score_either(self) -> None:
        broken = SubQuestionCoverageEvaluator(judge=BrokenJudge(ZeroDivisionError("by zero")))

        assert broken(inputs=QUESTION, outputs=ANSWER, sub_questions=[COST])["comment"] == "by zero (ZeroDivisionError)"

    def test_an_entailer_that_returns_no_probability_leaves_no_score(self) -> None:
        evaluator = GroundednessEvaluator(entailer=ScriptedEntailer(default=float("nan")))

        assert evaluator(inputs=QUESTION, outputs="A boat costs three euros.", context=PASSAGES)["score"] is None

    def test_arguments_that_cannot_serve_are_refused_when_they_are_given(self) -> None:
        unfit: Any = object()
        makes: list[Callable[[], object]] = [
            lambda: coverage(fail_under=1.5),
            lambda: utility(fail_under=-1.1),
            lambda: GroundednessEvaluator(fail_under=-0.1),
            lambda: RetrievalComplexityEvaluator(fail_over=float("nan")),
            lambda: RetrievalComplexityEvaluator(measure=ComplexityMeasure(t_ans=2)),
            lambda: SubQuestionCoverageEvaluator(judge=unfit),
            lambda: CoverageRatingEvaluator(decomposer=unfit),
            lambda: RetrievalUtilityEvaluator(references=unfit),
        ]

        for make in makes:
            with pytest.raises(InvalidValueError):
                make()


@dataclass
class State:
    """The state of a graph."""

    question: str
    documents: list[Document]
    answer: str | None = None


class Stated(BaseModel):
    """A state that is checked."""

    question: str
    context: list[str]
    answer: str


class TestForms:
    @pytest.mark.parametrize(
        "outputs",
        [
            State(QUESTION, [Document(PASSAGES[0])], ANSWER),
            Stated(question=QUESTION, context=PASSAGES[:1], answer=ANSWER),
            {"question": QUESTION, "documents": [{"page_content": PASSAGES[0], "metadata": {}}], "answer": ANSWER},
            {"input": QUESTION, "context": PASSAGES[0], "answer": AIMessage(ANSWER)},
            {"query": QUESTION, "result": ANSWER, "source_documents": [Document(PASSAGES[0])]},
            {"messages": [HumanMessage(QUESTION), AIMessage(ANSWER)], "context": [Document(PASSAGES[0])]},
            [("user", QUESTION), ToolMessage(PASSAGES[0], tool_call_id="1"), AIMessage(ANSWER)],
        ],
    )
    def test_the_state_that_a_pipeline_ends_in_tells_all_there_is(self, outputs: Any) -> None:
        trace = trace_of(None, outputs, None, {})

        assert (trace.question.text, trace.answer) == (QUESTION, ANSWER)
        assert [passage.text for passage in trace.chunks] == PASSAGES[:1]

    def test_the_question_that_a_state_still_holds_is_no_answer(self) -> None:
        for inputs in (None, QUESTION, {"question": QUESTION}):
            assert trace_of(inputs, {"question": QUESTION, "documents": [Document("…")]}, None, {}).answer is None
            assert trace_of(inputs, State(QUESTION, []), None, {}).answer is None

    @pytest.mark.parametrize(
        ("reference_outputs", "gold"),
        [
            ("12,000", ("12,000",)),
            (12_000, ("12000",)),
            (["12,000", "12k"], ("12,000", "12k")),
            (AIMessage("12,000"), ("12,000",)),
            ({"answer": "12,000"}, ("12,000",)),
            ({"answers": ["12,000", "12k"], "sub_questions": ["How much?"]}, ("12,000", "12k")),
            ({"output": {"answer": "12,000"}}, ("12,000",)),
            ({"messages": [{"role": "assistant", "content": "12,000"}]}, ("12,000",)),
            ({"answer": None, "expected": 12_000}, ("12000",)),
            ({}, ()),
            ({"source": "wiki"}, ()),
            (None, ()),
        ],
    )
    def test_gold_answers_in_every_form(self, reference_outputs: Any, gold: tuple[str, ...]) -> None:
        assert trace_of(QUESTION, ANSWER, reference_outputs, {}).question.references == gold

    def test_what_the_caller_says_comes_before_what_the_example_and_the_outputs_say(self) -> None:
        told = {"reference": "gold", "sub_questions": ["Why?"], "context": ["one"]}

        trace = trace_of(QUESTION, {"answer": ANSWER, "context": ["two"]}, {"answer": "other", "sub_questions": []}, told)

        assert trace.question.references == ("gold",)
        assert [each.text for each in trace.sub_questions or ()] == ["Why?"]
        assert [passage.text for passage in trace.chunks] == ["one"]


class TestConventions:
    def test_every_parameter_is_by_name_and_named_as_hosts_name_them(self) -> None:
        for function in (coverage(), coverage().aevaluate):
            parameters = inspect.signature(function).parameters

            assert [*parameters] == ["inputs", "outputs", "reference_outputs", "kwargs"]
            assert all(each.kind in (each.KEYWORD_ONLY, each.VAR_KEYWORD) for each in parameters.values())

    def test_langsmith_takes_one_for_an_evaluator_as_it_is_and_as_a_function(self) -> None:
        evaluator: Any = coverage()  # functions of keywords alone are beyond LangSmith's own types

        assert evaluator.feedback_keys == ["coverage"]
        assert run_evaluator(evaluator.__call__).is_async is False
        assert run_evaluator(evaluator.aevaluate).is_async is True

    def test_the_asynchronous_twin_says_the_same(self) -> None:
        told: dict[str, Any] = {"inputs": QUESTION, "outputs": ANSWER, "context": PASSAGES, "sub_questions": [COST, HEAT]}

        assert asyncio.run(coverage().aevaluate(**told)) == coverage()(**told)

    def test_feedback_fits_langsmiths_result_which_refuses_what_it_does_not_know(self) -> None:
        for evaluator in everything():
            assert EvaluationResult(**evaluator(inputs=QUESTION)).score is None

    def test_a_trace_is_measured_as_it_is_and_lacks_are_filled_in(self) -> None:
        trace = Trace(question=QUESTION, steps=(RetrievalStep(passages=(Passage(PASSAGES[0], id="p1"),)),))

        feedback = coverage()(outputs=ANSWER, trace=trace, sub_questions=["What does a pump cost?"])

        assert feedback["score"] == 1.0
        assert feedback["metadata"]["result"]["chunk_keys"] == ["id:p1"]

    def test_a_given_trace_says_itself_what_was_retrieved(self) -> None:
        known = Trace(question=QUESTION, steps=(RetrievalStep(passages=(Passage("one"),)),))

        trace = trace_of(QUESTION, {"answer": ANSWER, "context": ["two"]}, None, {"trace": known})

        assert (trace.answer, trace.steps, trace.prompt) == (ANSWER, known.steps, None)

    def test_halves_of_characters_are_replaced_so_that_feedback_can_be_sent(self) -> None:
        feedback = coverage()(inputs=QUESTION, outputs=ANSWER, sub_questions=[SubQuestion("Cost \ud83d?", role="core")])

        assert json.dumps(feedback, ensure_ascii=False).encode()

    @given(
        inputs=st.none() | st.text(max_size=20) | st.integers() | st.dictionaries(st.text(max_size=8), st.text(max_size=8)),
        outputs=st.none()
        | st.text(max_size=30)
        | st.floats()
        | st.lists(st.text(max_size=5) | st.none() | st.dictionaries(st.just("role"), st.text(max_size=5)), max_size=3)
        | st.fixed_dictionaries(
            {},
            optional={
                "answer": st.none() | st.text(max_size=20) | st.integers(),
                "context": st.none() | st.text(max_size=20) | st.lists(st.text(max_size=9) | st.none(), max_size=2),
                "messages": st.none() | st.lists(st.just(("user", "Why?")) | st.just(ToolMessage("t", tool_call_id="1"))),
            },
        ),
        reference_outputs=st.none()
        | st.text(max_size=10)
        | st.integers()
        | st.fixed_dictionaries(
            {},
            optional={
                "answer": st.none() | st.text(max_size=10) | st.lists(st.integers() | st.none(), max_size=2),
                "sub_questions": st.none() | st.integers() | st.lists(st.text(max_size=10), max_size=2),
            },
        ),
        further=st.fixed_dictionaries(
            {},
            optional={
                "context": st.none() | st.dictionaries(st.just("documents"), st.lists(st.text(max_size=9)), max_size=1),
                "steps": st.none() | st.lists(st.integers() | st.just({"query": "q", "passages": ["p"]}), max_size=2),
                "trace": st.none() | st.integers() | st.just({"question": "Why?", "answer": "So."}),
            },
        ),
    )
    def test_whatever_is_given_there_is_a_score_or_a_reason_and_it_can_be_written(
        self, inputs: object, outputs: object, reference_outputs: object, further: dict[str, Any]
    ) -> None:
        for evaluator in everything():
            feedback = evaluator(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs, **further)

            assert [*feedback] == ["key", "score", "comment", "metadata"]
            assert (feedback["score"] is None) == ("invalid" in feedback["metadata"])
            assert feedback["comment"]
            assert feedback["score"] is None or -1 <= feedback["score"] <= 1.5
            assert json.loads(json.dumps(feedback, allow_nan=False)) == feedback
