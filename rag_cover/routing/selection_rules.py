"""Which agent a question goes to, given what each would make of it and costs: the rules of `SkillRouter`, on plain arrays.

``predicted`` is (questions, agents), the probability that each agent succeeds; ``costs`` is (agents,). All return (questions,)
places of agents. Of agents that are equally good the cheaper one is taken, of equally cheap ones the first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_trade", "best_within", "cheapest_reaching", "cheapest_right"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_DIGITS = 12  # predictions that differ by less are equal: their sums were rounded


def best_within(predicted: Floats, costs: Floats, *, budget: float | None = None) -> Places:
    """Take the agent most likely to succeed of those that cost at most the budget.

    >>> best_within(np.array([[0.5, 0.9], [0.6, 0.6]]), np.array([1.0, 4.0])).tolist()
    [1, 0]
    """
    return _best(np.where(_affordable(costs, budget), predicted, -np.inf), costs)


def cheapest_reaching(predicted: Floats, costs: Floats, target: float, *, budget: float | None = None) -> Places:
    """Take the cheapest agent whose predicted success is at least the target; where none is, the best within the budget.

    >>> cheapest_reaching(np.array([[0.7, 0.9], [0.5, 0.9], [0.5, 0.6]]), np.array([1.0, 4.0]), 0.7).tolist()
    [0, 1, 1]
    """
    reaching = (np.round(predicted, _DIGITS) >= round(target, _DIGITS)) & _affordable(costs, budget)
    least = np.where(reaching, costs, np.inf).min(axis=1, keepdims=True)
    cheapest = _best(np.where(reaching & (costs == least), predicted, -np.inf), costs)
    return np.where(reaching.any(axis=1), cheapest, best_within(predicted, costs, budget=budget))


def best_trade(predicted: Floats, costs: Floats, exchange: float) -> Places:
    """Take the agent with the highest predicted success less its cost, a unit of cost being worth ``exchange`` of success.

    >>> best_trade(np.array([[0.5, 0.9]]), np.array([1.0, 4.0]), 0.2).tolist()
    [0]
    """
    return _best(predicted - exchange * costs, costs)


def cheapest_right(success: Floats, costs: Floats) -> Places:
    """Take the cheapest agent that succeeds, as only an oracle knows; where none does, the cheapest of all.

    >>> cheapest_right(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 4.0])).tolist()
    [1, 0]
    """
    return _best(success, costs)


def _best(values: Floats, costs: Floats) -> Places:
    order = np.argsort(costs, kind="stable")
    return np.asarray(order[np.argmax(np.round(values, _DIGITS)[:, order], axis=1)])


def _affordable(costs: Floats, budget: float | None) -> NDArray[np.bool_]:
    return np.ones(len(costs), dtype=bool) if budget is None else np.asarray(costs <= budget)
