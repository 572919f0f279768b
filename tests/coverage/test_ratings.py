"""Positions, pairwise accuracy and win rates at their edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.coverage import addressing_position, pairwise_accuracy, win_rate
from rag_cover.errors import InvalidValueError


def test_a_blank_fragment_has_no_position() -> None:
    answer = "The sky is blue."

    positions = [addressing_position(answer, ""), addressing_position(answer, " \n"), addressing_position("", "sky")]

    assert positions == [None, None, None]


def test_the_first_occurrence_counts() -> None:
    answer = "Rain, then sun, then rain."

    position = addressing_position(answer, "then")

    assert position == 2 / 5


def test_an_exact_hit_goes_before_an_earlier_one_in_other_case() -> None:
    answer = "Rain is water. No rain today."

    position = addressing_position(answer, "rain")

    assert position == 5 / 6


@given(st.text(max_size=80), st.text(max_size=8))
def test_positions_are_shares_of_the_answer(answer: str, fragment: str) -> None:
    position = addressing_position(answer, fragment)

    assert position is None or 0 < position <= 1


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=8))
def test_the_last_word_ends_the_answer(answer_words: list[str]) -> None:
    answer = " ".join([*answer_words, "LAST"])

    position = addressing_position(answer, "LAST")

    assert position == 1.0


def test_no_pairs_have_no_accuracy() -> None:
    accuracy = pairwise_accuracy([])

    assert accuracy is None


def test_a_pair_that_is_no_comparison_is_refused() -> None:
    no_number = (math.nan, 0.0, "A")
    no_side = (1.0, 0.0, "left")

    for pair in (no_number, no_side):
        with pytest.raises(InvalidValueError, match="the preferred side"):
            pairwise_accuracy([pair])  # type: ignore[list-item]  # what a caller without mypy may do


def test_no_judgements_have_no_win_rate() -> None:
    rates = win_rate([]), win_rate([[]])

    assert rates == (None, None)


@given(st.lists(st.lists(st.sampled_from(["X", "Y", "tie"]), min_size=1, max_size=3), min_size=1, max_size=6))
def test_what_one_side_wins_the_other_loses(judgements: list[list[str]]) -> None:
    x, y = win_rate(judgements), win_rate(judgements, side="Y")

    assert x is not None
    assert y is not None
    assert x + y == pytest.approx(1.0)
