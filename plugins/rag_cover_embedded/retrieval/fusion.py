"""Several rankings made one: reciprocal-rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009).

    score(d) = (κ + 1) / R · Σ_r 1 / (κ + rank_r(d))          over those of the R rankings that hold d, ranks from 1

so that 1 is what stands first in all of them. Pure: numbers in, numbers out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Places", "fuse_rankings", "rank_scores"]

Places = NDArray[np.intp]
"""Row numbers of passages (or pieces of them), best first."""


def rank_scores(scores: NDArray[np.float32], most: int) -> Places:
    """Return the places of the ``most`` highest scores, best first; of equal scores the earlier place goes first.

    >>> rank_scores(np.array([0.5, 0.9, 0.5, 0.1], dtype=np.float32), 2).tolist()
    [1, 0]
    """
    if (most := min(most, len(scores))) <= 0:
        return np.zeros(0, dtype=np.intp)
    least = np.partition(scores, len(scores) - most)[len(scores) - most]
    near = np.flatnonzero(scores >= least)  # more than ``most`` where the last of them are equal
    return near[np.argsort(-scores[near], kind="stable")][:most]


def fuse_rankings(rankings: Sequence[Places], *, kappa: float) -> tuple[Places, NDArray[np.float64]]:
    """Fuse rankings: what any of them holds, best first, and scores in (0, 1]; of equal scores the earlier place goes first.

    >>> places, scores = fuse_rankings([np.array([7, 3]), np.array([3])], kappa=10)
    >>> places.tolist(), scores.round(4).tolist()
    ([3, 7], [0.9583, 0.5])
    """
    places, inverse = np.unique(np.concatenate(rankings), return_inverse=True)
    shares = np.concatenate([(kappa + 1) / (kappa + 1 + np.arange(len(ranking))) for ranking in rankings])
    scores = np.bincount(inverse, shares, minlength=len(places)) / len(rankings)
    order = np.argsort(-scores, kind="stable")
    return places[order], scores[order]
