"""Predicted success adjusted by what retrieval brought back: skill tells what an agent can do, complexity what it is given.

With l_ij the skill model's logit for agent i on question j, and z_j the standardised evidence of `Complexity` (the logit of
the best answer probability, and completeness), the adjusted logit is

    l_ij + a l_ij + b_i + (w + w_i) · z_j

fitted with a ridge penalty that shrinks a, b_i and w_i towards 0 and w less: an agent that decomposes may not care whether
one passage answers. Whether z helps is judged on questions that the fit has not seen, against the same fit without z, so that
the gain is complexity's own. The skill model's logits must be held out, too: on its own questions they are too sure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.complexity import Complexity
from rag_cover.errors import InvalidValueError
from rag_cover.routing.irt import cross_entropy
from rag_cover.stats.folds import folds_of
from rag_cover.stats.intervals import Interval, jackknife
from rag_cover.stats.logistic import fit_logistic, logit_of

__all__ = ["LEAST", "Adjustment", "AdjustmentFit", "complexity_evidence", "fit_adjustment"]

Floats = NDArray[np.float64]

_EDGE = 0.005  # a probability nearer to 0 or 1 is taken for this far from it
LEAST = 30
"""The fewest questions with evidence that an adjustment is fitted on."""
_OWN, _SHARED = 4.0, 0.5  # ridge penalties


@dataclass(frozen=True, slots=True, eq=False)
class Adjustment:
    """How logits (n, a) of these agents are adjusted by evidence (n, f): the formula of the module's docstring."""

    agents: tuple[str, ...]
    slope: float
    shifts: Floats
    weights: Floats
    means: Floats
    scales: Floats

    def adjust(self, logits: ArrayLike, evidence: ArrayLike, agents: Sequence[str] | None = None) -> Floats:
        """Return the adjusted logits, (n, a); a row of evidence that is NaN is that of an average question.

        Raises:
            InvalidValueError: an agent that the adjustment was not fitted for.
        """
        places = range(len(self.agents)) if agents is None else [self._place(agent) for agent in agents]
        chosen = list(places)
        predicted = np.asarray(logits, dtype=np.float64)
        standard = _standardise(np.asarray(evidence, dtype=np.float64), self.means, self.scales)
        return np.asarray((1 + self.slope) * predicted + self.shifts[chosen] + standard @ self.weights[chosen].T)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        arrays = {name: getattr(self, name).tolist() for name in ("shifts", "weights", "means", "scales")}
        return {"agents": list(self.agents), "slope": self.slope, **arrays}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        arrays = [np.array(data[name], dtype=np.float64) for name in ("shifts", "weights", "means", "scales")]
        return cls(tuple(data["agents"]), data["slope"], *arrays)

    def _place(self, agent: str) -> int:
        if agent not in self.agents:
            message = f"no adjustment was fitted for {agent!r}; fit it again, or leave the adjustment out"
            raise InvalidValueError(message)
        return self.agents.index(agent)


@dataclass(frozen=True, slots=True, eq=False)
class AdjustmentFit:
    """An adjustment with its cross-validated worth: log-loss in nats per response, with and without the evidence.

    ``gain`` is the difference, with its 95% interval over questions.
    """

    adjustment: Adjustment
    without: float
    with_evidence: float
    gain: Interval
    questions: int

    @property
    def helps(self) -> bool:
        """Check whether the gain is clear: the lower end of its interval lies above 0."""
        return self.gain.lower is not None and self.gain.lower > 0


def complexity_evidence(complexities: Sequence[Complexity | None]) -> Floats:
    """Return (n, 2): the logit of the best answer probability, and completeness; NaN where it is not known.

    Nothing retrieved is the evidence of a probability of 0.
    """
    return np.array([_evidence(complexity) for complexity in complexities], dtype=np.float64).reshape(-1, 2)


def fit_adjustment(
    logits: ArrayLike, values: ArrayLike, evidence: ArrayLike, agents: Sequence[str], *, folds: int = 5, seed: int = 0
) -> AdjustmentFit:
    """Fit an adjustment to responses, and say what it is worth on questions that were not fitted on.

    Args:
        logits: (n, a) of a skill model that did not see these questions.
        values: (n, a) success in [0, 1], NaN where it was not observed.
        evidence: (n, f) as `complexity_evidence` gives it; questions whose rows are NaN throughout are left out.
        agents: (a,) names.
        folds: of the cross-validation, by question.
        seed: seed of the random generator (folds).

    Raises:
        InvalidValueError: shapes that do not fit together, or fewer than thirty questions with evidence.
    """
    table = _Table.of(logits, values, evidence)
    if len(table.values) < LEAST:
        message = f"an adjustment needs {LEAST} questions with evidence at least, not {len(table.values)}"
        raise InvalidValueError(message)
    with_it, without = np.full_like(table.values, np.nan), np.full_like(table.values, np.nan)
    for held in folds_of(range(len(table.values)), folds, seed=seed):
        train, test = table.only(~held), table.only(held)
        for into, use in ((with_it, True), (without, False)):
            fitted = train.fit(agents, use_evidence=use)
            into[held] = cross_entropy(fitted.adjust(test.logits, test.evidence), np.nan_to_num(test.values))
    seen = ~np.isnan(table.values)
    rows = np.column_stack([np.where(seen, losses, 0).sum(axis=1) for losses in (without, with_it)] + [seen.sum(axis=1)])
    gain = jackknife(rows, lambda sums: (sums[..., 0] - sums[..., 1]) / sums[..., 2])
    means = rows.sum(axis=0) / rows[:, 2].sum()
    return AdjustmentFit(
        adjustment=table.fit(agents, use_evidence=True),
        without=float(means[0]),
        with_evidence=float(means[1]),
        gain=gain or Interval(float(means[0] - means[1]), None, None, len(rows)),
        questions=len(table.values),
    )


@dataclass(frozen=True, slots=True)
class _Table:
    logits: Floats
    values: Floats
    evidence: Floats

    @classmethod
    def of(cls, logits: ArrayLike, values: ArrayLike, evidence: ArrayLike) -> _Table:
        predicted, true, known = (np.asarray(each, dtype=np.float64) for each in (logits, values, evidence))
        if predicted.shape != true.shape or predicted.ndim != 2 or known.ndim != 2 or len(known) != len(predicted):  # noqa: PLR2004 - tables
            message = f"logits and values are (n, a), evidence (n, f), not {predicted.shape}, {true.shape} and {known.shape}"
            raise InvalidValueError(message)
        complete = np.asarray(~np.isnan(known).all(axis=1) & ~np.isnan(true).all(axis=1))
        return cls(predicted, true, known).only(complete)

    def only(self, kept: NDArray[np.bool_]) -> _Table:
        return _Table(self.logits[kept], self.values[kept], self.evidence[kept])

    def fit(self, agents: Sequence[str], *, use_evidence: bool) -> Adjustment:
        means, scales = _moments(self.evidence)
        questions, answering = np.nonzero(~np.isnan(self.values))
        predicted = self.logits[questions, answering]
        own = np.eye(self.values.shape[1])[answering]
        standard = _standardise(self.evidence, means, scales)[questions]
        crossed = (own[:, :, None] * standard[:, None, :]).reshape(len(predicted), -1)
        columns = [predicted[:, None], own, *([standard, crossed] if use_evidence else [])]
        penalty = np.concatenate([[_OWN], np.full(own.shape[1], _OWN), *self._penalties(use_evidence)])
        weights = fit_logistic(np.hstack(columns), self.values[questions, answering], penalty=penalty, offset=predicted).weights
        a, f = own.shape[1], standard.shape[1]
        own_weights = np.zeros((a, f))
        if use_evidence:
            own_weights = weights[1 + a : 1 + a + f] + weights[1 + a + f :].reshape(a, f)
        return Adjustment(tuple(agents), float(weights[0]), weights[1 : 1 + a], own_weights, means, scales)

    def _penalties(self, use_evidence: bool) -> list[Floats]:  # noqa: FBT001 - of a private step
        a, f = self.values.shape[1], self.evidence.shape[1]
        return [np.full(f, _SHARED), np.full(a * f, _OWN)] if use_evidence else []


def _evidence(complexity: Complexity | None) -> tuple[float, float]:
    if complexity is None:
        return math.nan, math.nan
    best = logit_of(complexity.max_answer_probability or 0.0, edge=_EDGE)
    return best, math.nan if complexity.completeness is None else complexity.completeness


def _moments(evidence: Floats) -> tuple[Floats, Floats]:
    known = ~np.isnan(evidence)
    counts = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, evidence, 0).sum(axis=0) / counts
    spread = np.sqrt(np.where(known, (evidence - means) ** 2, 0).sum(axis=0) / counts)
    return means, np.where(spread > 1e-9, spread, 1.0)  # noqa: PLR2004 - constant evidence tells nothing


def _standardise(evidence: Floats, means: Floats, scales: Floats) -> Floats:
    return np.asarray(np.nan_to_num((evidence - means) / scales, nan=0.0))
