"""The area under the curve and the fitted numbers, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rag_cover_transformers.training.fitting import balanced_cut, fit_temperature, rank_accuracy, shares_temperature


def test_the_area_is_the_share_of_pairs_in_order() -> None:
    scores, truth = np.array([0.9, 0.8, 0.7, 0.6, 0.5]), np.array([True, False, True, False, True])

    assert rank_accuracy(scores, truth) == pytest.approx(3 / 6)


def test_a_perfect_order_is_one_its_opposite_zero_and_ties_a_half() -> None:
    truth = np.array([True, True, False])

    found = [rank_accuracy(np.array(scores), truth) for scores in ([3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0])]

    assert found == [1, 0, 0.5]


def test_the_temperature_makes_confidence_fit_how_often_it_is_right() -> None:
    logits, truth = np.full(100, 3.0), np.arange(100) < 80

    found = fit_temperature(logits, truth)

    assert 1 / (1 + np.exp(-3 / found)) == pytest.approx(0.8, abs=0.02)


def test_shares_are_fitted_by_cross_entropy_and_default_to_one() -> None:
    rows = [(np.array([2.0, 0.0]), np.array([1.0, 0.0]))] * 3 + [(np.array([2.0, 0.0]), np.array([0.0, 1.0]))]

    found = shares_temperature(rows)

    assert 1 / (1 + np.exp(-2 / found)) == pytest.approx(0.75, abs=0.02)
    assert shares_temperature([]) == 1.0


def test_the_cut_lies_between_the_classes_and_is_a_half_without_one_of_them() -> None:
    assert balanced_cut(np.array([0.2, 0.3, 0.8, 0.9]), np.array([False, False, True, True])) == pytest.approx(0.55)
    assert balanced_cut(np.array([0.2, 0.9]), np.array([True, True])) == 0.5
    assert balanced_cut(np.zeros(0), np.zeros(0, bool)) == 0.5
