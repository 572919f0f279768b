"""The constraints and the readings of completeness: worked by hand, at the edges, and what must hold for any relevance."""

import itertools
import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from rag_cover.complexity import Evidence, retrieval_complexity
from rag_cover.complexity.choices import CompletenessMethod, Constraints
from rag_cover.complexity.completeness import READINGS, completeness_of, sharpen
from rag_cover.complexity.result import Complexity
from rag_cover.complexity.rrcp import verdict_of
from rag_cover.errors import InvalidValueError

Floats = NDArray[np.float64]

RELEVANCE = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(0, 1))
EACH_READING = pytest.mark.parametrize("reading", list(READINGS))
UNIFORM = [[0.5, 0.5], [0.5, 0.5]]
PARTS = [[1.0, 0.0], [0.0, 1.0]]


def test_a_question_is_complex_when_no_document_answers_and_all_are_about_it() -> None:
    found = retrieval_complexity([0.1, 0.14], UNIFORM)

    assert (found.answerable, found.complete, found.is_complex) == (False, True, True)
    assert (found.max_answer_probability, found.completeness) == (0.14, 1.0)


def test_one_document_that_answers_makes_it_simple() -> None:
    found = retrieval_complexity([0.1, 0.15], UNIFORM)

    assert found.answerable
    assert not found.is_complex


def test_a_set_that_is_about_something_else_is_not_complex() -> None:
    found = retrieval_complexity([0.1, 0.1], [[1, 0], [1, 0]])

    assert found.completeness == 0
    assert not found.is_complex


def test_without_documents_nothing_answers_and_the_set_is_complete() -> None:
    found = retrieval_complexity([], [])

    assert (found.max_answer_probability, found.answerable) == (None, False)
    assert (found.completeness, found.complete, found.is_complex) == (1.0, True, True)
    assert found.documents == ()


@pytest.mark.parametrize(("constraints", "expected"), [("both", False), ("answerability", True), ("completeness", False)])
def test_one_constraint_alone_decides_when_asked_to(constraints: Constraints, *, expected: bool) -> None:
    unanswered_and_incomplete = verdict_of([0.1], [[1.0, 0.0]], constraints=constraints)

    assert unanswered_and_incomplete.is_complex is expected


def test_without_relevance_answerability_decides_alone() -> None:
    found = verdict_of([0.1], None)

    assert (found.completeness, found.complete, found.is_complex) == (None, None, True)


def test_completeness_cannot_decide_without_relevance() -> None:
    with pytest.raises(InvalidValueError, match="ask for answerability"):
        verdict_of([0.1], None, constraints="completeness")


@pytest.mark.parametrize(
    "relevance", [[[1.0, -0.1]], [[math.nan, 1.0]], [[math.inf, 1.0]], [[1.0], [1.0]], [1.0, 1.0], [[]], []]
)
def test_relevance_that_is_none_is_refused(relevance: list[list[float]]) -> None:
    with pytest.raises(InvalidValueError, match="relevance"):
        retrieval_complexity([0.1], relevance)


@pytest.mark.parametrize("probability", [-0.1, 1.1, math.nan])
def test_what_is_no_probability_is_refused(probability: float) -> None:
    with pytest.raises(InvalidValueError, match=r"answer_probabilities\[1\]"):
        retrieval_complexity([0.1, probability], UNIFORM)

    with pytest.raises(InvalidValueError, match=r"answer_probabilities\[0\]"):
        Evidence((probability,))


def test_a_reading_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="token-entropy, document-entropy"):
        completeness_of(UNIFORM, reading="joined")  # type: ignore[arg-type]  # a misspelt one


def test_the_readings_are_those_that_a_result_may_name() -> None:
    assert tuple(READINGS) == get_args(CompletenessMethod)


def test_what_documents_cover_only_jointly_is_what_the_best_of_them_leaves() -> None:
    relevance = [[0.9, 0.2, 0.8], [0.1, 0.7, 0.1]]

    found = completeness_of(relevance, reading="joint")

    assert found == pytest.approx(0.7 - 0.2)  # the first document leaves the second token to the other; that one leaves more


def test_nothing_is_joint_where_one_document_is_about_it_all() -> None:
    alone = completeness_of([[0.9, 0.8], [0.9, 0.1]], reading="joint")
    parts = completeness_of(PARTS, reading="joint")
    nothing = completeness_of([[0.0, 0.0], [0.0, 0.0]], reading="joint")

    assert (alone, parts, nothing) == (0.0, 1.0, 0.0)


def test_covered_is_the_share_of_the_question_that_some_document_is_about() -> None:
    found = completeness_of([[0.9, 0.2, 0.0], [0.1, 0.7, 0.2]], reading="covered")

    assert found == pytest.approx((0.9 + 0.7 + 0.2) / 3)


def test_a_low_temperature_peaks_what_is_nearly_flat() -> None:
    flat = [[0.5, 0.6, 0.55]]

    entropies = [completeness_of(flat, temperature=temperature) for temperature in (None, 1.0, 0.1, 0.01)]

    assert entropies[0] > 0.99
    assert entropies[1:] == sorted(entropies[1:], reverse=True)
    assert entropies[-1] < 0.1


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan, math.inf])
def test_a_temperature_is_above_zero(temperature: float) -> None:
    with pytest.raises(InvalidValueError, match="temperature"):
        completeness_of(UNIFORM, temperature=temperature)


@EACH_READING
@given(relevance=RELEVANCE)
def test_every_reading_lies_between_0_and_1(reading: CompletenessMethod, relevance: Floats) -> None:
    found = completeness_of(relevance, reading=reading)

    assert 0 <= found <= 1


@EACH_READING
@given(relevance=RELEVANCE)
def test_the_order_of_documents_and_tokens_changes_nothing(reading: CompletenessMethod, relevance: Floats) -> None:
    found = completeness_of(relevance[::-1, ::-1], reading=reading)

    assert found == pytest.approx(completeness_of(relevance, reading=reading), abs=1e-9)


@pytest.mark.parametrize("reading", ["token-entropy", "document-entropy", "token-over-documents", "weighted"])
@given(relevance=RELEVANCE, unit=st.sampled_from([1e-3, 8.0, 1e200]))
def test_the_unit_of_relevance_does_not_change_an_entropy(reading: CompletenessMethod, relevance: Floats, unit: float) -> None:
    coarse = np.round(relevance, 3)  # so that a smaller unit does not lose the smallest values

    found = completeness_of(coarse * unit, reading=reading)

    assert found == pytest.approx(completeness_of(coarse, reading=reading), abs=1e-9)


@given(relevance=RELEVANCE, temperature=st.sampled_from([0.01, 0.5, 10.0]))
def test_peaked_relevance_is_a_distribution_over_the_tokens(relevance: Floats, temperature: float) -> None:
    found = sharpen(relevance, temperature)

    assert found.sum(axis=1) == pytest.approx(np.ones(len(relevance)))
    assert (found >= 0).all()


@given(probabilities=st.lists(st.floats(0, 1), min_size=1, max_size=4), t_ans=st.floats(0, 1), t_com=st.floats(0, 1))
def test_both_constraints_never_call_complex_what_answerability_does_not(
    probabilities: list[float], t_ans: float, t_com: float
) -> None:
    relevance = [[0.7, 0.2]] * len(probabilities)

    both, alone = (
        verdict_of(probabilities, relevance, t_ans=t_ans, t_com=t_com, constraints=each) for each in ("both", "answerability")
    )

    assert alone.is_complex or not both.is_complex


@pytest.mark.parametrize(("reading", "documents"), list(itertools.product(READINGS, [1, 3])))
def test_results_come_back_from_json_data_unchanged(reading: CompletenessMethod, documents: int) -> None:
    found = retrieval_complexity([0.1] * documents, [[0.2, 0.4]] * documents, reading=reading)

    assert Complexity.from_dict(found.to_dict()) == found
