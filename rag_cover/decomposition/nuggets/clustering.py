"""Statements that say the same, gathered: close in meaning, and each following from the other.

The statement in the middle of a group speaks for it. Groups are made greedily in the order of centrality, so that they do not
depend on the order of the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Entails", "group_alike", "say_the_same"]

SAME = 0.85
"""The cosine from which two statements are taken for the same without asking."""
ALIKE = 0.6
"""The cosine from which two statements are the same if each follows from the other."""
_ENTAILED = 0.5

Entails = Callable[[Sequence[tuple[int, int]]], Sequence[float]]
"""Asks for P(the second statement follows from the first) of pairs of places."""


@dataclass(frozen=True, slots=True)
class StatementGroup:
    """Places of statements that say the same; ``centre`` is the one that speaks for them, and is among ``members``."""

    centre: int
    members: tuple[int, ...]


def group_alike(similarity: NDArray[np.float64], same: NDArray[np.bool_]) -> list[StatementGroup]:
    """Group statements, given their cosines and which say the same, both (n, n): every statement is in one group.

    >>> import numpy as np
    >>> close = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.1], [0.1, 0.1, 1.0]])
    >>> [group.members for group in group_alike(close, close >= SAME)]
    [(0, 1), (2,)]
    """
    order = np.argsort(-(np.where(same, similarity, 0.0)).sum(axis=1), kind="stable")
    free = np.ones(len(similarity), dtype=bool)
    groups = []
    for centre in map(int, order):
        if free[centre]:
            members = np.flatnonzero(same[centre] & free)
            free[members] = False
            groups.append(StatementGroup(centre, tuple(map(int, members))))
    return groups


def say_the_same(similarity: NDArray[np.float64], entails: Entails) -> NDArray[np.bool_]:
    """Tell which statements say the same, as a symmetric matrix."""
    same = similarity >= SAME
    np.fill_diagonal(same, val=True)
    first, second = np.nonzero(np.triu((similarity >= ALIKE) & ~same, 1))
    pairs = list(zip(map(int, first), map(int, second), strict=True))
    if pairs:
        forth, back = np.asarray(entails(pairs)), np.asarray(entails([(b, a) for a, b in pairs]))
        mutual = (forth >= _ENTAILED) & (back >= _ENTAILED)
        same[first, second] = mutual
        same[second, first] = mutual
    return same
