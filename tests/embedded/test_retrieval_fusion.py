"""Reciprocal-rank fusion: what stands first in every ranking has 1, what one of them leaves out loses its share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover_embedded.retrieval.fusion import fuse_rankings, rank_scores

values = st.lists(st.floats(-1, 1, width=32).map(lambda value: round(value, 1)), max_size=30)
rankings = st.lists(st.lists(st.integers(0, 40), unique=True, max_size=20), min_size=1, max_size=4)


def test_the_score_is_the_mean_of_reciprocal_ranks() -> None:
    places, scores = fuse_rankings([np.array([4, 2, 9]), np.array([2, 7])], kappa=60)

    assert places.tolist() == [2, 4, 7, 9]
    expected = [(1 / 62 + 1 / 61), 1 / 61, 1 / 62, 1 / 63]  # by hand, times 61 / 2 so that first in both is 1
    assert scores.tolist() == pytest.approx([61 / 2 * share for share in expected])


def test_first_in_every_ranking_is_one() -> None:
    _, scores = fuse_rankings([np.array([3, 1]), np.array([3, 2]), np.array([3])], kappa=10)

    assert scores[0] == pytest.approx(1)


def test_rankings_that_hold_nothing_fuse_to_nothing() -> None:
    places, scores = fuse_rankings([np.zeros(0, np.intp), np.zeros(0, np.intp)], kappa=10)

    assert len(places) == len(scores) == 0


@given(rankings)
def test_fusion_keeps_everything_once_and_never_scores_worse_before_better(given_rankings: list[list[int]]) -> None:
    places, scores = fuse_rankings([np.array(ranking, dtype=np.intp) for ranking in given_rankings], kappa=10)

    assert sorted(places.tolist()) == sorted({place for ranking in given_rankings for place in ranking})
    assert scores.tolist() == sorted(scores.tolist(), reverse=True)
    assert all(0 < score <= 1 + 1e-12 for score in scores)


@given(values, st.integers(0, 40))
def test_ranking_a_few_is_the_head_of_ranking_all(scores: list[float], most: int) -> None:
    by_hand = sorted(range(len(scores)), key=lambda place: (-np.float32(scores[place]), place))

    found = rank_scores(np.array(scores, dtype=np.float32), most)

    assert found.tolist() == by_hand[:most]
