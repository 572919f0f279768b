"""Questions grouped by what makes them hard, with every agent's accuracy in each group (Gor et al., EMNLP 2024, §5).

A question's effective difficulty is r_jk · d_jk, its difficulty in each dimension weighed by how relevant that is. Groups are
found by k-means (Lloyd, 1982) from k-means++ starts (Arthur & Vassilvitskii, 2007), with a seed: equal input, equal groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError
from rag_cover.stats.intervals import Interval, jackknife_share, wilson

__all__ = ["QuestionCluster", "cluster_questions", "mean_success", "nearest_centres"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_STARTS = 10
_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class QuestionCluster:
    """Questions that are hard in the same way: their places, centre (m,), those nearest to it, and what agents make of them.

    ``accuracy`` lacks agents that were asked none of these questions.
    """

    number: int
    members: tuple[int, ...]
    centre: tuple[float, ...]
    typical: tuple[int, ...]
    accuracy: Mapping[str, Interval]

    @property
    def difficulty(self) -> float:
        """Return the centre's difficulty over all dimensions."""
        return sum(self.centre)


def cluster_questions(
    difficulty: ArrayLike, values: ArrayLike, agents: Sequence[str], *, clusters: int = 5, typical: int = 4, seed: int = 0
) -> tuple[QuestionCluster, ...]:
    """Group questions by effective difficulty, the easiest group first.

    Args:
        difficulty: (n, m), relevance times difficulty.
        values: (n, a) success in [0, 1], NaN where it was not observed.
        agents: (a,) names.
        clusters: how many groups; fewer where there are fewer different questions.
        typical: how many questions nearest to each centre to name.
        seed: seed of the random generator (starts).

    Raises:
        InvalidValueError: no questions, fewer than one group, or shapes that do not fit together.
    """
    points, success = np.asarray(difficulty, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if points.ndim != 2 or not len(points) or success.shape != (len(points), len(agents)) or clusters < 1:  # noqa: PLR2004
        message = (
            f"clusters need (n, m) difficulties, (n, {len(agents)}) values and at least one cluster, not {points.shape}, "
            f"{success.shape} and {clusters}"
        )
        raise InvalidValueError(message)
    centres = _centres(points, min(clusters, len(np.unique(points, axis=0))), seed)
    order = np.argsort(centres.sum(axis=1), kind="stable")
    centres = centres[order]
    belongs = nearest_centres(points, centres)
    found = [np.flatnonzero(belongs == place) for place in range(len(centres))]
    return tuple(
        QuestionCluster(
            number=number,
            members=tuple(map(int, members)),
            centre=tuple(map(float, centre)),
            typical=_typical(points, members, centre, typical),
            accuracy=_accuracy(success[members], agents),
        )
        for number, (members, centre) in enumerate(zip(found, centres, strict=True), 1)
        if len(members)
    )


def mean_success(values: Floats) -> Interval | None:
    """Return the mean of what was observed (NaN was not) with its 95% interval; None where nothing was.

    The interval is Wilson's, of as many trials as vary as much.
    """
    seen = values[~np.isnan(values)]
    if not len(seen):
        return None
    if np.isin(seen, (0.0, 1.0)).all():
        return wilson(int(seen.sum()), len(seen))
    return jackknife_share(np.column_stack([seen, np.ones(len(seen))]), lambda sums: sums[..., 0] / sums[..., 1])


def nearest_centres(points: Floats, centres: Floats) -> Places:
    """Return (n,) the place of the centre nearest to each point.

    >>> nearest_centres(np.array([[0.0], [9.0]]), np.array([[1.0], [8.0]])).tolist()
    [0, 1]
    """
    return np.asarray(_distances(points, centres).argmin(axis=1))


def _centres(points: Floats, clusters: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    tries = [_refine_centres(points, _start(points, clusters, rng)) for _ in range(_STARTS)]
    return min(tries, key=lambda centres: float(_distances(points, centres).min(axis=1).sum()))


def _start(points: Floats, clusters: int, rng: np.random.Generator) -> Floats:
    chosen = [int(rng.integers(len(points)))]
    while len(chosen) < clusters:
        squares = _distances(points, points[chosen]).min(axis=1)
        chosen.append(int(rng.choice(len(points), p=squares / squares.sum())))
    return points[chosen]


def _refine_centres(points: Floats, centres: Floats) -> Floats:
    for _ in range(_ROUNDS):
        belongs = nearest_centres(points, centres)
        moved = np.array(
            [
                points[belongs == place].mean(axis=0) if (belongs == place).any() else centre
                for place, centre in enumerate(centres)
            ]
        )
        if np.allclose(moved, centres, atol=1e-12):
            break
        centres = moved
    return centres


def _distances(points: Floats, centres: Floats) -> Floats:
    return np.asarray(((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2))


def _typical(points: Floats, members: Places, centre: Floats, limit: int) -> tuple[int, ...]:
    away = ((points[members] - centre) ** 2).sum(axis=1)
    return tuple(int(members[place]) for place in np.argsort(away, kind="stable")[:limit])


def _accuracy(success: Floats, agents: Sequence[str]) -> dict[str, Interval]:
    shares = {agent: mean_success(column) for agent, column in zip(agents, success.T, strict=True)}
    return {agent: share for agent, share in shares.items() if share is not None}
