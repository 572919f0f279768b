"""How well probabilities of success foretell outcomes: accuracy, ROC-AUC, log-loss, Brier, with intervals by question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.scores import ranks, ratio
from benchmarks.support.tables import plain
from rag_cover.routing.irt import cross_entropy
from rag_cover.stats.intervals import Interval, bootstrap

__all__ = ["Scored", "scores_of"]

Floats = NDArray[np.float64]

_EDGE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Sums by question: responses, right verdicts, log-loss, squared error; and wins of right over wrong responses.

    ``wins`` (n, n): how often a right response to question i is held likelier than a wrong one to question j, ties half.
    """

    sums: Floats
    wins: Floats
    pairs: tuple[Floats, Floats] = field(repr=False)

    @property
    def row(self) -> list[str]:
        """Write accuracy, AUC, log-loss and Brier with 95% intervals."""
        share = [plain(_share(self.sums[:, [0, column]])) for column in (1, 2, 3)]
        return [share[0], plain(_of_questions(self.wins, self._area)), *share[1:]]

    def less(self, other: Scored) -> list[str]:
        """Write by how much the AUC and the log-loss exceed another's, on the same questions in each resample."""
        sums = np.column_stack([self.sums[:, 0], self.sums[:, 2] - other.sums[:, 2]])
        return [plain(_of_questions(self.wins - other.wins, self._area), digits=4), plain(_share(sums), digits=4)]

    def _area(self, weights: Floats, wins: Floats) -> Floats:
        right, wrong = self.pairs
        return ratio(np.asarray((weights @ wins) * weights).sum(axis=-1), (weights @ right) * (weights @ wrong))


def scores_of(predicted: Floats, values: Floats) -> Scored:
    """Score predictions (n, a) by outcomes (n, a), 1 or 0, NaN where there is none."""
    seen = ~np.isnan(values)
    said, right = np.clip(predicted, _EDGE, 1 - _EDGE), np.nan_to_num(values)
    logits = np.log(said / (1 - said))
    columns = [np.ones_like(said), (said >= 0.5) == (right == 1), cross_entropy(logits, right), (said - right) ** 2]  # noqa: PLR2004 - the middle
    sums = np.column_stack([np.where(seen, column, 0.0).sum(axis=1) for column in columns])
    pairs = (np.where(seen, right, 0.0).sum(axis=1), np.where(seen, 1 - right, 0.0).sum(axis=1))
    return Scored(sums, _wins(said, right, seen), pairs)


def _wins(said: Floats, right: Floats, seen: NDArray[np.bool_]) -> Floats:
    """Count by places in the order of all responses: for each right one, the wrong ones of each question that stand lower."""
    places = np.zeros(said.shape)
    places[seen] = ranks(said[seen])
    wins = np.zeros((len(said), len(said)))
    for agent in range(said.shape[1]):
        mine = places[:, agent, None]
        for other in range(said.shape[1]):
            counted = (seen & (right == 1))[:, agent, None] & (seen & (right == 0))[None, :, other]
            theirs = places[None, :, other]
            wins += counted * ((mine > theirs) + 0.5 * (mine == theirs))
    return wins


def _share(sums: Floats) -> Interval | None:
    return bootstrap(sums, lambda drawn: ratio(drawn[..., 1], drawn[..., 0]))


def _of_questions(wins: Floats, area: Callable[[Floats, Floats], Floats]) -> Interval | None:
    return bootstrap(np.eye(len(wins)), lambda weights: area(weights, wins))
