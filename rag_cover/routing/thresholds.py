"""The cut from which a question is worth the complex route: chosen so that a target is met, and judged on other questions.

Sending the questions with a score of at least the cut to the complex route gives the mean quality
``mean(direct) + mean([score >= cut] * (complex - direct))``, and the mean cost alike, so every cut is judged by one pass over
the sorted scores. A cut judged on the questions that chose it flatters itself: the estimates come from folds (Stone, 1974).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError
from rag_cover.stats.folds import folds_of
from rag_cover.stats.intervals import Interval, jackknife

__all__ = ["Operating", "RoutingThreshold", "fit_cut"]

Floats = NDArray[np.float64]

_ROUNDING = 1e-9  # what a mean over many questions may be off by
_LEAST_GROUPS = 10  # two for each of five folds


@dataclass(frozen=True, slots=True)
class Operating:
    """What a way of routing gives on average over questions, with 95% intervals that resample questions."""

    quality: Interval
    cost: Interval
    complex_share: float


@dataclass(frozen=True, slots=True)
class RoutingThreshold:
    """A fitted cut, and what it gives.

    ``cut`` is infinite where no question is worth the complex route. ``estimate`` is cross-validated: every question is routed
    by a cut that was fitted without it; ``fitted`` is the same on the questions that chose the cut, and flatters.
    """

    cut: float
    target_quality: float | None
    target_cost: float | None
    estimate: Operating
    fitted: Operating
    always_direct: Operating
    always_complex: Operating
    questions: int
    notes: tuple[str, ...] = ()

    @property
    def meets_target(self) -> bool:
        """Check whether the cross-validated estimate meets the target, too."""
        if self.target_quality is not None:
            return self.estimate.quality.estimate >= self.target_quality - _ROUNDING
        return self.target_cost is None or self.estimate.cost.estimate <= self.target_cost + _ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data; an infinite cut is null."""
        return asdict(self) | {"cut": self.cut if math.isfinite(self.cut) else None, "meets_target": self.meets_target}


def fit_cut(
    scores: ArrayLike,
    quality: ArrayLike,
    cost: ArrayLike,
    *,
    target_quality: float | None = None,
    target_cost: float | None = None,
    groups: Sequence[Hashable] | None = None,
    folds: int = 5,
    seed: int = 0,
) -> RoutingThreshold:
    """Choose the cut that reaches a mean quality at the least mean cost, or has the best quality within a mean cost.

    Args:
        scores: (n,) of the questions: the higher, the more the complex route is worth.
        quality: (n, 2) of the direct and the complex route, in any unit, higher is better.
        cost: (n, 2) of the same, at least 0.
        target_quality: the mean quality to reach; give this or ``target_cost``.
        target_cost: the mean cost to stay within.
        groups: (n,) keys of questions that belong together, such as a question and its rephrasings; None: each is its own.
        folds: of the cross-validation, by group.
        seed: seed of the random generator (folds).

    Raises:
        InvalidValueError: not exactly one target, arrays that do not fit together or hold what is not finite, fewer than ten
            groups, or a target that no cut reaches.
    """
    table = _Outcomes.of(scores, quality, cost)
    keys = list(range(len(table.scores))) if groups is None else list(groups)
    _refuse_targets(target_quality, target_cost)
    _refuse_few(keys, len(table.scores))
    cut = _find_cut(table, target_quality, target_cost)
    held_out = np.zeros(len(keys), dtype=bool)
    missed = 0
    for inside in folds_of(keys, folds, seed=seed):
        found, reached = table.only(~inside).best_cut(target_quality, target_cost)
        held_out[inside] = table.scores[inside] >= found
        missed += not reached
    notes = () if not missed else (f"In {missed} of {folds} folds no cut reaches the target; the nearest was taken there.",)

    def operating(chosen: NDArray[np.bool_]) -> Operating:
        return table.operating(chosen, keys)

    everywhere = np.ones(len(keys), dtype=bool)
    fit = RoutingThreshold(
        cut=cut,
        target_quality=target_quality,
        target_cost=target_cost,
        estimate=operating(held_out),
        fitted=operating(table.scores >= cut),
        always_direct=operating(~everywhere),
        always_complex=operating(everywhere),
        questions=len(set(keys)),
    )
    return _add_notes(fit, notes)


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """Scores (n,), and quality and cost (n, 2) of the direct and the complex route."""

    scores: Floats
    quality: Floats
    cost: Floats

    @classmethod
    def of(cls, scores: ArrayLike, quality: ArrayLike, cost: ArrayLike) -> _Outcomes:
        table = cls(*(np.asarray(values, dtype=np.float64) for values in (scores, quality, cost)))
        wanted = (len(table.scores), 2)
        if table.scores.ndim != 1 or table.quality.shape != wanted or table.cost.shape != wanted:
            message = (
                f"n scores need (n, 2) qualities and costs, of the direct and the complex route, not {table.scores.shape}, "
                f"{table.quality.shape} and {table.cost.shape}"
            )
            raise InvalidValueError(message)
        if not all(np.isfinite(values).all() for values in (table.scores, table.quality, table.cost)):
            message = "scores, qualities and costs are finite; leave out the questions where a route was not tried"
            raise InvalidValueError(message)
        if (table.cost < 0).any():
            message = "costs are at least 0"
            raise InvalidValueError(message)
        return table

    def only(self, chosen: NDArray[np.bool_]) -> _Outcomes:
        return _Outcomes(self.scores[chosen], self.quality[chosen], self.cost[chosen])

    def curve(self) -> tuple[Floats, Floats, Floats]:
        """Return every cut that differs, highest first, with the mean quality and cost it gives."""
        order = np.argsort(-self.scores, kind="stable")
        ends = np.flatnonzero(np.diff(self.scores[order], append=-np.inf) != 0)
        values = self.scores[order][ends]
        between = np.append((values[:-1] + values[1:]) / 2, min(0.0, values[-1]))  # halfway to the next lower score
        cuts = np.concatenate([[np.inf], between])
        means = [self._means(values, order, ends) for values in (self.quality, self.cost)]
        return cuts, means[0], means[1]

    @staticmethod
    def _means(values: Floats, order: NDArray[np.intp], ends: NDArray[np.intp]) -> Floats:
        gained = np.cumsum((values[:, 1] - values[:, 0])[order])[ends]
        return np.asarray(values[:, 0].mean() + np.concatenate([[0.0], gained]) / len(values))

    def best_cut(self, target_quality: float | None, target_cost: float | None) -> tuple[float, bool]:
        """Return the best cut and whether it meets the target; where none does, the one that comes nearest."""
        cuts, quality, cost = self.curve()
        if target_quality is not None:
            fit = quality >= target_quality - _ROUNDING
            fit = fit if (reached := bool(fit.any())) else quality >= quality.max() - _ROUNDING
            order = np.lexsort((-quality, np.round(cost, 9)))
        else:
            fit = cost <= (target_cost or 0.0) + _ROUNDING
            fit = fit if (reached := bool(fit.any())) else cost <= cost.min() + _ROUNDING
            order = np.lexsort((cost, -np.round(quality, 9)))
        return float(cuts[next(place for place in order if fit[place])]), reached

    def operating(self, chosen: NDArray[np.bool_], groups: Sequence[Hashable]) -> Operating:
        side = chosen.astype(int)
        rows = np.arange(len(side))
        taken = np.column_stack([self.quality[rows, side], self.cost[rows, side], np.ones(len(side))])
        quality, cost = (_mean_of(taken[:, [column, 2]], groups) for column in (0, 1))
        return Operating(quality, cost, float(chosen.mean()))


def _mean_of(rows: Floats, groups: Sequence[Hashable]) -> Interval:
    places: dict[Hashable, int] = {}
    index = [places.setdefault(key, len(places)) for key in groups]
    sums = np.zeros((len(places), 2))
    np.add.at(sums, index, rows)
    found = jackknife(sums, lambda total: total[..., 0] / total[..., 1])
    return found or Interval(float(rows[:, 0].mean()), None, None, len(places))


def _find_cut(table: _Outcomes, target_quality: float | None, target_cost: float | None) -> float:
    cut, reached = table.best_cut(target_quality, target_cost)
    if reached:
        return cut
    _, quality, cost = table.curve()
    if target_quality is not None:
        best = float(quality.max())
        message = (
            f"No cut reaches a mean quality of {target_quality:g} on these questions: the best is {best:.4g}, at a cost of "
            f"{float(cost[quality >= best - _ROUNDING].min()):.4g}. Lower the target, or improve a route."
        )
    else:
        message = (
            f"No cut stays within a mean cost of {target_cost:g} on these questions: the cheapest costs "
            f"{float(cost.min()):.4g}. Raise the target, or make a route cheaper."
        )
    raise InvalidValueError(message)


def _add_notes(fit: RoutingThreshold, notes: tuple[str, ...]) -> RoutingThreshold:
    more = () if fit.meets_target else ("On questions that did not choose the cut, the target is missed.",)
    return replace(fit, notes=(*notes, *more))


def _refuse_targets(quality: float | None, cost: float | None) -> None:
    if (quality is None) == (cost is None):
        message = "give one target: target_quality=… (at the least cost), or target_cost=… (with the best quality)"
        raise InvalidValueError(message)
    if not math.isfinite(quality if quality is not None else cost or 0.0):
        message = "a target is a finite number"
        raise InvalidValueError(message)


def _refuse_few(keys: Sequence[Hashable], n: int) -> None:
    if len(keys) != n:
        message = f"{n} scores need as many groups, not {len(keys)}"
        raise InvalidValueError(message)
    if (found := len(set(keys))) < _LEAST_GROUPS:
        message = f"a cut is fitted on {_LEAST_GROUPS} questions at least, not {found}; label more, each under both routes"
        raise InvalidValueError(message)
