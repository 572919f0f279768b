"""What a fitted skill model consists of, and what follows from it by arithmetic alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError, nearest
from rag_cover.routing import irt

__all__ = ["Parameters", "feature_table"]

Floats = NDArray[np.float64]

_STEPS = 100
_CLOSE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """The numbers of CAIMIRA for a agents, m dimensions and d features: those of `rag_cover.routing.irt`.

    ``covariances`` (a, m, m) are of the skills, NaN where they are not known; ``prior_mean`` (m,) and ``prior_precision``
    (m, m) are what is expected of an agent that nothing is known of.
    """

    agents: tuple[str, ...]
    skills: Floats
    relevance_weights: Floats
    relevance_bias: Floats
    difficulty_weights: Floats
    difficulty_mean: Floats
    temperature: float
    covariances: Floats
    prior_mean: Floats
    prior_precision: Floats

    @property
    def features(self) -> int:
        """Return d, the length of a question's features."""
        return int(self.relevance_weights.shape[1])

    def relevance(self, embeddings: ArrayLike) -> Floats:
        """Return (n, m)."""
        return irt.relevance(
            feature_table(embeddings, self.features), self.relevance_weights, self.relevance_bias, self.temperature
        )

    def difficulty(self, embeddings: ArrayLike) -> Floats:
        """Return (n, m)."""
        return irt.difficulty(feature_table(embeddings, self.features), self.difficulty_weights, self.difficulty_mean)

    def logits(self, embeddings: ArrayLike, skills: Floats) -> Floats:
        """Return (n, a) of agents with these skills (a, m)."""
        relevances = self.relevance(embeddings)
        hard = (relevances * self.difficulty(embeddings)).sum(axis=1, keepdims=True)
        return np.asarray(relevances @ skills.T - hard)

    def places(self, agents: Sequence[str]) -> list[int]:
        """Find agents by name.

        Raises:
            InvalidValueError: an agent that the model does not know.
        """
        for name in agents:
            if name not in self.agents:
                message = f"no agent is called {name!r}.{nearest(name, self.agents)} Known: {', '.join(self.agents)}."
                raise InvalidValueError(message)
        return [self.agents.index(name) for name in agents]

    def with_agent(self, name: str, values: Floats, embeddings: Floats) -> Self:
        """Add an agent by its responses (n,), everything else frozen: logistic regression on r with offset -r · d.

        The prior is that of the agents that are there. Solved by Newton's method.
        """
        relevances = self.relevance(embeddings)
        offset = -(relevances * self.difficulty(embeddings)).sum(axis=1)
        skill = self.prior_mean.copy()
        information = self.prior_precision
        for _ in range(_STEPS):
            said = irt.probabilities(relevances @ skill + offset)
            slope = relevances.T @ (values - said) - self.prior_precision @ (skill - self.prior_mean)
            information = (relevances.T * (said * (1 - said))) @ relevances + self.prior_precision
            step = np.linalg.solve(information, slope)
            skill = skill + step * min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-12))  # damped where far away
            if np.abs(step).max() < _CLOSE:
                break
        return replace(
            self,
            agents=(*self.agents, name),
            skills=np.vstack([self.skills, skill]),
            covariances=np.concatenate([self.covariances, np.linalg.inv(information)[None]]),
        )


def feature_table(embeddings: ArrayLike, features: int | None = None) -> Floats:
    """Take (n, d) features for what they are.

    Raises:
        InvalidValueError: not a table, of another d, or not finite.
    """
    table = np.asarray(embeddings, dtype=np.float64)
    if table.ndim != 2 or (features is not None and table.shape[1] != features):  # noqa: PLR2004 - a table
        wanted = "d" if features is None else features
        message = f"embeddings are (questions, {wanted}), not {table.shape}; encode questions as those of the fit were"
        raise InvalidValueError(message)
    if not np.isfinite(table).all():
        message = "embeddings must be finite numbers; leave out the questions that could not be embedded"
        raise InvalidValueError(message)
    return table
