"""Responses read from evaluated traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem
from rag_cover.coverage import CoverageResult, SubQuestionCoverage, Verdict
from rag_cover.errors import IncomparableError, InputError, InvalidValueError, ModelFailedError
from rag_cover.measures import TraceResult
from rag_cover.questions import Passage, Question, Role
from rag_cover.routing.training_data import gather_outcomes
from rag_cover.traces import RetrievalStep, Trace


@dataclass(frozen=True)
class Matcher:
    """Finds an answer right that holds a reference; falls over at earthquakes."""

    threshold: float = 0.5
    fingerprint: str = "matcher"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        if any("earthquake" in item.text for item in items):
            message = "the judge fell over"
            raise ModelFailedError(message)
        return np.array([any(each in item.text for each in item.references) for item in items], dtype=np.float32)


def result(question: str, pipeline: str | None, answer: str | None = "it is blue", **fields: Any) -> TraceResult:
    asked = Question(question, references=fields.pop("references", ("blue",)))
    covered = fields.pop("covered", None)
    trace = Trace(question=asked, pipeline=pipeline, answer=answer, **fields)
    return TraceResult(trace, {} if covered is None else {"coverage": coverage(covered)})


def coverage(covered: Sequence[bool]) -> CoverageResult:
    rows = [SubQuestionCoverage(f"s{n}", Role.CORE, "given", Verdict(0.9, each)) for n, each in enumerate(covered)]
    rows.append(SubQuestionCoverage("more", Role.FOLLOW_UP, "given", Verdict(0.9, covered=False)))
    return CoverageResult(tuple(rows), (), 0.5, None, prompt_assumed=False, decomposed_by="given")


def test_answers_are_held_against_their_references() -> None:
    results = [result("Sky?", "a"), result("Sky?", "b", "it is red"), result("Sea?", "a", "red"), result("Sea?", "b")]

    outcomes = gather_outcomes(results, scorer=Matcher())

    assert outcomes.success == "correct"
    assert outcomes.responses.agents == ("a", "b")
    assert outcomes.responses.questions == ("Sky?", "Sea?")
    assert outcomes.responses.values.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_without_references_core_coverage_decides() -> None:
    results = [
        result("Sky?", "a", references=(), covered=[True, False]),
        result("Sky?", "b", references=(), covered=[False, False]),
    ]

    outcomes = gather_outcomes(results, scorer=Matcher())

    assert outcomes.success == "coverage"
    assert outcomes.criterion == "the answer covers at least 50% of the core sub-questions"
    assert outcomes.responses.values.tolist() == [[1.0, 0.0]]


def test_more_may_be_asked_of_coverage() -> None:
    results = [result("Sky?", pipeline, covered=[True, False]) for pipeline in "ab"]

    outcomes = gather_outcomes(results, success="coverage", share=0.75)

    assert outcomes.responses.values.tolist() == [[0.0, 0.0]]


def test_labels_of_the_metadata_may_decide() -> None:
    labels = [True, 0, 0.25, "good", None]
    results = [result(f"Q{n}?", "ab"[n % 2], metadata={} if label is None else {"ok": label}) for n, label in enumerate(labels)]

    outcomes = gather_outcomes(results, success="label:ok")

    assert np.nan_to_num(outcomes.responses.values, nan=-1).tolist() == [[1, -1], [-1, 0], [0.25, -1]]
    assert outcomes.left_out == {
        "its 'ok' is neither true or false nor a number in [0, 1]": 1,
        "its metadata has no 'ok'": 1,
    }


def test_what_cannot_be_judged_is_left_out_with_its_reason() -> None:
    results = [
        result("Sky?", "a"),
        result("Sky?", "b"),
        result("Sea?", None),
        result("Sea?", "a", None),
        result("Rain?", "b", references=()),
        result("Quake?", "a", "an earthquake"),
    ]

    outcomes = gather_outcomes(results, success="correct", scorer=Matcher())

    assert outcomes.left_out == {
        "names no pipeline": 1,
        "has no answer": 1,
        "its question has no references": 1,
        "the judge failed on it": 1,
    }
    assert "1 of 6 traces left out: has no answer." in outcomes.notes
    assert outcomes.responses.questions == ("Sky?",)


def test_an_empty_answer_is_a_wrong_one() -> None:
    outcomes = gather_outcomes([result("Sky?", "a", ""), result("Sky?", "b")], scorer=Matcher())

    assert outcomes.responses.values.tolist() == [[0.0, 1.0]]


def test_several_answers_of_a_pipeline_count_as_their_mean() -> None:
    results = [result("Sky?", "a"), result("sky", "a", "red"), result("Sky?", "b")]

    outcomes = gather_outcomes(results, scorer=Matcher())

    assert outcomes.responses.values.tolist() == [[0.5, 1.0]]
    assert outcomes.repeated == 1
    assert outcomes.notes == ("Averaged, because a pipeline answered the same question again: 1 of its answers.",)


def test_a_store_may_name_the_pipeline_that_its_traces_do_not() -> None:
    results = [("small", result("Sky?", None)), ("large", result("Sky?", None)), ("large", result("Sky?", "other"))]

    outcomes = gather_outcomes(results, scorer=Matcher())

    assert outcomes.responses.agents == ("small", "large", "other")


def test_one_pipeline_alone_is_refused_with_what_to_do() -> None:
    with pytest.raises(IncomparableError, match=r"one pipeline, 'a'; .* give both stores"):
        gather_outcomes([result("Sky?", "a"), result("Sea?", "a")], scorer=Matcher())


def test_nothing_to_judge_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match=r"none of 1 traces can be judged by 'coverage': no core sub-question .* \(1\)"):
        gather_outcomes([result("Sky?", "a")], success="coverage")
    with pytest.raises(InputError, match="there are no traces"):
        gather_outcomes([], scorer=Matcher())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"success": "corect"}, "'correct', 'coverage' or 'label:KEY'"),
        ({"success": "label:"}, "with a key"),
        ({"success": "correct"}, "needs a scorer"),
        ({"share": 0.0}, r"in \(0, 1\]"),
    ],
)
def test_what_is_no_criterion_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidValueError, match=words):
        gather_outcomes([result("Sky?", "a"), result("Sky?", "b")], **options)


def test_what_was_retrieved_comes_from_the_pipeline_that_has_most() -> None:
    step = (RetrievalStep(query="q", passages=(Passage("air"),)),)
    results = [result("Sky?", "a"), result("Sea?", "a", steps=step), *(result(q, "b", steps=step) for q in ("Sky?", "Sea?"))]

    outcomes = gather_outcomes(results, scorer=Matcher())

    assert outcomes.retrieved_by == "b"
    assert [each.passages[0].text for each in outcomes.retrieved if each] == ["air", "air"]
