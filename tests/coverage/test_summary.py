"""What the answers of many traces are like, in counts."""

from __future__ import annotations

from typing import Any

import pytest

from rag_cover.coverage import CoverageResult, SubQuestionCoverage, Verdict
from rag_cover.coverage.summary import AnswerCounts, AnswerSums
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.questions import Question, Role
from rag_cover.traces import Trace

TRACE = Trace(question=Question("Why?"), answer="Because.")
NO = Verdict(0.1, covered=False)


def _result(
    *, retrieved: bool | None = None, roles: tuple[Role, ...] = (Role.CORE,), answer: Verdict | None = NO, **given: Any
) -> TraceResult:
    chunks = None if retrieved is None else (Verdict(0.9, covered=retrieved),)
    asked = tuple(SubQuestionCoverage("Why?", role, "rules", answer, chunks=chunks) for role in roles)
    stated: dict[str, Any] = {"decomposed_by": "given", "answer_words": 9} | given
    return TraceResult(TRACE, {"coverage": CoverageResult(asked, ("id:p",), 0.5, 0.0, prompt_assumed=False, **stated)})


def _sums(*results: TraceResult) -> AnswerSums:
    sums = AnswerSums()
    for result in results:
        sums.add(result)
    return sums


def test_answers_are_counted_by_what_they_are() -> None:
    counts = _sums(
        _result(abstained="wholly", retrieved=True),
        _result(abstained="wholly", retrieved=False),
        _result(abstained="wholly"),
        _result(abstained="partly"),
        _result(abstained="no", repeats_question=True),
        _result(answer_words=0),
        _result(abstained="no", answer_words=1),
        _result(abstained="no", answer_words=2),
        _result(abstained="no", answer_words=3),
    ).counts

    assert counts == AnswerCounts(
        answers=9,
        examined=8,
        declined=3,
        declined_unretrieved=1,
        declined_retrieved=1,
        declined_partly=1,
        repetitions=1,
        empty=1,
        short=2,
    )


def test_without_a_judged_answer_there_are_no_counts() -> None:
    assert _sums().counts is None
    assert _sums(_result(answer=None), TraceResult(TRACE, {"coverage": NotApplicable("no answer")})).counts is None


@pytest.mark.parametrize(
    ("result", "share"),
    [
        (_result(decomposed_by="rules"), 1.0),
        (_result(decomposed_by="rules", roles=(Role.CORE, Role.BACKGROUND)), 1.0),  # a step of a multi-hop question
        (_result(decomposed_by="rules", roles=(Role.CORE, Role.CORE)), 0.0),
        (_result(decomposed_by="given"), 0.0),
        (_result(decomposed_by="model"), 0.0),
    ],
)
def test_a_question_that_rules_left_whole_is_its_own_only_core_sub_question(result: TraceResult, share: float) -> None:
    assert _sums(result).single == share


def test_without_coverage_it_is_not_known_how_many_questions_were_left_whole() -> None:
    assert _sums(TraceResult(TRACE, {})).single is None
