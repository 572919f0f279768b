"""Passages are chosen by what they cover that is not covered yet, by score where that is equal, and fairly."""

import math
from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.augmentation.selection import select_passages
from rag_cover.errors import InvalidValueError


@st.composite
def instances(draw: st.DrawFn) -> tuple[NDArray[np.bool_], list[float], int]:
    rows, columns = draw(st.integers(0, 5)), draw(st.integers(0, 7))
    bits = draw(st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns))
    scores = draw(st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=columns, max_size=columns))
    return np.array(bits, dtype=bool).reshape(rows, columns), scores, draw(st.integers(1, 4))


def covered(covers: NDArray[np.bool_], places: Iterable[int]) -> int:
    return int(covers[:, np.array(list(places), dtype=int)].any(axis=1).sum())


def test_what_is_covered_already_gains_nothing_more() -> None:
    covers = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]], dtype=bool)

    assert select_passages(covers, [0.9, 0.8, 0.1, 1.0], k=2) == [0, 2]


def test_of_passages_that_cover_as_much_the_better_retrieved_comes_first_then_the_earlier() -> None:
    covers = np.array([[1, 1, 1, 1]], dtype=bool)

    assert select_passages(covers, [0.5, 1.0, 0.5, 1.0], k=4) == [1, 3, 0, 2]


def test_scores_decide_where_nothing_was_judged() -> None:
    assert select_passages(np.zeros((0, 3), dtype=bool), [0.2, 0.9, 0.5], k=2) == [1, 2]


def test_the_question_keeps_its_share() -> None:
    covers = np.array([[0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]], dtype=bool)

    places = select_passages(covers, [1.0, 0.5, 1.0, 0.5, 0.3], k=4, own={0, 1}, fair_share=0.5)

    assert places == [2, 3, 0, 1]


def test_a_share_is_rounded_down_and_not_by_a_hair_too_far() -> None:
    covers = np.zeros((1, 200), dtype=bool)
    covers[0, 100:] = True
    scores = [0.1] * 100 + [1.0] * 100

    places = select_passages(covers, scores, k=100, own=set(range(100)), fair_share=0.29)

    assert sum(place < 100 for place in places) == 29


def test_a_passage_that_does_not_fit_is_passed_over() -> None:
    covers = np.array([[1, 1, 0]], dtype=bool)

    assert select_passages(covers, [1.0, 0.9, 0.1], k=3, costs=[50, 10, 5], most=15) == [1, 2]


def test_nothing_fits_where_nothing_does() -> None:
    assert select_passages(np.ones((1, 2), dtype=bool), [1.0, 0.5], k=2, costs=[3, 4], most=2) == []


def test_nothing_is_chosen_of_nothing() -> None:
    assert select_passages(np.zeros((2, 0), dtype=bool), [], k=3) == []


@pytest.mark.parametrize(("k", "share"), [(0, 0.5), (-1, 0.5), (1, 1.1), (1, -0.1), (1, math.nan)])
def test_what_is_no_number_of_passages_or_share_is_refused(k: int, share: float) -> None:
    with pytest.raises(InvalidValueError, match="(k|fair_share) is .*; give a "):
        select_passages(np.zeros((1, 1), dtype=bool), [1.0], k=k, fair_share=share)


@given(instances(), st.sets(st.integers(0, 6)), st.floats(0, 1), st.integers(0, 30))
def test_a_choice_is_within_its_bounds(
    instance: tuple[NDArray[np.bool_], list[float], int], own: set[int], share: float, most: int
) -> None:
    covers, scores, k = instance
    costs = [3 * place % 7 for place in range(len(scores))]

    places = select_passages(covers, scores, k=k, own=own & set(range(len(scores))), fair_share=share, costs=costs, most=most)

    assert len(places) == len(set(places)) <= k
    assert set(places) <= set(range(len(scores)))
    assert sum(costs[place] for place in places) <= most


@given(instances(), st.sets(st.integers(0, 6)), st.floats(0, 1))
def test_the_share_of_the_question_is_kept_as_far_as_it_brought_passages(
    instance: tuple[NDArray[np.bool_], list[float], int], own: set[int], share: float
) -> None:
    covers, scores, k = instance
    mine = own & set(range(len(scores)))

    places = select_passages(covers, scores, k=k, own=mine, fair_share=share)

    assert len(mine & set(places)) >= min(len(mine), math.floor(share * k))
    assert len(places) == min(k, len(scores))


@given(instances())
def test_greedy_covers_at_least_63_percent_of_what_is_possible(
    instance: tuple[NDArray[np.bool_], list[float], int],
) -> None:
    covers, scores, k = instance

    reached = covered(covers, select_passages(covers, scores, k=k))

    best = max(covered(covers, places) for places in combinations(range(len(scores)), min(k, len(scores))))
    assert reached >= (1 - 1 / math.e) * best


@given(instances())
def test_room_for_another_passage_never_lowers_what_is_covered(
    instance: tuple[NDArray[np.bool_], list[float], int],
) -> None:
    covers, scores, k = instance

    less, more = select_passages(covers, scores, k=k), select_passages(covers, scores, k=k + 1)

    assert more[: len(less)] == less
    assert covered(covers, more) >= covered(covers, less)


@given(instances(), st.lists(st.booleans(), min_size=5, max_size=5))
def test_another_passage_never_lowers_what_is_covered_where_there_is_room(
    instance: tuple[NDArray[np.bool_], list[float], int], column: list[bool]
) -> None:
    covers, scores, _ = instance
    more = np.hstack([covers, np.array(column[: len(covers)], dtype=bool).reshape(-1, 1)])

    places = select_passages(more, [*scores, 0.1], k=len(scores) + 1)

    assert covered(more, places) >= covered(covers, range(len(scores)))
