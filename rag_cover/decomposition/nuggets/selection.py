"""Which statements are worth asking for: a few that stand for most of what was said and bears on the question.

Each statement weighs what it has to do with the question, times the number of independent sources that say it. Statements are
chosen one by one, each the one that adds most to the weight of what is covered, where a statement covers another as far as
they are alike: the greedy maximum of a submodular coverage function (Lin & Bilmes, ACL 2011, eq. 3), which reaches at least
1 - 1/e of the best.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["select_covering"]


def select_covering(
    similarity: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    most: int,
    least_gain: float = 0.02,
    repeats: float = 0.75,
) -> list[int]:
    """Choose at most ``most`` of n statements, best first; stop where the best of the rest adds less than ``least_gain``.

    The gain is a share of the weight of all. Nothing is chosen where nothing weighs anything.

    >>> import numpy as np
    >>> alike = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> select_covering(alike, np.array([2.0, 1.0, 1.0]), most=3, least_gain=0.1)
    [0, 2]

    Args:
        similarity: how far the statement of the column is said by that of the row, in [0, 1]; (n, n).
        weights: (n,), at least 0.
        most: how many are chosen at most.
        least_gain: the share of the weight that a statement must add.
        repeats: the similarity to a chosen one from which a statement only repeats it.
    """
    total = float(weights.sum())
    covered = np.zeros(len(weights))
    free = np.ones(len(weights), dtype=bool)
    chosen: list[int] = []
    while total > 0 and len(chosen) < min(most, len(weights)) and free.any():
        gains = np.where(free, (np.maximum(similarity, covered) - covered) @ weights, -1.0)
        best = int(np.argmax(gains))
        if gains[best] < least_gain * total:
            break
        chosen.append(best)
        covered = np.maximum(covered, similarity[best])
        free &= similarity[best] < repeats
        free[best] = False
    return chosen
