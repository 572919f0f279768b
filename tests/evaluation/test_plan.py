"""What is measured by which models, here and where a plan is sent."""

from __future__ import annotations

import pickle

import pytest

from rag_cover import Models, Passage, Question, RetrievalStep, Trace
from rag_cover.errors import BackendNotFoundError
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.llm.session import LLMSession
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedReceiver

MODELS = Models(
    judge=KeywordScorer(), entailer=KeywordEntailer(), receiver=ScriptedReceiver({"light": ("Light.",)}, prior=("Magic.",))
)


def _trace(*references: str) -> Trace:
    found = RetrievalStep(passages=(Passage("It is because of light."),))
    return Trace(id=f"t{len(references)}", question=Question("Why?", references=references), steps=(found,), answer="Light.")


def test_traces_without_gold_answers_are_told_against_the_pipelines_own_where_that_is_asked_for() -> None:
    plan = EvaluationPlan.of(["utility"], MODELS, LLMSession(), self_consistency=True)

    told = [result.utility and result.utility.references for result in plan([_trace("Light."), _trace(), _trace("Light.")])]

    assert told == ["gold", "answer", "gold"]
    assert plan.key_of(_trace()) != EvaluationPlan.of(["utility"], MODELS, LLMSession()).key_of(_trace())


def test_a_plan_that_was_sent_elsewhere_measures_the_same() -> None:
    plan = EvaluationPlan.of(["utility"], Models(receiver="embedded"), LLMSession(), self_consistency=True)

    arrived = pickle.loads(pickle.dumps(plan))  # noqa: S301  # our own

    assert (arrived.measures, arrived.without_gold, arrived.chosen) == (plan.measures, plan.without_gold, plan.chosen)


def test_a_name_that_nobody_answers_to_is_refused_before_anything_is_opened() -> None:
    with pytest.raises(BackendNotFoundError, match="No backend is called 'nobody'"):
        EvaluationPlan.of(["coverage"], Models(judge="nobody"), LLMSession())
