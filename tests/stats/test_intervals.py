import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.errors import InvalidValueError
from rag_cover.stats.intervals import (
    Interval,
    bootstrap,
    cluster_robust,
    jackknife,
    jackknife_share,
    permutation_p_value,
    swaps,
    wilson,
)

Floats = NDArray[np.float64]


def _share(sums: Floats) -> Floats:
    share: Floats = np.divide(sums[..., 0], sums[..., 1], out=np.full(sums.shape[:-1], math.nan), where=sums[..., 1] > 0)
    return share


def test_wilson_gives_the_textbook_interval() -> None:
    interval = wilson(10, 100)

    assert interval.estimate == 0.1
    assert interval.lower == pytest.approx(0.05523, abs=1e-5)
    assert interval.upper == pytest.approx(0.17437, abs=1e-5)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 3), (4, 3)])
def test_wilson_refuses_what_is_no_proportion(successes: int, n: int) -> None:
    with pytest.raises(InvalidValueError):
        wilson(successes, n)


@given(st.integers(0, 50), st.integers(1, 50))
def test_wilson_holds_its_estimate_and_stays_within_bounds(successes: int, more: int) -> None:
    interval = wilson(successes, successes + more)

    assert interval.lower is not None
    assert interval.upper is not None
    assert 0 <= interval.lower <= interval.estimate <= interval.upper <= 1


def test_the_bootstrap_resamples_clusters_not_rows() -> None:
    pairs = [[1, 1], [0, 1]] * 50
    clusters = [[50, 50], [0, 50]]

    by_row, by_cluster = bootstrap(pairs, _share), bootstrap(clusters, _share)

    assert by_row is not None
    assert by_cluster is not None
    assert by_row.estimate == by_cluster.estimate == 0.5
    assert (by_cluster.lower, by_cluster.upper) == (0, 1)
    assert by_row.upper is not None
    assert by_row.upper < 0.65


def test_one_cluster_has_an_estimate_and_no_interval() -> None:
    interval = bootstrap([[1, 2]], _share)

    assert interval is not None
    assert (interval.estimate, interval.lower, interval.upper, interval.n) == (0.5, None, None, 1)


def test_an_undefined_statistic_has_no_interval() -> None:
    assert bootstrap([[0, 0], [0, 0]], _share) is None
    assert bootstrap(np.zeros((0, 2)), _share) is None


def test_the_same_seed_gives_the_same_interval() -> None:
    rows = [[i % 3, 3] for i in range(30)]

    assert bootstrap(rows, _share, seed=3) == bootstrap(rows, _share, seed=3)


def test_equal_sides_have_a_p_value_of_one() -> None:
    rows = [[1, 2], [2, 2], [0, 2]]

    assert permutation_p_value(rows, rows, _share) == 1


def test_a_difference_in_every_question_is_as_unlikely_as_a_coin_that_always_falls_one_way() -> None:
    worse, better = [[0, 1]] * 10, [[1, 1]] * 10

    exact, drawn = (permutation_p_value(worse, better, _share, permutations=number) for number in (20_000, 500))

    assert exact == 2 / 2**10
    assert drawn is not None
    assert 0 < drawn < 0.02


def test_few_clusters_are_swapped_in_every_way_and_many_at_random() -> None:
    (every,) = swaps(4, permutations=16)
    first, *drawn = swaps(5, permutations=16)

    assert len(np.unique(every, axis=0)) == 16
    assert every[0].tolist() == [1.0] * 4
    assert first.tolist() == [[1.0] * 5]
    assert sum(map(len, drawn)) == 16


def test_a_paired_test_refuses_unequal_sides() -> None:
    with pytest.raises(InvalidValueError):
        permutation_p_value([[1, 1]], [[1, 1], [0, 1]], _share)


def test_a_cluster_robust_interval_is_that_of_the_mean_where_clusters_are_rows() -> None:
    values = np.array([2.0, 4.0, 4.0, 5.0, 5.0])

    interval = cluster_robust(4.0, (values - 4) / 5)

    # s² = 6/4, se = sqrt(1.5/5), t of 4 degrees of freedom 2.776
    assert interval.upper == pytest.approx(4 + 2.776 * math.sqrt(0.3), abs=0.001)
    assert interval.n == 5


@pytest.mark.parametrize(("degrees", "quantile"), [(3, 3.182), (4, 2.776), (9, 2.262), (49, 2.010), (999, 1.962)])
def test_its_quantile_is_student_s(degrees: int, quantile: float) -> None:
    interval = cluster_robust(0.0, [1.0, -1.0], degrees=degrees)

    half = math.sqrt((degrees + 1) / degrees * 2)
    assert interval.upper == pytest.approx(quantile * half, rel=0.002)


def test_three_clusters_have_an_estimate_and_no_interval() -> None:
    interval = cluster_robust(0.5, [0.1, 0.0, -0.1])

    assert (interval.estimate, interval.lower, interval.upper, interval.n) == (0.5, None, None, 3)


def test_the_jackknife_of_a_mean_is_student_s_interval() -> None:
    interval = jackknife([(value, 1.0) for value in (2.0, 4.0, 4.0, 5.0, 5.0)], _share)

    assert interval is not None
    assert interval.upper == pytest.approx(4 + 2.776 * math.sqrt(0.3), abs=0.001)
    assert interval.n == 5


@pytest.mark.parametrize(("clusters", "quantile"), [(2, 12.706), (3, 4.303), (4, 3.182)])
def test_few_clusters_have_the_quantiles_of_few_degrees_of_freedom(clusters: int, quantile: float) -> None:
    values = np.arange(clusters, dtype=float)

    interval = jackknife(np.column_stack([values, np.ones(clusters)]), _share)

    assert interval is not None
    assert interval.upper == pytest.approx(values.mean() + quantile * values.std(ddof=1) / math.sqrt(clusters), rel=0.001)


def test_an_interval_keeps_to_the_values_that_a_statistic_can_have() -> None:
    interval = jackknife([(1.0, 1.0), (0.0, 1.0)], _share, low=-1.0, high=1.0)

    assert interval == Interval(0.5, -1.0, 1.0, 2)


def test_a_statistic_that_hangs_on_one_cluster_has_no_bounds() -> None:
    rows = [(1.0, 2.0), (0.0, 0.0), (0.0, 0.0)]

    assert jackknife_share(rows, _share) == jackknife(rows, _share) == Interval(0.5, None, None, 3)


def test_a_share_on_which_all_clusters_agree_is_not_certain() -> None:
    none, half, all_ = (jackknife_share([(value, 1.0)] * 12, _share) for value in (0.0, 0.5, 1.0))

    assert none == wilson(0, 12)
    assert all_ == wilson(12, 12)
    assert half is not None
    assert half.lower == pytest.approx(0.23, abs=0.01)


def test_a_share_of_a_single_cluster_has_no_interval() -> None:
    assert jackknife_share([(1.0, 1.0)], _share) == Interval(1.0, None, None, 1)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=2, max_size=30))
def test_a_share_s_interval_holds_it_and_stays_within_bounds(counts: list[tuple[int, int]]) -> None:
    interval = jackknife_share([(yes, yes + no) for yes, no in counts], _share)

    if interval is not None and interval.lower is not None and interval.upper is not None:
        assert 0 <= interval.lower <= interval.estimate <= interval.upper <= 1


def test_alike_clusters_make_a_share_less_sure_than_as_many_independent_rows() -> None:
    rows, clusters = ([(5, 5), (0, 5)] * 10, [(1, 1), (0, 1)] * 50)

    alike, independent = (jackknife_share(each, _share) for each in (rows, clusters))

    assert alike is not None
    assert independent == pytest.approx(wilson(50, 100), abs=0.005) or independent is not None
    assert alike.lower == pytest.approx(0.28, abs=0.02)


def test_arrangements_without_a_value_are_left_out() -> None:
    """Of eight arrangements two leave one side nothing to divide by; two of the other six are as extreme."""
    assert permutation_p_value([(1, 1), (0, 0), (0, 0)], [(0, 0), (0, 1), (0, 1)], _share) == pytest.approx(2 / 6)


def test_bounds_are_not_cut_off_below_an_estimate_beyond_them() -> None:
    interval = jackknife([(0, 1), (3, 1), (3, 1), (3, 1)], _share, low=-1.0, high=1.5)

    assert interval is not None
    assert interval.upper is not None
    assert interval.estimate == 2.25 < interval.upper
