"""What the dimensions of a skill model mean (Gor et al., "Do great minds think alike?", EMNLP 2024, §5).

For each dimension: the questions it is most relevant to, and a logistic regression that tells those of high relevance from
those of low relevance by features that people can read. A weight is a change of log-odds; its p-value is Wald's, corrected by
Holm for all features of all dimensions together. The fit has a ridge penalty of 1 on every weight but the constant, so that
a feature that separates perfectly gets a finite weight; it shrinks weights, and errs on the side of "unclear".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError
from rag_cover.routing.interpretation.features import ReadableFeatures, readable_features
from rag_cover.stats.logistic import fit_logistic
from rag_cover.stats.paired import holm

__all__ = ["Dimension", "FeatureEffect", "interpret_dimensions"]

Floats = NDArray[np.float64]

_LEVEL = 0.05
_LEAST = 20  # questions of high, and of low, relevance that a regression needs
_RIDGE = 1.0


@dataclass(frozen=True, slots=True)
class FeatureEffect:
    """What one feature tells about a dimension: its weight in log-odds with its standard error, and p-values.

    ``per`` is the unit of a feature that is not simply there or not.
    """

    feature: str
    weight: float
    error: float
    p_value: float
    adjusted_p_value: float
    per: str = ""

    @property
    def is_clear(self) -> bool:
        """Check whether the effect is significant at 5% after the correction."""
        return self.adjusted_p_value < _LEVEL

    @property
    def odds_ratio(self) -> float:
        """Return by how much the feature multiplies the odds of high relevance."""
        return math.exp(self.weight)


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension: its number from 1, its mean relevance over questions, where it matters most, and what tells these apart.

    ``effects`` come by their p-value, and are empty where too few questions differ in relevance.
    """

    number: int
    mean_relevance: float
    questions: tuple[tuple[str, float], ...]
    effects: tuple[FeatureEffect, ...]

    @property
    def clear_effects(self) -> tuple[FeatureEffect, ...]:
        """Return the effects that are significant after the correction."""
        return tuple(effect for effect in self.effects if effect.is_clear)


def interpret_dimensions(
    relevance: ArrayLike,
    questions: Sequence[str],
    *,
    features: ReadableFeatures | None = None,
    high: float | None = None,
    shown: int = 8,
) -> tuple[Dimension, ...]:
    """Describe every dimension of a skill model.

    Args:
        relevance: (n, m), each row adding up to 1.
        questions: (n,) their texts.
        features: what the regression may use; None: `readable_features` of the questions.
        high: from which relevance a question counts as high, all others as low (0.6 in the paper); None: the upper third
            against the lower third of the dimension.
        shown: how many questions to name.

    Raises:
        InvalidValueError: relevance and questions that do not fit together.
    """
    table = np.asarray(relevance, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(questions):  # noqa: PLR2004 - a table
        message = f"relevance is (questions, dimensions), not {table.shape} for {len(questions)} questions"
        raise InvalidValueError(message)
    described = readable_features(questions) if features is None else features
    effects = [_effects(table[:, place], described, high) for place in range(table.shape[1])]
    adjusted = iter(holm([effect.p_value for each in effects for effect in each]))
    return tuple(
        Dimension(
            number=place + 1,
            mean_relevance=float(table[:, place].mean()) if len(table) else math.nan,
            questions=tuple((questions[row], float(table[row, place])) for row in _highest(table[:, place], shown)),
            effects=_sort_effects([_with_adjusted_p(effect, next(adjusted)) for effect in each]),
        )
        for place, each in enumerate(effects)
    )


def _effects(relevance: Floats, described: ReadableFeatures, high: float | None) -> list[FeatureEffect]:
    upper, lower = _sides(relevance, high)
    if min(upper.sum(), lower.sum()) < _LEAST or not described.names:
        return []
    kept = upper | lower
    values = described.values[kept]
    varied = np.flatnonzero(np.ptp(values, axis=0) > 0)
    table = np.column_stack([np.ones(len(values)), values[:, varied]])
    fit = fit_logistic(table, upper[kept], penalty=[0.0, *[_RIDGE] * len(varied)])
    found = zip(varied, fit.weights[1:], fit.errors[1:], fit.p_values[1:], strict=True)
    return [
        FeatureEffect(described.names[place], float(weight), float(error), float(p_value), float(p_value), described.per[place])
        for place, weight, error, p_value in found
    ]


def _sides(relevance: Floats, high: float | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    if high is not None:
        return relevance >= high, relevance < high
    if not len(relevance):
        nothing = np.zeros(0, dtype=bool)
        return nothing, nothing
    low_end, high_end = np.quantile(relevance, [1 / 3, 2 / 3])
    if high_end - low_end < 1e-9:  # noqa: PLR2004 - a single dimension is equally relevant to all
        nothing = np.zeros(len(relevance), dtype=bool)
        return nothing, nothing
    return relevance >= high_end, relevance <= low_end


def _highest(values: Floats, limit: int) -> list[int]:
    return [int(row) for row in np.argsort(-values, kind="stable")[:limit]]


def _with_adjusted_p(effect: FeatureEffect, adjusted: float) -> FeatureEffect:
    return FeatureEffect(effect.feature, effect.weight, effect.error, effect.p_value, adjusted, effect.per)


def _sort_effects(effects: Sequence[FeatureEffect]) -> tuple[FeatureEffect, ...]:
    return tuple(sorted(effects, key=lambda effect: (effect.p_value, effect.feature)))
