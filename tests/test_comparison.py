import pytest

from rag_cover import Evaluation, Models, Question, SubQuestion, Trace, compare, evaluate
from rag_cover.errors import IncomparableError
from rag_cover.testing import KeywordScorer


def _evaluation(answers: dict[str, str], pipeline: str, *, extra: str = "") -> Evaluation:
    traces = [
        Trace(
            question=Question(f"What of {topic}?"),
            answer=answer,
            pipeline=pipeline,
            sub_questions=tuple(SubQuestion(f"{colour} {topic}{extra}?", role="core") for colour in ("red", "blue")),
        )
        for topic, answer in answers.items()
    ]
    return evaluate(traces, measures=["coverage"], models=Models(judge=KeywordScorer(threshold=1.0)))


ONE = {"paint": "red paint", "ink": "red ink", "dye": "blue dye"}
BOTH = {"paint": "red paint, blue paint", "ink": "red ink, blue ink", "dye": "red dye"}


def test_differences_are_b_minus_a_and_questions_that_changed_are_listed() -> None:
    comparison = compare(_evaluation(ONE, "plain"), _evaluation(BOTH, "broad"))

    assert (comparison.name_a, comparison.name_b, comparison.questions) == ("plain", "broad", 3)
    assert comparison.metrics["core_coverage"].difference == pytest.approx(5 / 6 - 3 / 6)
    assert {(each.question, each.gained, each.lost) for each in comparison.changed} == {
        ("What of paint?", ("blue paint?",), ()),
        ("What of ink?", ("blue ink?",), ()),
        ("What of dye?", ("red dye?",), ("blue dye?",)),
    }


def test_a_pipeline_compared_with_itself_shows_no_difference() -> None:
    same = _evaluation(ONE, "plain")

    comparison = compare(same, same)

    assert comparison.metrics["core_coverage"].p_value == 1
    assert comparison.changed == ()
    assert comparison.name_a != comparison.name_b


def test_an_undefined_metric_stays_undefined() -> None:
    comparison = compare(_evaluation(ONE, "a"), _evaluation(BOTH, "b"))

    retrieved = comparison.metrics["core_retrieved"]
    assert (retrieved.a, retrieved.b, retrieved.difference, retrieved.p_value) == (None, None, None, None)


def test_questions_only_one_side_has_are_counted_and_left_out() -> None:
    comparison = compare(_evaluation(ONE, "a"), _evaluation({"paint": "red paint"}, "b"))

    assert (comparison.questions, comparison.only_a, comparison.only_b) == (1, 2, 0)


def test_nothing_in_common_cannot_be_compared() -> None:
    with pytest.raises(IncomparableError, match="no question in common"):
        compare(_evaluation(ONE, "a"), _evaluation({"other": "x"}, "b"))


def test_different_sub_questions_are_refused_unless_allowed() -> None:
    a, b = _evaluation(ONE, "a"), _evaluation(ONE, "b", extra=" really")

    with pytest.raises(IncomparableError, match="3 of 3 shared questions have different sub-questions"):
        compare(a, b)

    assert compare(a, b, sub_questions="any").questions == 3
