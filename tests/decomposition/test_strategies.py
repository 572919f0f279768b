"""Where sub-questions come from, and that a question which could not be split is told, counted and costs nothing else."""

from collections.abc import Mapping
from typing import Any

import pytest

from rag_cover.backends import Failure
from rag_cover.coverage import CoverageMeasure, CoverageResult, GeneratedDecomposer, GivenDecomposer, decompose
from rag_cover.decomposition.strategies import BatchDecomposer, source_of, split_failures
from rag_cover.errors import EvaluationError, InvalidValueError, ModelFailedError
from rag_cover.evaluation import evaluate
from rag_cover.evaluation.blocks import measure_block
from rag_cover.measures import ModelKind
from rag_cover.questions import Question, Role, SubQuestion
from rag_cover.registry import Models
from rag_cover.testing import KeywordScorer, ScriptedGenerator
from rag_cover.traces import Trace

Opened = Mapping[ModelKind, Any]
SKY, STORM = Question("Why is the sky blue?", id="sky"), Question("Why do storms form?")
ANSWER = "The sky is blue because air scatters light."
SUBS = (SubQuestion("Does air scatter light?", role=Role.CORE), SubQuestion("What is light?", role=Role.BACKGROUND))
GOOD = {"purpose: decompose": '["Does air scatter light?", "What is light?"]', "purpose: type": "1. core\n2. background"}


def trace(question: Question, **fields: object) -> Trace:
    return Trace(question=question, answer=ANSWER, **fields)


def test_a_generator_is_asked_and_rules_otherwise() -> None:
    generator = ScriptedGenerator(GOOD)

    made, by_rules = decompose(SKY, generator=generator), decompose(SKY)

    assert [sub.role_source for sub in made] == ["model:scripted"] * 2
    assert {sub.role_source for sub in by_rules} == {"rules"}


def test_who_made_sub_questions_is_told() -> None:
    sources = [
        source_of(each) for each in (None, GeneratedDecomposer(ScriptedGenerator()), GivenDecomposer({}, {}), lambda _: SUBS)
    ]

    assert sources == ["rules", "model:scripted", "given", "model"]
    assert isinstance(GivenDecomposer({}, {}), BatchDecomposer)


def test_given_ones_are_found_by_id_and_else_by_text() -> None:
    given = GivenDecomposer.of([trace(SKY, sub_questions=SUBS)])

    by_id, by_text, none = given.split([Question("Blue sky?", id="sky"), Question("why is  the SKY blue?"), STORM])

    assert by_id == by_text == SUBS
    assert none == Failure("not decomposed", "the file of decompositions holds no sub-questions of this question")
    assert given(SKY) == SUBS
    with pytest.raises(ModelFailedError, match="no sub-questions of this question"):
        given(STORM)


def test_a_question_given_in_two_ways_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="'Why is the sky blue.' is split in two ways"):
        GivenDecomposer.of([trace(SKY, sub_questions=SUBS), trace(SKY, sub_questions=SUBS[:1])])


def test_only_traces_that_bring_no_sub_questions_are_split() -> None:
    generator = ScriptedGenerator({"storms": Failure("timeout", "60 s"), **GOOD})
    decomposer = GeneratedDecomposer(generator)

    failed = split_failures([trace(SKY), trace(STORM, sub_questions=SUBS), trace(STORM)], decomposer)

    assert list(failed) == [2]
    assert generator.asked.items == 3
    assert split_failures([trace(STORM, sub_questions=SUBS)], decomposer) == {}
    assert split_failures([trace(STORM)], lambda _: SUBS) == {}


def test_a_question_that_could_not_be_split_is_a_failure_between_results() -> None:
    generator = ScriptedGenerator({"storms": "I would rather not.", **GOOD})
    models: Opened = {"scorer": KeywordScorer(), "decomposer": GeneratedDecomposer(generator)}

    first, second, third = CoverageMeasure().measure([trace(SKY), trace(STORM), trace(SKY)], models)

    assert isinstance(first, CoverageResult)
    assert first == third
    assert first.decomposed_by == "model:scripted"
    assert isinstance(second, Failure)
    assert (second.kind, second.raw) == ("malformed", "I would rather not.")


def test_an_evaluation_counts_it_says_why_and_scores_nothing_for_it() -> None:
    generator = ScriptedGenerator({"storms": "I would rather not.", **GOOD})
    models = Models(judge=KeywordScorer(), generator=generator)

    evaluation = evaluate([trace(SKY), trace(STORM)], models=models)
    summary = evaluation.summary()

    assert [bool(result.failures) for result in evaluation.results] == [False, True]
    assert (summary.outcomes["coverage"].measured, summary.outcomes["coverage"].failed) == (1, 1)
    assert any("could not be split" in reason for reason in summary.outcomes["coverage"].reasons)
    assert "sub-questions made by scripted, not by a person: 1 of 2 traces" in summary.notes
    alone = evaluate([trace(SKY)], models=models).summary()
    assert summary.metrics["core_coverage"].interval is not None
    assert alone.metrics["core_coverage"].interval is not None
    assert summary.metrics["core_coverage"].interval.estimate == alone.metrics["core_coverage"].interval.estimate


def test_five_malformed_replies_in_a_hundred_are_five_failures() -> None:
    bad = {f"number {number}?": "No." for number in range(0, 1000, 200)}
    traces = [trace(Question(f"Why is the sky blue, number {number}?")) for number in range(0, 1000, 10)]
    models = Models(judge=KeywordScorer(), generator=ScriptedGenerator({**bad, **GOOD}))

    evaluation = evaluate(traces, models=models, measures=["coverage"])

    assert sum(bool(result.failures) for result in evaluation.results) == 5
    assert sum(result.coverage is not None for result in evaluation.results) == 95


def test_told_to_raise_an_evaluation_stops_at_it() -> None:
    models: Opened = {"scorer": KeywordScorer(), "decomposer": GeneratedDecomposer(ScriptedGenerator())}

    with pytest.raises(EvaluationError, match="coverage failed: the question could not be split"):
        measure_block([trace(SKY)], measures=[CoverageMeasure()], models=models, on_error="raise")
