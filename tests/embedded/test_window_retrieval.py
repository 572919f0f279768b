"""The first stage: which windows are worth reading, and what is said of a text that is not read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover_embedded.answers import Proposing
from rag_cover_embedded.window_retrieval import window_scores

PROPOSING = Proposing(floor=0.4, margin=0.2, most=3, slope=10.0, intercept=-6.0)
scores = st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=30).map(lambda values: np.array(values, dtype=np.float32))


def test_the_best_windows_come_first() -> None:
    ranked = PROPOSING.rank_windows(np.array([0.5, 0.9, 0.8, 0.75], dtype=np.float32))

    assert ranked == [1, 2, 3]


def test_a_window_far_below_the_best_is_not_read() -> None:
    ranked = PROPOSING.rank_windows(np.array([0.9, 0.69, 0.71], dtype=np.float32))

    assert ranked == [0, 2]


def test_a_window_below_the_floor_is_not_read() -> None:
    ranked = PROPOSING.rank_windows(np.array([0.39, 0.45], dtype=np.float32))

    assert ranked == [1]


def test_of_equal_windows_the_earlier_goes_first() -> None:
    ranked = PROPOSING.rank_windows(np.array([0.5, 0.6, 0.6], dtype=np.float32))

    assert ranked == [1, 2, 0]


@given(scores)
def test_never_more_windows_than_allowed_and_never_worse_before_better(values: NDArray[np.float32]) -> None:
    ranked = PROPOSING.rank_windows(values)

    found = values[ranked].tolist()
    assert len(ranked) <= 3
    assert found == sorted(found, reverse=True)
    assert (values.max() >= np.float32(0.4)) == bool(ranked)


@given(st.floats(-1, 1), st.floats(0.01, 0.99))
def test_a_text_that_is_not_read_is_never_covered(score: float, threshold: float) -> None:
    assert 0 < PROPOSING.estimate(score, threshold) < threshold


def test_an_estimate_is_the_fitted_logistic() -> None:
    assert PROPOSING.estimate(0.6, 0.9) == pytest.approx(0.5)


def test_a_window_scores_the_mean_of_its_content_words_best_cosines() -> None:
    similar = np.array([[0.2, 0.8, 0.1], [0.9, 0.9, 0.9], [0.4, 0.0, 0.6]], dtype=np.float32)
    weights = np.array([1, 0, 1], dtype=np.float32)

    found = window_scores(similar, weights, [(0, 2), (1, 3), (2, 3)])

    assert found.tolist() == pytest.approx([(0.8 + 0.4) / 2, (0.8 + 0.6) / 2, (0.1 + 0.6) / 2])
