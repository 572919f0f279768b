"""The evaluators: what each scores, what it says, and how it says that there is no score."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from hypothesis import given
from hypothesis import strategies as st
from llama_index.core import PromptTemplate
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import EvaluationResult

from rag_cover import ComplexityMeasure, CoverageMeasure, Passage, RetrievalStep, SubQuestion, Trace, UtilityMeasure
from rag_cover.backends import Failure, ScoringItem
from rag_cover.coverage import Loss
from rag_cover.errors import BackendNotFoundError, InvalidValueError, ModelFailedError, UnknownOptionError
from rag_cover.testing import (
    KeywordEntailer,
    KeywordScorer,
    ScriptedEntailer,
    ScriptedGenerator,
    ScriptedReceiver,
    ScriptedScorer,
)
from rag_cover_llama_index.evaluators import (
    GroundednessEvaluator,
    RetrievalComplexityEvaluator,
    RetrievalUtilityEvaluator,
    SubQuestionCoverageEvaluator,
)
from rag_cover_llama_index.results import (
    ComplexityEvaluationResult,
    CoverageEvaluationResult,
    GroundednessEvaluationResult,
    TraceEvaluationResult,
    UtilityEvaluationResult,
)
from rag_cover_llama_index.trace_evaluators import TraceEvaluator
from tests.llama_index.parts import ScriptedLLM

QUESTION = "Is a heat pump worth it?"
COST, HEAT = SubQuestion("What does a pump cost?", role="core"), SubQuestion("How much heat is lost?", role="core")
NOISE = SubQuestion("Who invented it?", role="background")
ANSWER = "A pump will cost 12,000 euros."
PASSAGES = ["A pump will cost 12,000 euros.", "Cincinnati is a city in Ohio."]

RESULTS = {
    "coverage": CoverageEvaluationResult,
    "groundedness": GroundednessEvaluationResult,
    "utility": UtilityEvaluationResult,
    "complexity": ComplexityEvaluationResult,
}


def coverage(**options: Any) -> SubQuestionCoverageEvaluator:
    return SubQuestionCoverageEvaluator(judge=KeywordScorer(), **options)


def utility(**options: Any) -> RetrievalUtilityEvaluator:
    receiver = ScriptedReceiver({"12,000": ("12,000 euros",)}, prior=("I do not know.",))
    return RetrievalUtilityEvaluator(receiver=receiver, entailer=KeywordEntailer(), **options)


def everything() -> dict[str, TraceEvaluator[Any, Any]]:
    return {
        "coverage": coverage(),
        "groundedness": GroundednessEvaluator(entailer=KeywordEntailer()),
        "utility": utility(),
        "complexity": RetrievalComplexityEvaluator(judge=KeywordScorer()),
    }


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
        result = coverage().evaluate(QUESTION, ANSWER, PASSAGES, sub_questions=[COST, HEAT, NOISE])

        assert (result.score, result.passing, result.invalid_result) == (0.5, None, False)
        assert (result.query, result.response, result.contexts) == (QUESTION, ANSWER, PASSAGES)

    def test_what_is_lost_is_named_with_where_it_was_lost(self) -> None:
        result = coverage().evaluate(QUESTION, "Snow is cold.", PASSAGES, sub_questions=[COST, HEAT])

        assert [(each.text, each.loss) for each in result.lost] == [
            (COST.text, Loss.UNUSED),
            (HEAT.text, Loss.NOT_RETRIEVED),
        ]
        assert result.feedback == (
            "The answer covers 0 of 2 core sub-questions.\n"
            "Lost: What does a pump cost? (in the prompt, not used)\n"
            "Lost: How much heat is lost? (not retrieved)"
        )

    def test_its_feedback_says_that_the_answer_declines(self) -> None:
        result = coverage().evaluate(QUESTION, "I'm sorry, but I do not know.", PASSAGES, sub_questions=[COST])

        assert (result.score, str(result.feedback).splitlines()[-1]) == (0.0, "The answer declines to answer.")

    def test_what_a_reranker_dropped_is_told_from_steps_beside_the_contexts_that_were_left(self) -> None:
        steps = [RetrievalStep(query=QUESTION, passages=tuple(map(Passage, PASSAGES)))]

        result = coverage().evaluate(QUESTION, "Snow is cold.", PASSAGES[1:], steps=steps, sub_questions=[COST])

        assert [each.loss for each in result.lost] == [Loss.DROPPED]
        assert result.contexts == PASSAGES[1:]

    def test_without_contexts_it_is_not_known_where_a_sub_question_was_lost(self) -> None:
        result = coverage().evaluate(QUESTION, ANSWER, sub_questions=[COST, HEAT])

        assert result.score == 0.5
        assert "Lost: How much heat is lost? (where is not known: no contexts were given)" in str(result.feedback)

    def test_a_blank_answer_covers_nothing(self) -> None:
        result = coverage().evaluate(QUESTION, " ", PASSAGES, sub_questions=[COST])

        assert (result.score, result.invalid_result) == (0.0, False)

    def test_a_question_without_core_sub_questions_has_no_coverage(self) -> None:
        result = coverage(fail_under=0.5).evaluate(QUESTION, ANSWER, PASSAGES, sub_questions=[NOISE])

        assert (result.score, result.passing, result.invalid_result) == (None, None, True)
        assert result.invalid_reason == (
            "none of its 1 sub-questions is core; give some: sub_questions=[SubQuestion(…, role='core')]"
        )
        assert result.coverage is not None

    def test_sub_questions_are_made_where_none_are_given(self) -> None:
        result = coverage().evaluate("What does a pump cost and why is the sky blue?", ANSWER, PASSAGES)

        assert result.coverage is not None
        assert result.coverage.decomposed_by == "rules"
        assert str(result.feedback).endswith("Sub-questions made by rules.")

    def test_a_language_model_of_llama_index_splits_questions_and_its_prompts_can_be_changed(self) -> None:
        llm = ScriptedLLM(
            script={
                "Name the prices": '{"sub_questions": ["What does a pump cost?", "How loud is a pump?"]}',
                "only what is dear": '{"types": [{"number": 1, "type": "core"}, {"number": 2, "type": "background"}]}',
            },
        )
        evaluator = coverage(generator=llm)
        failed = evaluator.evaluate(QUESTION, ANSWER, PASSAGES)

        assert sorted(evaluator.get_prompts()) == ["decompose", "type"]
        evaluator.update_prompts(
            {
                "decompose": PromptTemplate("Name the prices, about {most}."),
                "type": PromptTemplate("Core is only what is dear."),
            }
        )
        result = evaluator.evaluate(QUESTION, ANSWER, PASSAGES)

        assert failed.invalid_result
        assert failed.failure is not None
        assert failed.failure.raw == "I do not know."
        assert result.coverage is not None
        assert [(each.text, each.role) for each in result.coverage.sub_questions] == [
            ("What does a pump cost?", "core"),
            ("How loud is a pump?", "background"),
        ]
        assert result.score == 1.0
        assert str(result.feedback).endswith("Sub-questions made by scripted.")

    def test_where_rules_split_there_are_no_prompts_and_new_ones_are_ignored(self) -> None:
        evaluator = coverage(generator=ScriptedGenerator(), decomposer="rules")

        evaluator.update_prompts({"decompose": PromptTemplate("Split.")})

        assert evaluator.get_prompts() == {}


class TestGroundedness:
    def test_its_score_is_the_share_of_sentences_that_the_contexts_support(self) -> None:
        answer = f"{ANSWER} The moon is made of green cheese."

        result = GroundednessEvaluator(entailer=KeywordEntailer()).evaluate(QUESTION, answer, PASSAGES)

        assert result.score == 0.5
        assert result.feedback == ("The passages support 1 of 2 sentences.\nNot supported: The moon is made of green cheese.")

    def test_an_answer_that_claims_nothing_has_no_groundedness(self) -> None:
        result = GroundednessEvaluator(entailer=KeywordEntailer()).evaluate(QUESTION, "Which pump?", PASSAGES)

        assert (result.score, result.invalid_reason) == (None, "the answer has no sentence that claims anything")

    def test_nothing_is_supported_by_a_retrieval_that_found_nothing(self) -> None:
        result = GroundednessEvaluator(entailer=KeywordEntailer()).evaluate(QUESTION, ANSWER, [])

        assert (result.score, result.invalid_result) == (0.0, False)


class TestUtility:
    def test_its_score_is_how_far_the_contexts_moved_the_belief_in_the_gold_answer(self) -> None:
        result = utility().evaluate("How much is it?", "Much.", PASSAGES, reference="12,000 euros")

        assert result.score == 1.0
        assert result.utility is not None
        assert result.utility.references == "gold"
        assert [step.marginal.value for step in result.utility.steps] == [1.0]
        assert "step-1 (retrieve: How much is it?): +1.00" in str(result.feedback)

    def test_every_step_of_several_has_its_own(self) -> None:
        steps = [
            RetrievalStep(query="city", passages=(Passage(PASSAGES[1]),)),
            RetrievalStep(query="cost", passages=(Passage(PASSAGES[0]),)),
        ]

        result = utility().evaluate("How much is it?", references=["12,000 euros"], steps=steps)

        assert result.utility is not None
        assert [step.marginal.value for step in result.utility.steps] == [0.0, 1.0]
        assert result.score == 1.0

    def test_without_a_gold_answer_the_answer_stands_in_and_the_feedback_says_so(self) -> None:
        result = utility().evaluate("How much is it?", "12,000 euros", PASSAGES)

        assert result.score == 1.0
        assert str(result.feedback).endswith("Measured against the answer itself: self-consistency, not correctness.")

    def test_gold_answers_only_takes_no_other(self) -> None:
        result = utility(references="gold").evaluate("How much is it?", "12,000 euros", PASSAGES)

        assert result.invalid_reason == "there is no gold answer; give reference=… (one) or references=… (several)"

    def test_the_answer_only_takes_it_before_a_gold_answer(self) -> None:
        evaluators = [utility(references="answer"), utility(measure=UtilityMeasure(references="answer"))]

        results = [each.evaluate("How much is it?", "12,000 euros", PASSAGES, reference="Ada") for each in evaluators]

        assert [result.score for result in results] == [1.0, 1.0]

    def test_how_it_is_measured_is_the_measures(self) -> None:
        evaluator = utility(measure=UtilityMeasure(n=3, per_passage="leave-one-out"))

        result = evaluator.evaluate("How much is it?", contexts=PASSAGES, reference="12,000 euros")

        assert result.utility is not None
        assert result.utility.total.prior.n == 3
        assert [passage.value for passage in result.utility.steps[0].passages] == [1.0, 0.0]


class TestComplexity:
    def test_a_judge_without_a_calibration_scores_by_how_little_the_best_passage_answers(self) -> None:
        judge = ScriptedScorer({(QUESTION, PASSAGES[0]): 0.75})

        result = RetrievalComplexityEvaluator(judge=judge).evaluate(QUESTION, contexts=PASSAGES)

        assert result.score == 0.25
        assert "No P(complex) was fitted for this judge" in str(result.feedback)

    def test_the_embedded_judge_scores_by_its_calibrated_probability(self) -> None:
        question, passages = "Who directed Jaws?", ["Jaws is a 1975 film directed by Steven Spielberg."]
        evaluator = RetrievalComplexityEvaluator(fail_over=0.5)

        easy = evaluator.evaluate(question, contexts=passages)
        hard = evaluator.evaluate(question, contexts=["Jaws is a 1975 film.", "Steven Spielberg was born in Cincinnati."])

        assert easy.complexity is not None
        assert easy.score == easy.complexity.probability
        assert easy.passing
        assert str(easy.feedback).startswith("Answerable: the best passage answers with probability")
        assert hard.score is not None
        assert hard.score > (easy.score or 0)

    def test_where_nothing_was_retrieved_no_complexity_is_known(self) -> None:
        result = RetrievalComplexityEvaluator(judge=KeywordScorer()).evaluate(QUESTION, contexts=[])

        assert (result.score, result.invalid_result) == (None, True)
        assert result.complexity is not None


class TestModelsOfLlamaIndex:
    def test_a_language_model_is_the_receiver_whose_belief_is_measured(self) -> None:
        receiver = ScriptedLLM(script={"12,000": "12,000 euros"})
        evaluator = RetrievalUtilityEvaluator(receiver=receiver, entailer=KeywordEntailer(), measure=UtilityMeasure(n=2))

        result = evaluator.evaluate("How much is it?", contexts=PASSAGES, reference="12,000 euros")

        assert result.score == 1.0
        assert result.utility is not None
        assert [answer.text for answer in result.utility.prior.answers] == ["I do not know."] * 2

    def test_a_language_model_judges_and_what_it_wrote_instead_is_kept(self) -> None:
        result = SubQuestionCoverageEvaluator(judge=ScriptedLLM()).evaluate(QUESTION, ANSWER, PASSAGES, sub_questions=[COST])

        assert result.invalid_result
        assert result.failure is not None
        assert (result.failure.kind, result.failure.raw) == ("malformed", "I do not know.")


class TestThresholds:
    def test_a_score_passes_from_fail_under_on(self) -> None:
        given_half = {"sub_questions": [COST, HEAT]}

        passing = [coverage(fail_under=at).evaluate(QUESTION, ANSWER, PASSAGES, **given_half).passing for at in (0.5, 0.51)]

        assert passing == [True, False]

    def test_harmful_retrieval_can_be_told_to_fail(self) -> None:
        result = utility(fail_under=0.0).evaluate("How much is it?", contexts=PASSAGES, reference="I do not know.")

        assert (result.score, result.passing) == (-1.0, False)

    def test_complexity_fails_above_its_limit_since_lower_is_easier(self) -> None:
        judge = ScriptedScorer({(QUESTION, PASSAGES[0]): 0.75})

        passing = [
            RetrievalComplexityEvaluator(judge=judge, fail_over=at).evaluate(QUESTION, contexts=PASSAGES).passing
            for at in (0.2, 0.25)
        ]

        assert passing == [False, True]

    def test_limits_that_no_score_can_reach_are_refused_when_they_are_given(self) -> None:
        for make in (
            lambda: coverage(fail_under=1.5),
            lambda: GroundednessEvaluator(fail_under=-0.1),
            lambda: utility(fail_under=-1.1),
            lambda: RetrievalComplexityEvaluator(fail_over=float("nan")),
        ):
            with pytest.raises(InvalidValueError, match="give a number from -?[01] to 1"):
                make()

    def test_arguments_that_cannot_serve_are_refused_when_they_are_given(self) -> None:
        unfit: Any = object()
        for make in (
            lambda: SubQuestionCoverageEvaluator(judge=unfit),
            lambda: SubQuestionCoverageEvaluator(decomposer=unfit),
            lambda: GroundednessEvaluator(entailer=unfit),
            lambda: RetrievalUtilityEvaluator(receiver=unfit),
            lambda: RetrievalUtilityEvaluator(references=unfit),
            lambda: RetrievalComplexityEvaluator(relevance=unfit),
            lambda: RetrievalComplexityEvaluator(measure=ComplexityMeasure(t_ans=2)),
            lambda: SubQuestionCoverageEvaluator(measure=CoverageMeasure(threshold=2)),
        ):
            with pytest.raises(InvalidValueError):
                make()


class TestMissing:
    @pytest.mark.parametrize(
        ("given_arguments", "reason"),
        [
            ({"response": ANSWER, "contexts": PASSAGES}, "the query is missing"),
            ({"query": "  ", "response": ANSWER, "contexts": PASSAGES}, "the query is blank"),
            ({"query": 5, "response": ANSWER, "contexts": PASSAGES}, "query is a int, not a text"),
            ({"query": QUESTION, "response": ANSWER, "contexts": "one text"}, "contexts is a str"),
            ({"query": QUESTION, "response": ANSWER, "contexts": [1.5]}, "contexts holds a float"),
            ({"query": QUESTION, "response": float("nan"), "contexts": PASSAGES}, "response is a float"),
            ({"query": QUESTION, "response": ANSWER, "contexts": PASSAGES, "references": 3}, "references is a int"),
            ({"query": QUESTION, "response": Response(ANSWER)}, "response is a Response, not a text; evaluate_response("),
            (
                {"query": QUESTION, "response": ANSWER, "contexts": PASSAGES, "sub_questions": [{"texte": "?"}]},
                "unknown field 'texte' of SubQuestion. Did you mean 'text'?",
            ),
            ({"query": QUESTION, "response": ANSWER, "steps": [{"kind": "guess"}]}, "kind"),
        ],
    )
    def test_what_cannot_be_read_is_named_and_no_model_is_asked(self, given_arguments: dict[str, Any], reason: str) -> None:
        judge = KeywordScorer()
        result = SubQuestionCoverageEvaluator(judge=judge).evaluate(**given_arguments)

        assert result.invalid_result
        assert reason in str(result.invalid_reason)
        assert (result.score, result.failure, judge.asked.calls) == (None, None, 0)

    @pytest.mark.parametrize(
        ("misspelt", "meant"),
        [
            ("contextz", "contexts"),
            ("context", "contexts"),
            ("reference_", "reference"),
            ("Reference", "reference"),
            ("subquestions", "sub_questions"),
        ],
    )
    def test_a_misspelt_keyword_is_an_error_that_names_the_right_one(self, misspelt: str, meant: str) -> None:
        further: Any = {misspelt: ["Because."]}

        problem = f"{misspelt!r}. Did you mean '{meant}'"
        evaluator: Any
        for evaluator in everything().values():
            with pytest.raises(UnknownOptionError, match=problem):
                evaluator.evaluate(QUESTION, ANSWER, **further)
            with pytest.raises(UnknownOptionError, match=problem):
                evaluator.evaluate_response(QUESTION, Response(ANSWER), **further)
            with pytest.raises(UnknownOptionError, match=problem):
                asyncio.run(evaluator.aevaluate(QUESTION, ANSWER, **further))
            with pytest.raises(UnknownOptionError, match=problem):
                asyncio.run(evaluator.aevaluate_response(QUESTION, Response(ANSWER), **further))

    def test_keywords_of_other_evaluators_are_left_to_them(self) -> None:
        others: Any = {"sleep_time_in_seconds": 1, "second_response": "No.", "reference_answer": "Yes.", "grade": 3}

        result = coverage().evaluate(QUESTION, ANSWER, PASSAGES, sub_questions=[COST], **others)

        assert result.score == 1.0

    def test_what_is_missing_is_named_with_how_to_give_it(self) -> None:
        reasons = {name: each.evaluate(QUESTION).invalid_reason for name, each in everything().items()}

        response = "there is no response; give response=… (the answer's text)"
        contexts = "there are no contexts; give contexts=… (the passages' texts), steps=… or trace=…"
        gold = "there is no gold answer, and no response to stand in for it; give reference=… or response=…"
        assert reasons == {
            "coverage": response,
            "groundedness": f"{response}; {contexts}",
            "utility": f"{contexts}; {gold}",
            "complexity": contexts,
        }

    def test_a_model_that_is_not_there_is_opened_only_when_it_is_needed(self) -> None:
        evaluator = SubQuestionCoverageEvaluator(judge="embedded:nobody")

        missing, needed = evaluator.evaluate(QUESTION), evaluator.evaluate(QUESTION, ANSWER)

        assert str(missing.invalid_reason).startswith("there is no response")
        assert str(needed.invalid_reason).startswith("there is no folder nobody with a judge")

    def test_a_model_that_nobody_offers_is_refused_at_once(self) -> None:
        with pytest.raises(BackendNotFoundError, match="No backend is called 'opnai'. Did you mean 'openai'?"):
            SubQuestionCoverageEvaluator(judge="opnai:small")


class TestFailures:
    def test_a_judge_that_fails_makes_the_result_invalid(self) -> None:
        judge = BrokenJudge(ModelFailedError("the server is gone", kind="timeout", attempts=3))

        result = SubQuestionCoverageEvaluator(judge=judge).evaluate(QUESTION, ANSWER, PASSAGES, sub_questions=[COST])

        assert (result.score, result.invalid_reason) == (None, "the server is gone (timeout)")
        assert result.failure == Failure("timeout", "the server is gone", 3)

    def test_a_judge_with_a_bug_makes_the_result_invalid_too(self) -> None:
        result = SubQuestionCoverageEvaluator(judge=BrokenJudge(ZeroDivisionError("by zero"))).evaluate(
            QUESTION, ANSWER, PASSAGES, sub_questions=[COST]
        )

        assert result.invalid_reason == "by zero (ZeroDivisionError)"

    def test_an_entailer_that_returns_no_probability_makes_the_result_invalid(self) -> None:
        entailer = ScriptedEntailer(default=float("nan"))

        result = GroundednessEvaluator(entailer=entailer).evaluate(QUESTION, "A boat costs three euros.", PASSAGES)

        assert result.invalid_result
        assert result.score is None
        assert "which is no probability" in str(result.invalid_reason)


class TestInputs:
    def test_a_trace_is_measured_as_it_is_and_lacks_are_filled_in(self) -> None:
        trace = Trace(question=QUESTION, steps=(RetrievalStep(passages=(Passage(PASSAGES[0], id="p1"),)),))

        result = coverage().evaluate("Another question?", ANSWER, trace=trace, sub_questions=["What does a pump cost?"])

        assert (result.query, result.response, result.contexts) == (QUESTION, ANSWER, PASSAGES[:1])
        assert result.coverage is not None
        assert result.coverage.chunk_keys == ("id:p1",)

    def test_arguments_for_other_evaluators_are_left_alone(self) -> None:
        result = coverage().evaluate(
            QUESTION, ANSWER, PASSAGES, sub_questions=[COST], sleep_time_in_seconds=0, second_response="…", similarity=0.7
        )

        assert result.score == 1.0

    def test_sub_questions_of_llama_index_are_sub_questions(self) -> None:
        from llama_index.core.question_gen.types import SubQuestion as LlamaIndexSubQuestion

        given_question = LlamaIndexSubQuestion(sub_question="What does a pump cost?", tool_name="prices")
        result = coverage().evaluate(QUESTION, ANSWER, PASSAGES, sub_questions=[given_question])

        assert result.coverage is not None
        assert [each.text for each in result.coverage.sub_questions] == ["What does a pump cost?"]

    def test_halves_of_characters_are_replaced_so_that_the_result_can_be_written(self) -> None:
        result = coverage().evaluate(QUESTION, f"{ANSWER} \ud83d", [f"{PASSAGES[0]} \ude00"], sub_questions=[COST])

        assert result.score == 1.0
        assert result.response == f"{ANSWER} \N{REPLACEMENT CHARACTER}"
        assert result.model_dump_json()

    @given(
        query=st.none() | st.text(max_size=20) | st.integers(),
        response=st.none() | st.text(max_size=30) | st.floats(),
        contexts=st.none() | st.lists(st.text(max_size=30) | st.none(), max_size=3) | st.text(max_size=5),
        further=st.fixed_dictionaries(
            {},
            optional={
                "reference": st.none() | st.text(max_size=10) | st.integers(),
                "references": st.none() | st.lists(st.text(max_size=10), max_size=2),
                "sub_questions": st.none() | st.lists(st.text(max_size=10), max_size=3),
                "steps": st.none() | st.lists(st.integers() | st.just({"query": "q", "passages": ["p"]}), max_size=2),
                "trace": st.none() | st.integers() | st.just({"question": "Why?", "answer": "So."}),
            },
        ),
    )
    def test_whatever_is_given_there_is_a_score_or_a_reason_and_it_can_be_written(
        self, query: object, response: object, contexts: object, further: dict[str, Any]
    ) -> None:
        for name, evaluator in everything().items():
            loose: Any = evaluator
            result = loose.evaluate(query, response, contexts, **further)

            assert (result.score is None) == result.invalid_result == bool(result.invalid_reason)
            assert result.score is None or -1 <= result.score <= 1
            assert RESULTS[name].model_validate_json(result.model_dump_json()).model_dump() == result.model_dump()


class TestResults:
    @pytest.mark.parametrize("name", RESULTS)
    def test_the_whole_result_goes_to_json_and_back(self, name: str) -> None:
        result = everything()[name].evaluate(QUESTION, ANSWER, PASSAGES, sub_questions=[COST, HEAT], reference=ANSWER)

        read = RESULTS[name].model_validate_json(result.model_dump_json())

        carried = getattr(result, name)
        assert isinstance(result, EvaluationResult)
        assert carried is not None
        assert getattr(read, name) == carried
        assert result.model_dump()[name] == carried.to_dict()

    @pytest.mark.parametrize("result_class", RESULTS.values())
    def test_what_else_a_subclass_says_is_kept_and_has_a_schema(self, result_class: type[TraceEvaluationResult]) -> None:
        failure = Failure("timeout", "60 s", 2, "half a rep")

        result = result_class(invalid_result=True, invalid_reason="60 s (timeout)", failure=failure)

        assert result_class.model_validate(result.model_dump()).failure == failure
        assert "failure" in result_class.model_json_schema()["properties"]

    def test_a_result_that_is_none_is_refused(self) -> None:
        wrong: Any = 5
        with pytest.raises(ValueError, match="int is no CoverageResult"):
            CoverageEvaluationResult(coverage=wrong)

    def test_what_was_measured_is_there_as_a_trace_for_other_measures(self) -> None:
        result = coverage().evaluate(QUESTION, ANSWER, PASSAGES, sub_questions=[COST], reference="12,000 euros")

        assert result.trace is not None
        assert result.trace.question.references == ("12,000 euros",)
        assert [passage.text for passage in result.trace.chunks] == PASSAGES
        assert "trace" not in result.model_dump()
