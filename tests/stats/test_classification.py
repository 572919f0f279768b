from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.stats.classification import accuracy, area_under_roc, by_cluster, counts, kappa, precision, recall
from rag_cover.stats.reliability import calibration_error, reliability_bins
from rag_cover.stats.thresholds import best_cut, cross_fitted

rows = st.lists(st.tuples(st.integers(0, 10).map(lambda tenth: tenth / 10), st.booleans()), min_size=1, max_size=40)


def test_kappa_is_that_of_the_textbook() -> None:
    # two raters of 50 grants: both yes 20, both no 15, the one alone 5, the other alone 10; agreement 0.7, by chance 0.5
    assert kappa(np.array([20.0, 5.0, 10.0, 15.0])) == pytest.approx(0.4)


def test_scores_of_counts_worked_by_hand() -> None:
    sums = counts([1, 1, 1, 0], [1, 1, 0, 1]).sum(axis=0)

    assert [float(figure(sums)) for figure in (accuracy, precision, recall)] == pytest.approx([1 / 2, 2 / 3, 2 / 3])


def test_scores_without_positives_are_undefined_not_zero() -> None:
    sums = counts([0, 0], [0, 0]).sum(axis=0)

    assert np.isnan([precision(sums), recall(sums), kappa(sums)]).all()


def test_half_a_verdict_counts_half() -> None:
    assert accuracy(counts([0.5, 1.0], [1, 1]).sum(axis=0)) == 0.75


@given(rows)
def test_the_area_is_the_share_of_pairs_in_order(found: list[tuple[float, bool]]) -> None:
    area = area_under_roc([p for p, _ in found], [label for _, label in found], range(len(found)))

    pairs = [(p > q) + 0.5 * (p == q) for p, yes in found for q, no in found if yes and not no]
    if pairs:
        assert area is not None
        assert area.estimate == pytest.approx(np.mean(pairs))
    else:
        assert area is None


def test_the_interval_of_the_area_is_that_of_delong_where_every_row_is_its_own_question() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2 == 0
    values = rng.normal(labels.astype(float), 1)

    area = area_under_roc(values, labels, range(200))

    wins = (values[labels][:, None] > values[~labels][None, :]).astype(float)
    variance = wins.mean(axis=1).var() / 100 + wins.mean(axis=0).var() / 100
    assert area is not None
    assert area.upper is not None
    assert area.upper - area.estimate == pytest.approx(1.96 * variance**0.5, rel=0.02)


def test_rows_said_twice_make_the_area_no_surer() -> None:
    values, labels = [0.1, 0.4, 0.35, 0.8, 0.7, 0.2] * 2, [0, 0, 1, 1, 0, 1] * 2

    once = area_under_roc(values[:6], labels[:6], range(6))
    twice = area_under_roc(values, labels, [*range(6), *range(6)])

    assert once is not None
    assert twice is not None
    assert [twice.estimate, twice.lower] == pytest.approx([once.estimate, once.lower])


def test_clusters_are_added_up() -> None:
    assert by_cluster([[1.0], [2.0], [4.0]], ["b", "a", "b"]).tolist() == [[5.0], [2.0]]


@given(rows)
def test_no_cut_does_better_than_the_best(found: list[tuple[float, bool]]) -> None:
    values, labels = np.array([p for p, _ in found]), np.array([label for _, label in found])

    cut = best_cut(values, labels)

    right = np.mean((values >= cut) == labels)
    assert 0 <= cut <= 1
    assert all(right >= np.mean((values >= other) == labels) for other in np.linspace(0, 1, 21))


def test_a_cross_fitted_cut_does_not_flatter_itself() -> None:
    rng = np.random.default_rng(3)
    values, labels = rng.random(40), rng.random(40) < 0.5  # labels by the toss of a coin

    said = cross_fitted(values, labels, range(40))

    assert said is not None
    honest = float(accuracy(counts(said, labels).sum(axis=0)))
    flattered = float(np.mean((values >= best_cut(values, labels)) == labels))
    assert honest < 0.55 < flattered


def test_a_verdict_is_by_the_labels_of_other_questions() -> None:
    # question a alone would put the cut below 0.3, b alone above it: each is judged by the other's
    said = cross_fitted([0.3, 0.2, 0.3, 0.4], [1, 0, 0, 1], ["a", "a", "b", "b"])

    assert said is not None
    assert said.tolist() == [0, 0, 1, 1]


def test_one_question_cannot_be_halved() -> None:
    assert cross_fitted([0.1, 0.9], [0, 1], ["a", "a"]) is None


def test_bins_without_rows_are_absent() -> None:
    bins = reliability_bins([0.0, 0.09, 0.55, 1.0], [0, 1, 1, 1])

    assert [(each.lower, each.n, each.covered) for each in bins] == [(0.0, 2, 0.5), (0.5, 1, 1.0), (0.9, 1, 1.0)]


def test_the_calibration_error_worked_by_hand() -> None:
    # 0.2 and 0.2 of which one is covered, 0.9 which is: (2·|0.5 - 0.2| + 1·|1 - 0.9|) / 3
    assert calibration_error(reliability_bins([0.2, 0.2, 0.9], [1, 0, 1])) == pytest.approx(0.7 / 3)


def test_without_rows_the_calibration_error_is_undefined() -> None:
    assert calibration_error(reliability_bins([], [])) is None
