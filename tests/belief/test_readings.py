"""Readings put together: answers with their probabilities."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.belief.readings import UNANSWERABLE, Reading, answers_in, as_reading

readings = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.dictionaries(st.text("abc", min_size=1, max_size=2), st.floats(0.01, 1), min_size=1, max_size=4).map(
            lambda spans: {text: share / sum(spans.values()) for text, share in spans.items()}
        ),
    ),
    max_size=5,
)


@given(readings)
def test_answers_sum_to_one(found: list[Reading]) -> None:
    answers = answers_in(found)

    assert sum(answers.values()) == pytest.approx(1)
    assert answers[UNANSWERABLE] == pytest.approx(1 - max((probability for probability, _ in found), default=0), abs=1e-8)


@given(readings, st.floats(0, 0.5))
def test_what_surely_does_not_answer_takes_nothing_away(found: list[Reading], share: float) -> None:
    with_idle = answers_in([*found, (0.0, {"zz": share, "zzz": 1 - share})])

    assert {text: value for text, value in with_idle.items() if "z" not in text} == pytest.approx(answers_in(found))


@given(readings)
def test_one_reading_of_all_says_the_same(found: list[Reading]) -> None:
    answers = answers_in(found)

    assert {text: value for text, value in answers_in([as_reading(answers)]).items() if value > 1e-8} == pytest.approx(
        {text: value for text, value in answers.items() if value > 1e-8}, abs=1e-7
    )
