"""What a router's quality costs, against what needs no router: one agent for all, a random mixture of two, and the oracle.

A random mixture sends each question to one of two agents by chance and so reaches every point between theirs; the best pair
is chosen in hindsight, so the comparison favours the mixture. Quality at equal cost is compared inside each resample of the
questions, all policies on the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.argument_checks import refuse_negative, refuse_other_than, refuse_outside
from rag_cover.errors import InvalidValueError
from rag_cover.routing.selection_rules import best_trade, cheapest_reaching, cheapest_right
from rag_cover.stats.intervals import Interval

__all__ = ["Frontier", "Policy", "PolicyPoint", "mixture_quality", "trace_frontier"]

Floats = NDArray[np.float64]
Policy = Literal["target", "exchange"]
"""The cheapest agent that reaches a target, or the best of success less cost at a rate of exchange."""

_SETTINGS = 21
_GRID = 41  # costs at which two curves are compared
_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class PolicyPoint:
    """One way of routing: its mean quality and cost over questions, and its quality less the best mixture's at its cost.

    ``setting`` is the router's target or rate of exchange, None for other ways.
    """

    name: str
    setting: float | None
    cost: Interval
    quality: Interval
    gain: Interval | None = None


@dataclass(frozen=True, slots=True)
class Frontier:
    """A router's curve with what to hold it against; cheapest first.

    ``mixtures`` are the agents between which some random mixture is the best without a router. ``gain`` is the router's
    quality less the best mixture's, averaged over costs between the cheapest and the dearest agent's. ``left_out`` counts
    questions that some agent has no outcome for.
    """

    policy: Policy
    points: tuple[PolicyPoint, ...]
    always: tuple[PolicyPoint, ...]
    mixtures: tuple[tuple[float, float], ...]
    oracle: PolicyPoint
    gain: Interval
    questions: int
    left_out: int = 0

    def within(self, cost: float) -> PolicyPoint | None:
        """Return the router's best point of at most this mean cost; None where every one costs more."""
        affordable = [point for point in self.points if point.cost.estimate <= cost]
        return max(affordable, key=lambda point: point.quality.estimate, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return asdict(self)


def trace_frontier(
    success: ArrayLike,
    predicted: ArrayLike,
    costs: ArrayLike,
    *,
    agents: Sequence[str] | None = None,
    policy: Policy = "target",
    settings: Sequence[float] | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> Frontier:
    """Trace what a router gives over all its settings, with 95% intervals that resample questions.

    Args:
        success: (n, a) in [0, 1], what each agent made of each question; questions with NaN, not asked, are left out.
        predicted: (n, a), its predicted success, by a model that did not see these questions, or the curve flatters.
        costs: (a,) of one question, at least 0.
        agents: (a,) their names.
        policy: how the router decides.
        settings: the targets, or rates of exchange, to try; None: about twenty that differ in what they choose.
        resamples: how many question sets to draw.
        seed: seed of the random generator (resamples).

    Raises:
        InvalidValueError: arrays that do not fit together, bad costs, fewer than two agents, or no question left.
    """
    right, predictions, prices = _check_tables(success, predicted, costs)
    refuse_other_than(get_args(Policy), policy=policy)
    names = [f"agent {number}" for number in range(1, len(prices) + 1)] if agents is None else list(agents)
    if len(names) != len(prices):
        message = f"{len(prices)} costs need as many names of agents, not {len(names)}"
        raise InvalidValueError(message)
    if settings is not None:
        _refuse_settings(settings, policy)
    kept = ~np.isnan(right).any(axis=1)
    right, predictions = right[kept], predictions[kept]
    if not len(right):
        message = "no question has an outcome of every agent; leave out the agents that were asked least"
        raise InvalidValueError(message)
    tried = _settings(predictions, prices, policy) if settings is None else [float(setting) for setting in settings]
    chosen = np.column_stack([_choose(predictions, prices, policy, setting) for setting in tried])
    draws = _Draws.of(right, prices, np.column_stack([chosen, cheapest_right(right, prices)]), resamples, seed)
    points = [
        PolicyPoint(f"{policy} {setting:.4g}", setting, draws.cost(column), draws.quality(column), draws.gain(column))
        for column, setting in enumerate(tried)
    ]
    always = [
        PolicyPoint(name, None, Interval(float(price), float(price), float(price), len(right)), draws.always(column))
        for column, (name, price) in enumerate(zip(names, prices, strict=True))
    ]
    oracle = PolicyPoint("oracle", None, draws.cost(len(tried)), draws.quality(len(tried)), draws.gain(len(tried)))
    return Frontier(
        policy=policy,
        points=tuple(sorted(_distinct(points), key=_cost_of)),
        always=tuple(sorted(always, key=_cost_of)),
        mixtures=_hull(prices, right.mean(axis=0)),
        oracle=oracle,
        gain=draws.area(len(tried)),
        questions=len(right),
        left_out=int((~kept).sum()),
    )


def mixture_quality(costs: Floats, quality: Floats, spent: Floats) -> Floats:
    """Return the best mean quality of one agent, or a random mixture of two, that costs at most ``spent`` on average.

    >>> mixture_quality(np.array([1.0, 3.0]), np.array([0.5, 0.9]), np.array([2.0])).tolist()
    [0.7]

    Args:
        costs: (a,) of the agents.
        quality: (..., a) of the agents.
        spent: (..., s) mean costs; below the cheapest agent's nothing can be bought, and the result is NaN.
    """
    best = np.full(spent.shape, -np.inf)
    for place, cost in enumerate(costs):
        best = np.maximum(best, np.where(spent >= cost - 1e-12, quality[..., place, None], -np.inf))
    for low, high in permutations(range(len(costs)), 2):
        if costs[low] < costs[high]:
            share = (spent - costs[low]) / (costs[high] - costs[low])
            mixed = (1 - share) * quality[..., low, None] + share * quality[..., high, None]
            best = np.maximum(best, np.where((share >= 0) & (share <= 1), mixed, -np.inf))
    return np.where(np.isneginf(best), np.nan, best)


@dataclass(frozen=True, slots=True)
class _Draws:
    """Mean quality and cost of policies (draws, policies), quality of agents (draws, a); the first row is the data itself."""

    qualities: Floats
    spent: Floats
    agents: Floats
    prices: Floats
    n: int

    @classmethod
    def of(cls, right: Floats, prices: Floats, chosen: NDArray[np.intp], resamples: int, seed: int) -> _Draws:
        taken, paid = np.take_along_axis(right, chosen, axis=1), prices[chosen]
        whole = np.hstack([taken, paid, right])
        n, policies = chosen.shape
        rng = np.random.default_rng(seed)
        rows = [whole.mean(axis=0, keepdims=True)]
        at_once = max(1, _AT_ONCE // n)
        rows += [
            rng.multinomial(n, np.full(n, 1 / n), size=min(at_once, resamples - done)) @ whole / n
            for done in range(0, resamples if n > 1 else 0, at_once)
        ]
        means = np.concatenate(rows)
        return cls(means[:, :policies], means[:, policies : 2 * policies], means[:, 2 * policies :], prices, n)

    def quality(self, column: int) -> Interval:
        return self._interval(self.qualities[:, column])

    def cost(self, column: int) -> Interval:
        return self._interval(self.spent[:, column])

    def always(self, column: int) -> Interval:
        return self._interval(self.agents[:, column])

    def gain(self, column: int) -> Interval:
        spent = self.spent[:, column, None]
        return self._interval((self.qualities[:, column, None] - mixture_quality(self.prices, self.agents, spent))[:, 0])

    def area(self, policies: int) -> Interval:
        """Average the first so many policies' quality less the best mixture's over costs, each draw on its own."""
        grid = np.linspace(self.prices.min(), self.prices.max(), _GRID)
        mixed = mixture_quality(self.prices, self.agents, np.broadcast_to(grid, (len(self.agents), _GRID)))
        cheapest = int(np.argmin(self.prices))  # below what the router's settings spend, it is the cheapest agent
        spent = np.insert(self.spent[:, :policies], 0, self.prices[cheapest], axis=1)
        quality = np.insert(self.qualities[:, :policies], 0, self.agents[:, cheapest], axis=1)
        curves = np.array([_curve(*each, grid) for each in zip(spent, quality, strict=True)])
        return self._interval((curves - mixed).mean(axis=1))

    def _interval(self, values: Floats) -> Interval:
        estimate = float(values[0])
        if len(values) == 1:
            return Interval(estimate, None, None, self.n)
        lower, upper = np.quantile(values[1:], [0.025, 0.975])
        return Interval(estimate, float(lower), float(upper), self.n)


def _curve(spent: Floats, quality: Floats, grid: Floats) -> Floats:
    """Return a router's quality at each cost: between two settings, questions are shared out between them by chance."""
    order = np.argsort(spent, kind="stable")
    return np.asarray(np.interp(grid, spent[order], quality[order]))


def _choose(said: Floats, prices: Floats, policy: Policy, setting: float) -> NDArray[np.intp]:
    if policy == "target":
        return cheapest_reaching(said, prices, setting)
    return best_trade(said, prices, setting)


def _settings(said: Floats, prices: Floats, policy: Policy) -> list[float]:
    """Spread settings over what they can decide: predictions for targets, success per cost for rates of exchange."""
    if policy == "target":
        return [0.0, *np.unique(np.quantile(said, np.linspace(0, 1, _SETTINGS))), 1.0]
    order = np.argsort(prices, kind="stable")
    gained, paid = np.diff(said[:, order], axis=1), np.diff(prices[order])
    rates = (gained / np.where(paid > 0, paid, np.inf))[:, paid > 0].ravel()
    useful = rates[rates > 0]
    spread = np.unique(np.quantile(useful, np.linspace(0, 1, _SETTINGS))) if len(useful) else np.array([1.0])
    return [0.0, *spread, float(spread[-1]) * 1.001]


def _refuse_settings(settings: Sequence[float], policy: Policy) -> None:
    if not len(settings):
        message = "settings is empty; give some, or leave it out"
        raise InvalidValueError(message)
    for setting in settings:
        if policy == "target":
            refuse_outside(0, 1, target=setting)
        else:
            refuse_negative(exchange=setting)


def _distinct(points: Sequence[PolicyPoint]) -> list[PolicyPoint]:
    """Keep one of the settings that choose alike."""
    found = {(round(point.cost.estimate, 12), round(point.quality.estimate, 12)): point for point in reversed(points)}
    return list(found.values())


def _cost_of(point: PolicyPoint) -> float:
    return point.cost.estimate


def _hull(prices: Floats, quality: Floats) -> tuple[tuple[float, float], ...]:
    """Return the corners (cost, quality) of the best that mixtures of agents reach, cheapest first."""
    corners = sorted(zip(prices.tolist(), quality.tolist(), strict=True), key=lambda corner: (corner[0], -corner[1]))
    hull: list[tuple[float, float]] = []
    for cost, value in corners:
        if hull and value <= hull[-1][1]:
            continue
        while len(hull) > 1 and _lies_below(hull[-2], hull[-1], (cost, value)):
            hull.pop()
        hull.append((cost, value))
    return tuple(hull)


def _lies_below(left: tuple[float, float], middle: tuple[float, float], right: tuple[float, float]) -> bool:
    rise, run = right[1] - left[1], right[0] - left[0]
    return (middle[1] - left[1]) * run <= rise * (middle[0] - left[0])


def _check_tables(success: ArrayLike, predicted: ArrayLike, costs: ArrayLike) -> tuple[Floats, Floats, Floats]:
    right, predictions, prices = (np.asarray(values, dtype=np.float64) for values in (success, predicted, costs))
    if right.ndim != 2 or predictions.shape != right.shape or prices.shape != right.shape[1:]:  # noqa: PLR2004 - a table
        shapes = f"{right.shape}, {predictions.shape}, {prices.shape}"
        message = f"success and predictions are (questions, agents), costs (agents,), not {shapes}"
        raise InvalidValueError(message)
    if len(prices) < 2:  # noqa: PLR2004 - a choice takes two
        message = "a router needs two agents at least to choose between"
        raise InvalidValueError(message)
    if not np.isfinite(prices).all() or (prices < 0).any() or np.isnan(predictions).any():
        message = "costs are finite and at least 0, predictions are numbers"
        raise InvalidValueError(message)
    if (right < 0).any() or (right > 1).any():
        message = "success is a number from 0 to 1, or NaN where it was not observed"
        raise InvalidValueError(message)
    return right, predictions, prices
