from __future__ import annotations

import pytest

from rag_cover.backends import Failure
from rag_cover.complexity import Standing, description_of, hardness, standing_of
from rag_cover.complexity.choices import Constraints
from rag_cover.complexity.result import Complexity
from rag_cover.measures import NotApplicable, Outcome, TraceResult
from rag_cover.questions import Question
from rag_cover.traces import Trace


def _complexity(
    best: float | None,
    completeness: float | None = 0.9,
    *,
    constraints: Constraints = "both",
    probability: float | None = None,
) -> Complexity:
    answerable = best is not None and best >= 0.5
    complete = None if completeness is None else completeness >= 0.5
    is_complex = {
        "both": not answerable and complete is not False,
        "answerability": not answerable,
        "completeness": complete is True,
    }[constraints]
    return Complexity(best, answerable, completeness, complete, is_complex, 0.5, 0.5, constraints, probability=probability)


@pytest.mark.parametrize(
    ("complexity", "standing"),
    [
        (_complexity(0.9), Standing.ANSWERABLE),
        (_complexity(0.1), Standing.COMPLEX),
        (_complexity(0.1, 0.2), Standing.UNANSWERABLE),
        (_complexity(0.1, None), Standing.COMPLEX),
        (_complexity(0.1, 0.2, constraints="answerability"), Standing.COMPLEX),
        (_complexity(0.9, constraints="completeness"), Standing.COMPLEX),
    ],
)
def test_a_question_stands_where_the_constraints_put_it(complexity: Complexity, standing: Standing) -> None:
    assert standing_of(complexity) == standing


def test_a_question_for_which_nothing_was_retrieved_is_unanswerable_and_not_complex() -> None:
    assert standing_of(_complexity(None, 1.0)) == Standing.UNANSWERABLE


def test_complex_questions_are_hardest_then_unanswerable_ones_and_the_least_answered_come_first() -> None:
    hardest_first = [_complexity(0.1), _complexity(0.4), _complexity(0.0, 0.1), _complexity(0.6), _complexity(0.9)]

    assert sorted(hardest_first, key=hardness, reverse=True) == hardest_first


def test_a_calibrated_probability_orders_before_the_best_passage_does() -> None:
    surer, less_sure = _complexity(0.4, probability=0.9), _complexity(0.1, probability=0.6)

    assert hardness(surer) > hardness(less_sure)


def test_a_description_says_where_a_question_stands_by_which_figures_and_of_which_kinds_it_is() -> None:
    result = _result(_complexity(0.1, 0.75, probability=0.8))

    assert description_of(result) == {
        "standing": "complex",
        "is_complex": True,
        "answerable": False,
        "complete": True,
        "max_answer_probability": 0.1,
        "completeness": 0.75,
        "probability": 0.8,
        "references": "none",
        "kinds": ["superlative"],
    }


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (NotApplicable("no steps"), {"not_applicable": "no steps"}),
        (Failure("timeout", "no reply"), {"failed": "timeout: no reply"}),
    ],
)
def test_a_question_that_was_not_measured_says_why(outcome: Outcome, said: dict[str, str]) -> None:
    assert description_of(_result(outcome)) == {**said, "kinds": ["superlative"]}


def _result(outcome: Outcome) -> TraceResult:
    return TraceResult(Trace(question=Question("What is the tallest tower?")), {"complexity": outcome})
