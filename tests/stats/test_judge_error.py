"""Shares with the judge's errors in their interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover.errors import InvalidValueError
from rag_cover.stats.judge_error import design_effect, difference_interval, fit_error_rates, share_interval

GOOD = fit_error_rates([(97, 100, 98, 100)] * 10)
USELESS = fit_error_rates([(50, 100, 50, 100)] * 10)
VARYING = fit_error_rates([(97, 100, 60, 100), (60, 100, 97, 100), (80, 100, 80, 100), (90, 100, 70, 100), (70, 100, 92, 100)])


def test_a_perfect_judge_leaves_the_error_of_sampling_alone() -> None:
    perfect = fit_error_rates([(10_000, 10_000, 10_000, 10_000)] * 10)

    interval = share_interval(30, 100, perfect)

    assert interval.estimate == pytest.approx(0.3, abs=0.01)
    assert interval.lower == pytest.approx(0.219, abs=0.01)  # Beta(31, 71)
    assert interval.upper == pytest.approx(0.396, abs=0.01)


def test_known_errors_move_the_estimate_as_rogan_and_gladen_do() -> None:
    sure = fit_error_rates([(8000, 10_000, 9000, 10_000)] * 10)

    interval = share_interval(4500, 10_000, sure)

    assert interval.estimate == pytest.approx((0.45 + 0.9 - 1) / (0.8 + 0.9 - 1), abs=0.005)


def test_a_judge_no_better_than_chance_says_nothing() -> None:
    interval = share_interval(300, 600, USELESS)

    assert interval.lower is not None
    assert interval.upper is not None
    assert interval.upper - interval.lower > 0.85


def test_rates_that_vary_between_sets_widen_the_interval() -> None:
    assert _width(share_interval(300, 600, VARYING)) > 2 * _width(share_interval(300, 600, GOOD))


def test_more_verdicts_do_not_undo_the_judges_errors() -> None:
    assert _width(share_interval(3_000_000, 6_000_000, VARYING)) > 0.5 * _width(share_interval(300, 600, VARYING))


def test_sets_where_a_judge_finds_more_and_refuses_less_are_told_apart_from_better_ones() -> None:
    (variance, covariance), _ = VARYING.covariance

    assert variance > 0
    assert covariance < 0


@given(st.integers(1, 400), st.floats(0, 1), st.floats(1, 8))
@settings(max_examples=15, deadline=None)
def test_an_interval_lies_in_0_to_1_and_holds_its_estimate(n: int, share: float, effect: float) -> None:
    interval = share_interval(round(share * n), n, VARYING, effect=effect)

    assert interval.lower is not None
    assert interval.upper is not None
    assert 0 <= interval.lower <= interval.estimate <= interval.upper <= 1


def test_a_difference_is_that_of_verdicts_divided_by_what_the_judge_is_worth() -> None:
    rows_a = np.array([(2, 10), (3, 10)] * 50)
    rows_b = np.array([(6, 10), (7, 10)] * 50)

    interval = difference_interval(rows_a, rows_b, fit_error_rates([(9000, 10_000, 9000, 10_000)] * 10))

    assert interval is not None
    assert interval.estimate == pytest.approx(0.4 / 0.8, abs=0.01)


def test_one_question_has_no_interval_of_a_difference() -> None:
    assert difference_interval([(1, 2)], [(2, 2)], GOOD) is None


def test_verdicts_that_are_alike_within_a_question_count_less() -> None:
    alike, independent = [(4, 4), (0, 4)] * 20, [(2, 4)] * 40

    assert design_effect(alike) == pytest.approx(4, rel=0.05)
    assert design_effect(independent) == 1
    assert design_effect([(4, 4)] * 10) == 4
    assert design_effect([(1, 2)]) == 1


@pytest.mark.parametrize(
    "counts", [[(1, 2, 1, 2)] * 2, [(1, 2, 1)] * 3, [(3, 2, 1, 2)] * 3, [(0, 0, 1, 2)] * 3, [(-1, 2, 1, 2)] * 3]
)
def test_counts_that_are_none_are_refused(counts: Any) -> None:
    with pytest.raises(InvalidValueError):
        fit_error_rates(counts)


@pytest.mark.parametrize(("positives", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_a_share_of_nothing_is_refused(positives: int, n: int) -> None:
    with pytest.raises(InvalidValueError):
        share_interval(positives, n, GOOD)


def _width(interval: Any) -> float:
    return float(interval.upper - interval.lower)
