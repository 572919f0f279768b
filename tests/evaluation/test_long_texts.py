"""Texts that are too long to ask a model about: counted as failed, and no other trace suffers."""

from __future__ import annotations

import pickle

import pytest

from rag_cover import Models, Passage, Question, SubQuestion, Trace, evaluate
from rag_cover.backends import Failure
from rag_cover.errors import EvaluationError, InvalidValueError, TextTooLongError
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.llm.session import LLMSession
from rag_cover.testing import KeywordScorer
from rag_cover.traces import RetrievalStep

MODELS = Models(judge=KeywordScorer())
LONG = "blue " * 21
TRACES = {
    "the question": Trace(question=Question(LONG), answer="Blue."),
    "the answer": Trace(question=Question("Why?"), answer=LONG),
    "a reference": Trace(question=Question("Why?", references=(LONG,)), answer="Blue."),
    "a sub-question": Trace(question=Question("Why?"), sub_questions=(SubQuestion(LONG),), answer="Blue."),
    "steps[0].passages[1]": Trace(
        question=Question("Why?"), steps=(RetrievalStep(passages=(Passage("Blue."), Passage(LONG))),), answer="Blue."
    ),
    "prompt[0]": Trace(question=Question("Why?"), prompt=(Passage(LONG),), answer="Blue."),
}


@pytest.mark.parametrize("name", TRACES)
def test_a_long_text_fails_its_trace_alone_and_is_named(name: str) -> None:
    short = Trace(question=Question("Why is the sky blue?"), answer="Blue.")

    long, other = evaluate([TRACES[name], short], measures=["coverage"], models=MODELS, longest_text=100).results

    failed = long.outcomes["coverage"]
    assert isinstance(failed, Failure)
    assert failed.kind == TextTooLongError.__name__
    assert failed.message.startswith(f"{name} has 105 characters, more than 100;")
    assert other.coverage is not None


def test_as_many_characters_as_allowed_are_judged() -> None:
    (result,) = evaluate([TRACES["the answer"]], measures=["coverage"], models=MODELS, longest_text=105).results

    assert result.coverage is not None


def test_a_long_text_stops_a_run_that_stops_at_failures() -> None:
    with pytest.raises(EvaluationError, match="the answer has 105 characters"):
        evaluate([TRACES["the answer"]], measures=["coverage"], models=MODELS, longest_text=100, on_error="raise")


def test_no_limit_below_one_is_taken() -> None:
    with pytest.raises(InvalidValueError, match="longest_text is 0; give a whole number"):
        evaluate([TRACES["the answer"]], models=MODELS, longest_text=0)


def test_the_limit_travels_with_the_plan() -> None:
    plan = EvaluationPlan.of(["coverage"], Models(), LLMSession(), longest_text=7)

    assert pickle.loads(pickle.dumps(plan)).longest_text == 7  # noqa: S301  # our own
