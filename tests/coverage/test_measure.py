"""What the measures ask of a trace and of models, and that they say the same as the functions they stand for."""

import json
import pickle
from collections.abc import Mapping
from dataclasses import replace

import pytest

from rag_cover.backends import Abstention
from rag_cover.coverage import RATING_WEIGHTS, CoverageMeasure, GroundednessMeasure, groundedness, judge_coverage
from rag_cover.coverage.result import Controls, CoverageResult, Loss, LossEvidence, SubQuestionCoverage, Verdict
from rag_cover.errors import InvalidValueError
from rag_cover.measures import Measure
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer
from rag_cover.traces import RetrievalStep, Trace

QUESTION = Question(text="Why is the sky blue?")
BLUE = "The sky is blue because air scatters short waves."
STEP = RetrievalStep(passages=(Passage(text=BLUE),))
FULL = Trace(question=QUESTION, steps=(STEP,), answer=BLUE)


def test_both_are_measures() -> None:
    measures: list[Measure] = [CoverageMeasure(), GroundednessMeasure()]

    names = [measure.name for measure in measures]

    assert names == ["coverage", "groundedness"]


def test_coverage_measures_a_trace_by_any_of_answer_steps_and_prompt() -> None:
    measure = CoverageMeasure()
    partial = [
        Trace(question=QUESTION, answer=""),
        Trace(question=QUESTION, steps=(STEP,)),
        Trace(question=QUESTION, prompt=()),
    ]

    lacking = [measure.not_applicable_reason(trace) for trace in partial]

    assert lacking == [None, None, None]
    assert measure.not_applicable_reason(Trace(question=QUESTION)) == "coverage needs an answer, retrieval steps or a prompt"


def test_groundedness_needs_an_answer_and_what_it_was_written_from() -> None:
    measure = GroundednessMeasure()

    lacking = [
        measure.not_applicable_reason(trace)
        for trace in (FULL, Trace(question=QUESTION, answer=BLUE), Trace(question=QUESTION))
    ]

    assert lacking == [
        None,
        "groundedness needs a prompt or retrieval steps",
        "groundedness needs an answer and a prompt or retrieval steps",
    ]


def test_measures_say_what_their_functions_say() -> None:
    scorer, locator, entailer = KeywordScorer(), KeywordLocator(), KeywordEntailer()

    coverage = CoverageMeasure().measure([FULL], {"scorer": scorer, "locator": locator})
    grounded = GroundednessMeasure().measure([FULL], {"entailer": entailer})

    assert list(coverage) == judge_coverage([FULL], scorer, locator=locator)
    assert list(grounded) == groundedness([FULL], entailer)


def test_locator_and_decomposer_are_optional() -> None:
    def two(question: Question) -> list[SubQuestion]:
        return [SubQuestion(text=question.text, role=Role.CORE), SubQuestion(text="What is air?")]

    with_model = CoverageMeasure().measure([FULL], {"scorer": KeywordScorer(), "decomposer": two})
    without = CoverageMeasure().measure([FULL], {"scorer": KeywordScorer()})

    assert [outcome.decomposed_by for outcome in (*with_model, *without) if isinstance(outcome, CoverageResult)] == [
        "model",
        "rules",
    ]


def test_parameters_are_json_that_names_all_that_changes_results() -> None:
    measure = CoverageMeasure(threshold=0.4, weights={Role.CORE: 1, Role.FOLLOW_UP: -2}, untyped="leave")

    parameters = json.loads(json.dumps(measure.parameters))

    assert parameters == {"threshold": 0.4, "weights": {"core": 1.0, "follow-up": -2.0}, "untyped": "leave"}
    assert GroundednessMeasure().parameters == {"threshold": 0.5}


def test_measures_travel_between_processes() -> None:
    measures = [CoverageMeasure(weights=RATING_WEIGHTS), GroundednessMeasure(threshold=0.3)]

    copies = pickle.loads(pickle.dumps(measures))  # noqa: S301 - our own bytes

    assert copies == measures


@pytest.mark.parametrize("weights", [{"cores": 1.0}, {Role.CORE: float("inf")}])
def test_weights_that_make_no_rating_are_refused(weights: Mapping[Role, float]) -> None:
    with pytest.raises(InvalidValueError, match="weights: "):
        CoverageMeasure(weights=weights)


def test_thresholds_that_are_no_probabilities_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="threshold is -1"):
        CoverageMeasure(threshold=-1)
    with pytest.raises(InvalidValueError, match="threshold is 2"):
        GroundednessMeasure(threshold=2)


def test_answers_that_decline_are_counted_and_so_are_those_that_had_a_passage() -> None:
    metrics = {metric.name: metric for metric in CoverageMeasure.metrics}
    declined = _declined(retrieved=True), _declined(retrieved=False), _declined(retrieved=None)

    assert [tuple(metrics["abstentions"].sums(each)) for each in declined] == [(1, 1)] * 3
    assert [tuple(metrics["abstentions_though_retrieved"].sums(each)) for each in declined] == [(1, 1), (0, 1), (0, 0)]


@pytest.mark.parametrize(
    ("abstained", "said"),
    [
        ("wholly", "; the answer declines to answer"),
        ("partly", "; the answer declines to answer in part"),
        ("no", ""),
        (None, ""),
    ],
)
def test_the_score_s_reason_says_that_the_answer_declines(abstained: Abstention | None, said: str) -> None:
    score = CoverageMeasure().score(replace(_declined(retrieved=True), abstained=abstained))

    assert (score.value, score.reason) == (0.0, f"0 of 1 core sub-questions are answered{said}")


def _declined(*, retrieved: bool | None) -> CoverageResult:
    chunks = None if retrieved is None else (Verdict(0.9, covered=retrieved),)
    asked = SubQuestionCoverage("Why?", Role.CORE, "given", Verdict(0.1, covered=False, refused=True), chunks=chunks)
    return CoverageResult((asked,), ("id:p",), 0.5, 0.0, prompt_assumed=False, decomposed_by="given", abstained="wholly")


@pytest.mark.parametrize(
    ("loss", "expected"), [(Loss.UNUSED, 0.8 * 0.3), (Loss.DROPPED, 0.8 * 0.7 * 0.9), (Loss.NOT_RETRIEVED, 0.8 * 0.1)]
)
def test_a_loss_is_as_likely_as_the_verdicts_it_follows_from(loss: Loss, expected: float) -> None:
    evidence = LossEvidence(answer=0.2, prompt=0.3, retrieved=0.9)

    assert evidence.probability_of(loss) == pytest.approx(expected)
    assert SubQuestionCoverage("q?", Role.CORE, "given", loss=loss, evidence=evidence).is_loss_clear == (expected >= 0.5)


@pytest.mark.parametrize(("loss", "clear"), [(Loss.UNUSED, False), (Loss.DROPPED, True)])
def test_an_answer_that_contradicts_says_nothing_of_what_its_prompt_did_not_have(loss: Loss, *, clear: bool) -> None:
    evidence = LossEvidence(answer=0.1, prompt=0.8 if loss is Loss.UNUSED else 0.1, retrieved=0.9, contradicted=True)

    assert SubQuestionCoverage("q?", Role.CORE, "given", loss=loss, evidence=evidence).is_loss_clear == clear


def test_no_loss_is_clear_and_one_without_evidence_is() -> None:
    assert not SubQuestionCoverage("q?", Role.CORE, "given").is_loss_clear
    assert SubQuestionCoverage("q?", Role.CORE, "given", loss=Loss.UNUSED).is_loss_clear


def test_controls_and_evidence_go_to_json_and_back() -> None:
    sub_question = SubQuestionCoverage("q?", Role.CORE, "given", loss=Loss.UNUSED, evidence=LossEvidence(0.1, 0.9, 0.9, True))  # noqa: FBT003
    result = CoverageResult((sub_question,), (), 0.5, None, False, "given", controls=Controls(1, 0, 3))  # noqa: FBT003

    assert CoverageResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


@pytest.mark.parametrize("said", ["Thanks!", "Hi there", "Great, thank you so much.", "Good morning"])
def test_a_turn_that_asks_nothing_is_not_measured(said: str) -> None:
    reason = CoverageMeasure().not_applicable_reason(Trace(question=Question(said), answer="You are welcome."))

    assert reason == "the question asks nothing: it is a greeting, thanks, or a word of agreement"


def test_a_turn_with_a_question_or_with_sub_questions_of_its_own_is_measured() -> None:
    asked = (Trace(question=Question("Hi, is there wifi?"), answer="Yes."),)
    given = (Trace(question=Question("Hi"), answer="Yes.", sub_questions=(SubQuestion("Is there wifi?"),)),)

    assert [CoverageMeasure().not_applicable_reason(trace) for trace in (*asked, *given)] == [None, None]
