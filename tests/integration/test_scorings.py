"""How evaluators of any framework score: from what was given to a trace, from a trace to a score or a reason for none."""

from __future__ import annotations

from typing import Any

import pytest

from rag_cover import CoverageMeasure, Models, Passage, Question, SubQuestion, Trace, UtilityMeasure
from rag_cover.backends import Failure
from rag_cover.errors import InputError, InvalidValueError
from rag_cover.integration import (
    ComplexityScoring,
    CoverageScoring,
    Given,
    GroundednessScoring,
    LazyModels,
    RatingScoring,
    Scored,
    Scoring,
    Terms,
    UtilityScoring,
    explain_failure,
    refuse_misspelt,
    score_trace,
    trace_of_inputs,
)
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedReceiver

QUESTION = "How much is it?"
ANSWER = "A pump will cost 12,000 euros."
COST, ADA = SubQuestion("What does a pump cost?", role="core"), SubQuestion("Who invented it?", role="background")

TERMS = Terms(
    question="question",
    answer="reply",
    passages="cards",
    give_question="question=…",
    give_answer="reply=…",
    give_contexts="cards=…",
    give_gold="gold=…",
    give_either="gold=… or reply=…",
    ours=lambda value: Passage(str(value)) if isinstance(value, float) else value,
)


def evaluated(scoring: Scoring[Any], given: Given) -> Scored:
    receiver = ScriptedReceiver({"12,000": ("12,000 euros",)}, prior=("I do not know.",))
    models = Models(judge=KeywordScorer(), entailer=KeywordEntailer(), receiver=receiver)
    lazy = LazyModels.of(models, scoring.measure)
    return score_trace(lambda: trace_of_inputs(given, TERMS), by=scoring, models=lazy, terms=TERMS)


class TestTraces:
    def test_contexts_alone_are_one_step_and_the_prompt_and_the_frameworks_own_objects_are_translated(self) -> None:
        trace = trace_of_inputs(Given(QUESTION, ANSWER, contexts=["one", 2.5]), TERMS)

        assert [passage.text for passage in trace.steps[0].passages] == ["one", "2.5"]
        assert trace.prompt == trace.steps[0].passages

    def test_what_a_trace_says_stands(self) -> None:
        known = Trace(question="Which?", answer="That.")

        trace = trace_of_inputs(Given(QUESTION, ANSWER, references="gold", trace=known), TERMS)

        assert (trace.question.text, trace.answer, trace.question.references) == ("Which?", "That.", ("gold",))
        own = Trace(question=Question("Which?", references="own"))
        assert trace_of_inputs(Given(references="gold", trace=own), TERMS).question.references == ("own",)

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            (Given(), "the question is missing; give question=…"),
            (Given(" "), "the question is blank; give question=…"),
            (Given(QUESTION, 5), "reply is a int, not a text"),
            (Given(QUESTION, contexts="one"), "contexts is a str; give a list, one text for each"),
            (Given(QUESTION, contexts=[1]), "contexts holds a int; give the passages' texts, cards or rag_cover passages"),
            (Given(QUESTION, sub_questions=[{"role": "core"}]), "at text"),
        ],
    )
    def test_what_cannot_be_read_is_refused_in_the_frameworks_terms(self, given: Given, reason: str) -> None:
        with pytest.raises(InputError, match=reason):
            trace_of_inputs(given, TERMS)

    def test_a_name_that_is_nearly_known_is_refused_and_any_other_left_alone(self) -> None:
        refuse_misspelt(["contexts", "similarity", "content"], ("context", "contexts"))

        with pytest.raises(InputError, match="no argument is called 'contexs'; did you mean 'context'"):
            refuse_misspelt(["contexs"], ("context", "steps"))

        with pytest.raises(InputError, match="no argument is called 'subQuestions'; did you mean 'sub_questions'"):
            refuse_misspelt(["subQuestions"], ("sub_questions",))


class TestScores:
    def test_each_kind_has_its_score_its_result_and_the_name_of_who_judged(self) -> None:
        given = Given(QUESTION, ANSWER, [ANSWER], references="12,000 euros", sub_questions=[COST, ADA])
        scorings: list[Scoring[Any]] = [
            CoverageScoring(fail_under=1),
            RatingScoring(fail_under=1.25),
            GroundednessScoring(fail_under=0.5),
            UtilityScoring(UtilityMeasure(n=2), fail_under=1),
            ComplexityScoring(fail_over=1),
        ]

        found = [evaluated(scoring, given) for scoring in scorings]

        assert [each.score for each in found[:4]] == [1.0, 1.0, 1.0, 1.0]
        assert [each.passing for each in found] == [True, False, True, True, True]
        assert all(each.measured is not None and each.judge and each.feedback and each.trace for each in found)

    def test_what_is_lacking_is_said_in_the_frameworks_terms(self) -> None:
        scorings: list[Scoring[Any]] = [RatingScoring(), GroundednessScoring(), UtilityScoring(references="answer")]

        reasons = [evaluated(scoring, Given(QUESTION)).invalid_reason for scoring in scorings]

        assert reasons == [
            "there is no reply; give reply=…",
            "there is no reply; give reply=…; there are no contexts; give cards=…",
            "there are no contexts; give cards=…; there is no reply to hold beliefs against; give reply=…",
        ]

    def test_nothing_undefined_is_0(self) -> None:
        given = Given(QUESTION, "Which?", [], sub_questions=[ADA])

        coverage, groundedness, complexity = (
            evaluated(scoring, given) for scoring in (CoverageScoring(), GroundednessScoring(), ComplexityScoring())
        )

        for each in (coverage, groundedness, complexity):
            assert (each.score, each.passing) == (None, None)
            assert each.invalid_reason
            assert each.measured is not None

    def test_limits_of_a_rating_are_what_its_weights_can_give(self) -> None:
        assert RatingScoring(fail_under=-1).fail_under == -1
        assert RatingScoring(CoverageMeasure(weights={"core": 4}), 4).fail_under == 4  # type: ignore[dict-item]

        with pytest.raises(InvalidValueError, match="fail_under is 1.6; give a number from -1 to 1.5"):
            RatingScoring(fail_under=1.6)

    def test_a_refusal_is_no_failure_and_a_bug_is_one(self) -> None:
        refused, failed = explain_failure(InputError("no text")), explain_failure(KeyError("x"))

        assert (refused.invalid_reason, refused.failure) == ("no text", None)
        assert failed.failure == Failure("KeyError", "'x'")
