"""Cost and quality of routing, against one agent for all, random mixtures and the oracle."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover.errors import InvalidValueError
from rag_cover.routing.frontiers import Policy, mixture_quality, trace_frontier
from rag_cover.routing.selection_rules import best_trade, best_within, cheapest_reaching

COSTS = np.array([1.0, 4.0])


def test_predictions_that_are_right_reach_the_oracle() -> None:
    success = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])

    frontier = trace_frontier(success, success, COSTS)

    best = frontier.within(frontier.oracle.cost.estimate)
    assert best is not None
    assert best.quality.estimate == frontier.oracle.quality.estimate == 0.75
    assert frontier.oracle.cost.estimate == (1 + 4 + 1 + 1) / 4


def test_quality_is_compared_with_a_mixture_at_equal_cost() -> None:
    success = np.array([[1.0, 1.0], [0.0, 1.0]] * 50)  # always the first .5 at 1, always the second 1 at 4

    frontier = trace_frontier(success, success, COSTS)

    perfect = next(point for point in frontier.points if point.quality.estimate == 1.0)
    assert perfect.cost.estimate == 2.5
    assert perfect.gain is not None
    assert perfect.gain.estimate == pytest.approx(0.25)  # a mixture has .75 for 2.5
    assert frontier.gain.lower is not None
    assert frontier.gain.lower > 0


@pytest.mark.parametrize("policy", get_args(Policy))
def test_predictions_that_tell_nothing_gain_nothing(policy: Policy) -> None:
    rng = np.random.default_rng(0)
    success = (rng.random((400, 3)) < [0.5, 0.6, 0.8]).astype(float)

    frontier = trace_frontier(success, rng.random((400, 3)), [1.0, 2.0, 5.0], policy=policy)

    assert frontier.gain.lower is not None
    assert frontier.gain.lower < 0.0
    assert frontier.gain.estimate < 0.02


def test_the_dearest_and_the_cheapest_agent_are_ends_of_the_curve() -> None:
    rng = np.random.default_rng(1)
    predicted = rng.random((50, 2))

    frontier = trace_frontier((predicted > 0.5).astype(float), predicted, COSTS, agents=["small", "large"])

    assert [point.name for point in frontier.always] == ["small", "large"]
    assert frontier.points[0].cost.estimate == 1.0
    assert all(1.0 <= point.cost.estimate <= 4.0 for point in frontier.points)


def test_an_agent_that_is_dearer_and_worse_is_no_corner_of_the_mixtures() -> None:
    success = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])

    frontier = trace_frontier(success, success, [1.0, 2.0, 3.0])

    assert frontier.mixtures == ((1.0, 0.5), (3.0, 1.0))


def test_questions_that_an_agent_was_not_asked_are_left_out_and_counted() -> None:
    success = np.array([[1.0, 1.0], [0.0, np.nan], [0.0, 1.0]])

    frontier = trace_frontier(success, np.nan_to_num(success), COSTS)

    assert (frontier.questions, frontier.left_out) == (2, 1)


def test_a_single_question_has_no_interval() -> None:
    frontier = trace_frontier([[1.0, 0.0]], [[0.5, 0.6]], COSTS)

    assert frontier.gain.lower is None


@pytest.mark.parametrize(
    ("success", "predicted", "costs"),
    [
        ([[1.0]], [[0.5]], [1.0]),
        ([[1.0, 0.0]], [[0.5]], COSTS),
        ([[1.0, 0.0]], [[0.5, np.nan]], COSTS),
        ([[1.0, 0.0]], [[0.5, 0.5]], [-1.0, 2.0]),
        ([[np.nan, 0.0]], [[0.5, 0.5]], COSTS),
    ],
)
def test_what_makes_no_frontier_is_refused(
    success: list[list[float]], predicted: list[list[float]], costs: list[float]
) -> None:
    with pytest.raises(InvalidValueError):
        trace_frontier(success, predicted, costs)


def test_below_the_cheapest_agent_nothing_can_be_bought() -> None:
    assert np.isnan(mixture_quality(COSTS, np.array([0.5, 0.9]), np.array([0.5]))[0])


@settings(max_examples=40)
@given(st.integers(0, 100_000))
def test_nobody_beats_the_oracle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    success, predicted, costs = (rng.random((20, 3)) < 0.5).astype(float), rng.random((20, 3)), rng.random(3)

    frontier = trace_frontier(success, predicted, costs, resamples=2)

    assert all(point.quality.estimate <= frontier.oracle.quality.estimate for point in (*frontier.points, *frontier.always))


@given(st.integers(0, 100_000), st.floats(0, 1))
def test_a_reachable_target_is_reached_by_nobody_cheaper(seed: int, target: float) -> None:
    rng = np.random.default_rng(seed)
    predicted, costs = rng.random((10, 4)), rng.integers(1, 4, 4).astype(float)

    chosen = cheapest_reaching(predicted, costs, target)

    for row, place in zip(predicted, chosen, strict=True):
        if (row >= target).any():
            assert row[place] >= target - 1e-9
            assert not ((row >= target) & (costs < costs[place])).any()
        else:
            assert row[place] == row.max()


def test_equally_good_agents_are_told_apart_by_cost_and_then_by_order() -> None:
    even = np.array([[0.6, 0.6, 0.6]])

    assert best_within(even, np.array([2.0, 1.0, 1.0])).tolist() == [1]
    assert cheapest_reaching(even, np.array([2.0, 1.0, 1.0]), 0.9).tolist() == [1]


def test_of_equally_cheap_agents_the_likelier_one_is_taken() -> None:
    assert cheapest_reaching(np.array([[0.7, 0.9]]), np.array([1.0, 1.0]), 0.6).tolist() == [1]


def test_a_rate_of_exchange_buys_what_is_worth_its_price() -> None:
    predicted = np.array([[0.5, 0.9]])

    assert best_trade(predicted, COSTS, 0.1).tolist() == [1]
    assert best_trade(predicted, COSTS, 0.2).tolist() == [0]


def test_a_router_that_always_takes_the_dearest_gains_nothing_on_the_way_there() -> None:
    success = np.array([[1.0, 1.0], [0.0, 1.0]] * 50)

    frontier = trace_frontier(success, np.full((100, 2), [0.4, 0.8]), COSTS, settings=[1.0])

    assert [point.cost.estimate for point in frontier.points] == [4.0]
    assert frontier.gain.estimate == pytest.approx(0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"policy": "traget"}, "Did you mean 'target'"),
        ({"settings": []}, "settings is empty"),
        ({"settings": [float("nan")]}, "target is nan; give a number from 0 to 1"),
        ({"settings": [-1.0], "policy": "exchange"}, "exchange is -1.0; give a finite number of at least 0"),
        ({"agents": ["one"]}, "2 costs need as many names of agents, not 1"),
    ],
)
def test_what_no_router_is_tried_by_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidValueError, match=told):
        trace_frontier([[1.0, 0.0]], [[0.5, 0.5]], COSTS, **given)
