from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rag_cover.errors import InvalidValueError
from rag_cover.stats.intervals import jackknife, permutation_p_value
from rag_cover.stats.paired import compare_pairs, frontier_shares, holm, mean_intervals, on_frontier

p_values = st.lists(st.floats(1e-6, 1), min_size=1, max_size=8)
points = arrays(np.float64, (2, 5), elements=st.integers(0, 4).map(float))


def test_holm_gives_the_adjusted_values_worked_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_holm_of_no_test_is_nothing() -> None:
    assert holm([]) == ()


@given(p_values)
def test_holm_lies_between_the_raw_value_and_bonferroni(raw: list[float]) -> None:
    adjusted = holm(raw)

    assert all(one <= each <= min(1.0, len(raw) * one) + 1e-12 for one, each in zip(raw, adjusted, strict=True))


@given(p_values)
def test_holm_keeps_the_order_of_the_tests(raw: list[float]) -> None:
    adjusted = holm(raw)

    for (one, first), (other, second) in product(zip(raw, adjusted, strict=True), repeat=2):
        assert one > other or first <= second


@given(points)
def test_nothing_on_the_frontier_is_beaten_and_all_else_is(table: np.ndarray) -> None:
    worth, length = table

    frontier = on_frontier(worth, length)

    for here in range(5):
        rivals = [there for there in range(5) if (worth[there], length[there]) != (worth[here], length[here])]
        beaten = any(worth[there] >= worth[here] and length[there] <= length[here] for there in rivals)
        assert frontier[here] != beaten


def test_equal_settings_share_the_frontier() -> None:
    assert on_frontier([0.5, 0.5], [10, 10]).tolist() == [True, True]


def test_a_setting_best_on_every_question_is_on_every_resampled_frontier() -> None:
    worth = np.array([[0.9, 0.1], [0.8, 0.3], [0.7, 0.2]])
    length = np.array([[10, 20], [10, 20], [10, 20]])

    assert frontier_shares(worth, length).tolist() == [1.0, 0.0]


def test_a_place_on_the_frontier_that_hangs_on_one_question_is_told() -> None:
    worth = np.array([[1.0, 0.0], *[[0.0, 0.05]] * 9])
    length = np.full((10, 2), 10)

    first, second = frontier_shares(worth, length)

    assert first + second == pytest.approx(1.0, abs=0.05)
    assert 0.5 < first < 0.8  # the one question is in a resample with probability 1 - 0.9^10 = 0.65


def test_a_difference_of_the_same_values_is_nothing_and_not_clear() -> None:
    values = [[0.1], [0.4], [0.3]]

    (same,) = compare_pairs(values, values)

    assert (same.interval.estimate, same.interval.lower, same.interval.upper) == (0.0, 0.0, 0.0)
    assert same.p_value == 1.0


def test_ten_gains_of_ten_have_the_p_value_of_ten_coins() -> None:
    (gained,) = compare_pairs(np.zeros((10, 1)), np.full((10, 1), 0.1))

    assert gained.interval.estimate == pytest.approx(0.1)
    assert gained.p_value == pytest.approx(2 / 2**10, abs=1.5e-3)


def test_one_question_has_a_difference_and_no_interval() -> None:
    (lone,) = compare_pairs([[0.1]], [[0.4]])

    assert lone.interval.estimate == pytest.approx(0.3)
    assert (lone.interval.lower, lone.p_value) == (None, 1.0)


def test_columns_are_tested_as_if_each_were_alone() -> None:
    rng = np.random.default_rng(3)
    before, after = rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) + 0.3

    together = compare_pairs(before, after)

    for column, paired in enumerate(together):
        (alone,) = compare_pairs(before[:, [column]], after[:, [column]])
        assert paired.p_value == alone.p_value
        assert paired.interval.lower == pytest.approx(alone.interval.lower)


def test_it_agrees_with_the_test_and_the_interval_of_a_comparison() -> None:
    rng = np.random.default_rng(5)
    before, after = rng.normal(size=(40, 1)), rng.normal(size=(40, 1)) + 0.4
    ones = np.ones((40, 1))
    first, second = (np.hstack([side, ones]) for side in (before, after))

    (paired,) = compare_pairs(before, after)

    p_value = permutation_p_value(first, second, lambda sums: sums[..., 0] / sums[..., 1])
    interval = jackknife(np.hstack([after - before, ones]), lambda sums: sums[..., 0] / sums[..., 1])
    assert p_value is not None
    assert interval is not None
    assert paired.p_value == pytest.approx(p_value, abs=0.01)
    assert (paired.interval.lower, paired.interval.upper) == pytest.approx((interval.lower, interval.upper))


def test_a_mean_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="needs one at least"):
        mean_intervals(np.empty((0, 2)))


def test_an_undefined_value_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="leave out the questions without one"):
        mean_intervals([[np.nan, 0.5], [0.2, 0.5]])


def test_two_shapes_are_not_compared() -> None:
    with pytest.raises(InvalidValueError, match="the same questions"):
        compare_pairs([[0.1]], [[0.3], [0.4], [0.5]])
