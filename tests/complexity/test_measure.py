"""Retrieval complexity as a measure, and where an evaluation speaks of it."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from rag_cover import ComplexityMeasure, Evaluation, Models, compare, evaluate
from rag_cover.backends import ScoringItem, TokenRelevance
from rag_cover.complexity import Calibration, complexity_of
from rag_cover.complexity.result import Complexity
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.measures import Measure, NotApplicable
from rag_cover.questions import Passage, Question
from rag_cover.testing import Counter, KeywordEntailer, ScriptedScorer
from rag_cover.traces import RetrievalStep, Trace

MOTHER = Question("Who is the mother of the director of Jaws?")
FILM, LEAH = Passage("Steven Spielberg directed Jaws."), Passage("Leah Adler is the mother of Steven Spielberg.")
TRACE = Trace(question=MOTHER, steps=(RetrievalStep(passages=(FILM, LEAH)),), answer="Leah Adler")
EASY = Trace(question=Question("Who directed Jaws?"), steps=(RetrievalStep(passages=(FILM,)),))
BARE = Trace(question=MOTHER, answer="Leah Adler")


@dataclass(frozen=True)
class Judge:
    """A scripted scorer that finds a text to be about the words it holds, and fails on a text that names an earthquake."""

    scorer: ScriptedScorer = field(default_factory=lambda: ScriptedScorer({(EASY.question.text, FILM.text): 0.9}, default=0.1))
    asked: Counter = field(default_factory=Counter)
    threshold: float = 0.5
    fingerprint: str = "scripted-judge"

    def correctness(self, items: Sequence[ScoringItem]) -> np.ndarray:
        if any("earthquake" in item.text for item in items):
            message = "the judge fell over"
            raise ModelFailedError(message)
        self.asked.count(len(items))
        return self.scorer.correctness(items)

    def token_relevance(self, question: str, texts: Sequence[str]) -> TokenRelevance:
        words = tuple(word for word in question.strip("?").split() if word in {"mother", "director", "directed", "Jaws"})
        values = [[float(word[:6] in text) for word in words] for text in texts]
        return TokenRelevance(words, np.array(values).reshape(len(texts), len(words)))


def _models(judge: Judge) -> Models:
    return Models(judge=judge, entailer=KeywordEntailer())


def test_it_is_a_measure_and_says_what_its_function_says() -> None:
    measure: Measure = ComplexityMeasure(t_ans=0.5, t_com=0.2)
    judge = Judge()

    outcomes = measure.measure([TRACE, EASY], {"scorer": judge, "relevance": judge})

    assert measure.name == "complexity"
    assert list(outcomes) == [
        complexity_of(trace.question, trace.chunks, judge, t_ans=0.5, t_com=0.2) for trace in (TRACE, EASY)
    ]


def test_a_block_of_traces_is_one_call_to_the_scorer() -> None:
    judge = Judge()

    evaluate([TRACE, EASY] * 4, measures=["complexity"], models=_models(judge))

    assert (judge.asked.calls, judge.asked.items) == (1, 3)


def test_what_a_trace_lacks_is_known_before_any_model_runs() -> None:
    reranked = Trace(question=MOTHER, steps=(RetrievalStep(kind="rerank", passages=(FILM,)),))

    lacking = [ComplexityMeasure().not_applicable_reason(trace) for trace in (TRACE, BARE, reranked)]

    assert lacking == [None, "complexity needs retrieval steps", "complexity needs retrieval steps"]


def test_steps_that_found_nothing_leave_a_question_unanswerable_and_its_completeness_at_1() -> None:
    empty = Trace(question=MOTHER, steps=(RetrievalStep(query="Jaws"),))

    (outcome,) = ComplexityMeasure().measure([empty], {"scorer": Judge()})

    assert isinstance(outcome, Complexity)
    assert (outcome.max_answer_probability, outcome.answerable, outcome.completeness) == (None, False, 1.0)


def test_passages_of_all_retrieval_steps_are_judged_and_not_only_the_reranked_ones() -> None:
    steps = (RetrievalStep(id="a", passages=(FILM, LEAH)), RetrievalStep(kind="filter", passages=(LEAH,), input_ids=("a",)))

    (result,) = evaluate([TRACE.model_copy(update={"steps": steps})], measures=["complexity"], models=_models(Judge())).results

    assert result.complexity is not None
    assert [document.passage for document in result.complexity.documents] == [FILM.key, LEAH.key]


def test_the_question_s_own_references_tell_what_is_right() -> None:
    labelled = TRACE.model_copy(update={"question": Question(MOTHER.text, references=("Leah Adler",))})

    outcomes = ComplexityMeasure().measure([TRACE, labelled], {"scorer": Judge()})

    assert [outcome.references for outcome in outcomes if isinstance(outcome, Complexity)] == ["none", "gold"]


def test_parameters_are_json_and_tell_measures_apart() -> None:
    measure = ComplexityMeasure(t_ans=0.3, calibration=Calibration(t_ans=0.2, name="mine"), constraints="answerability")

    parameters = json.loads(json.dumps(measure.parameters))

    assert (parameters["t_ans"], parameters["calibration"]["name"], parameters["constraints"]) == (0.3, "mine", "answerability")
    assert pickle.loads(pickle.dumps(measure)) == measure  # noqa: S301 - our own bytes


@pytest.mark.parametrize("wrong", [{"t_ans": 1.5}, {"t_com": -0.1}])
def test_a_threshold_out_of_range_is_refused_when_it_is_said(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError, match="give a number from 0 to 1"):
        ComplexityMeasure(**wrong)  # type: ignore[arg-type]


def test_an_evaluation_measures_complexity_unasked_and_keeps_it(tmp_path: Path) -> None:
    evaluation = evaluate([TRACE], models=_models(Judge()), store=tmp_path / "run.sqlite")

    kept = Evaluation.open(tmp_path / "run.sqlite").results[0].complexity
    assert "complexity" in evaluation.measures
    assert kept is not None
    assert kept == evaluation.results[0].complexity


def test_a_judge_without_relevance_leaves_completeness_undefined_and_says_so() -> None:
    evaluation = evaluate([EASY], measures=["complexity"], models=Models(judge=ScriptedScorer()))

    (result,), metrics = evaluation.results, evaluation.summary().metrics
    assert result.complexity is not None
    assert (result.complexity.completeness, result.complexity.complete) == (None, None)
    assert metrics["completeness"].undefined_because == "the judge offers no token relevance"
    assert metrics["answerable_questions"].interval is not None


def test_a_passage_the_judge_fails_on_costs_no_other_its_verdict() -> None:
    shaken = TRACE.model_copy(update={"steps": (RetrievalStep(passages=(FILM, Passage("An earthquake."))),)})

    first, second = evaluate([shaken, EASY], measures=["complexity"], models=_models(Judge())).results

    assert first.complexity is not None
    assert first.complexity.failures == 1
    assert second.complexity is not None
    assert second.complexity.answerable


def test_a_question_of_which_no_passage_could_be_judged_fails_alone() -> None:
    shaken = TRACE.model_copy(update={"steps": (RetrievalStep(passages=(Passage("An earthquake."),)),)})

    first, second = evaluate([shaken, EASY], measures=["complexity"], models=_models(Judge())).results

    assert first.failures["complexity"].message == "the judge fell over"
    assert second.complexity is not None


def test_two_pipelines_are_compared_by_how_many_questions_they_make_answerable() -> None:
    poor = EASY.model_copy(update={"steps": (RetrievalStep(passages=(LEAH,)),)})
    a, b = (evaluate([trace], measures=["complexity"], models=_models(Judge())) for trace in (poor, EASY))

    compared = compare(a, b).metrics

    assert compared["answerable_questions"].difference == 1.0
    assert compared["answerable_questions"].higher_is_better


def test_an_unmeasured_trace_says_why() -> None:
    (result,) = evaluate([BARE], models=_models(Judge())).results

    assert result.outcomes["complexity"] == NotApplicable("complexity needs retrieval steps")
    assert result.complexity is None
