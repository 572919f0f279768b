"""Utility as a measure, and where an evaluation speaks of it."""

import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag_cover import Models, UtilityMeasure, evaluate
from rag_cover.backends import Abstention, ScoringItem
from rag_cover.belief import step_utilities
from rag_cover.belief.result import TraceUtility
from rag_cover.errors import InvalidValueError
from rag_cover.measures import Measure, ModelKind, NotApplicable
from rag_cover.questions import Passage, Question
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedEntailer, ScriptedReceiver
from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace

QUESTION = Question("What is the capital of France?", references=("Paris",))
STEP = RetrievalStep(passages=(Passage("Paris lies on the Seine."),))
TRACE = Trace(question=QUESTION, steps=(STEP,), answer="Paris")
RECORDED = Trace(
    question=QUESTION,
    steps=(STEP,),
    samples=(
        SampleSet(receiver="a model", context="none", samples=(Sample("Lyon"),)),
        SampleSet(receiver="a model", context="after", samples=(Sample("Paris"),)),
    ),
)
RECEIVER = ScriptedReceiver({"Seine": ("Paris",)}, prior=("Lyon", "Paris"))
LOCAL = Models(judge=KeywordScorer(), entailer=KeywordEntailer())
JUDGE = ScriptedEntailer({("What is the capital of France? Paris",) * 2: 1.0})
WITH_RECEIVER = Models(judge=KeywordScorer(), entailer=JUDGE, receiver=RECEIVER)


def test_it_is_a_measure_and_says_what_its_function_says() -> None:
    measure: Measure = UtilityMeasure(n=4)

    outcomes = measure.measure([TRACE], {"receiver": RECEIVER, "entailer": KeywordEntailer()})

    assert measure.name == "utility"
    assert list(outcomes) == [step_utilities(TRACE, entailer=KeywordEntailer(), receiver=RECEIVER, n=4)]


def test_what_a_trace_lacks_is_known_before_any_model_runs() -> None:
    bare = Trace(question=Question("Where?"), steps=(STEP,), answer="Paris")

    lacking = [UtilityMeasure().not_applicable_reason(each) for each in (TRACE, bare, Trace(question=QUESTION))]

    assert lacking == [
        None,
        "utility needs references (references='answer' takes the trace's own answer)",
        "utility needs retrieval steps",
    ]
    assert UtilityMeasure(references="answer").not_applicable_reason(bare) is None
    assert UtilityMeasure(references="answer").not_applicable_reason(Trace(question=QUESTION, steps=(STEP,))) is not None


def test_parameters_are_json_that_makes_the_same_measure() -> None:
    measure = UtilityMeasure(n=5, kind="hard", per_passage="add-one-in", approximations=("skip-identity", "normalised"))

    again = UtilityMeasure(**json.loads(json.dumps(measure.parameters)))

    assert again == measure
    assert pickle.loads(pickle.dumps(measure)) == measure  # noqa: S301 - our own bytes


@dataclass(frozen=True)
class Refuser:
    """Says that whatever begins with "Sorry" declines to answer."""

    def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
        return ["wholly" if item.text.startswith("Sorry") else "no" for item in items]


def test_an_answer_that_declines_is_no_reference_and_costs_no_other_trace_its_result() -> None:
    declined = Trace(question=Question("Where?"), steps=(STEP,), answer="Sorry, I do not know.")
    answered = Trace(question=Question("Where?"), steps=(STEP,), answer="Paris")
    models: Mapping[ModelKind, Any] = {"receiver": RECEIVER, "entailer": KeywordEntailer(), "abstention": Refuser()}

    outcomes = UtilityMeasure(references="answer").measure([declined, answered], models)

    assert outcomes[0] == NotApplicable("the answer, which stands in for references, declines to answer")
    assert isinstance(outcomes[1], TraceUtility)


def test_toward_gold_references_an_answer_that_declines_is_measured() -> None:
    declined = TRACE.model_copy(update={"answer": "Sorry, I do not know."})
    models: Mapping[ModelKind, Any] = {"receiver": RECEIVER, "entailer": KeywordEntailer(), "abstention": Refuser()}

    (outcome,) = UtilityMeasure().measure([declined], models)

    assert isinstance(outcome, TraceUtility)


def test_a_parameter_out_of_range_is_refused_when_it_is_said() -> None:
    with pytest.raises(InvalidValueError, match="n is 0"):
        UtilityMeasure(n=0)


def test_an_evaluation_with_a_receiver_measures_utility(tmp_path: Path) -> None:
    evaluation = evaluate([TRACE], models=WITH_RECEIVER, store=tmp_path / "run.sqlite")

    utility = evaluation.results[0].utility
    assert utility is not None
    assert utility.total.value == 0.5
    assert utility.receiver == RECEIVER.fingerprint
    assert utility == evaluate([TRACE], measures=["utility"], models=WITH_RECEIVER).results[0].utility


def test_recorded_samples_are_measured_without_a_receiver() -> None:
    evaluation = evaluate([RECORDED], models=LOCAL)

    assert isinstance(evaluation.results[0].outcomes["utility"], TraceUtility)


def test_an_evaluation_without_a_receiver_does_not_speak_of_utility() -> None:
    evaluation = evaluate([TRACE], models=LOCAL)

    assert "utility" not in evaluation.results[0].outcomes
    assert "utility" not in evaluation.summary().outcomes


def test_utility_asked_for_by_name_says_what_is_missing() -> None:
    evaluation = evaluate([TRACE, RECORDED], measures=["utility"], models=LOCAL)

    missing, measured = (result.outcomes["utility"] for result in evaluation.results)
    assert missing == NotApplicable("no receiver was named, and the trace has no recorded samples")
    assert isinstance(measured, TraceUtility)


def test_a_receiver_without_references_says_so() -> None:
    evaluation = evaluate([Trace(question="Where?", steps=(STEP,), answer="Paris")], models=WITH_RECEIVER)

    outcome = evaluation.results[0].outcomes["utility"]
    assert isinstance(outcome, NotApplicable)
    assert outcome.reason.startswith("utility needs references")
