"""Sampled answers grouped by meaning, greedily, as the release of Dai et al. (ICLR 2025) does it after Kuhn et al. (ICLR 2023).

For i in order: an answer without a cluster founds one and is compared with every later answer, which it takes where the two
are equivalent, even from an earlier cluster. Only founders are compared. Two answers are *strictly* equivalent where each
entails the other, *loosely* where neither contradicts the other and they are not both neutral.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from enum import Enum

__all__ = ["Relation", "clusters_of", "grouping", "is_equivalent", "may_be_equivalent", "relation_of"]


class Relation(Enum):
    """What a premise does to a hypothesis: the likeliest of an entailer's three classes."""

    ENTAILS = "entails"
    NEUTRAL = "neutral"
    CONTRADICTS = "contradicts"


def relation_of(probabilities: Sequence[float]) -> Relation:
    """Decide for the likeliest of P(entailment), P(neutral), P(contradiction); of equals, for the one that claims less.

    >>> relation_of((0.2, 0.5, 0.3)), relation_of((0.5, 0.5, 0.0))
    (<Relation.NEUTRAL: 'neutral'>, <Relation.NEUTRAL: 'neutral'>)
    """
    entailment, neutral, contradiction = probabilities
    if contradiction >= entailment and contradiction >= neutral:
        return Relation.CONTRADICTS
    return Relation.NEUTRAL if neutral >= entailment else Relation.ENTAILS


def is_equivalent(forward: Relation, backward: Relation, *, strict: bool) -> bool:
    """Check whether two texts mean the same, given what each does to the other.

    >>> is_equivalent(Relation.ENTAILS, Relation.NEUTRAL, strict=True)
    False
    >>> is_equivalent(Relation.ENTAILS, Relation.NEUTRAL, strict=False)
    True
    """
    both = {forward, backward}
    return both == {Relation.ENTAILS} if strict else Relation.CONTRADICTS not in both and both != {Relation.NEUTRAL}


def may_be_equivalent(forward: Relation, *, strict: bool) -> bool:
    """Check whether the other direction can still make two texts equivalent; where it cannot, it need not be judged."""
    return forward is Relation.ENTAILS if strict else forward is not Relation.CONTRADICTS


Grouping = Generator[tuple[int, tuple[int, ...]], Sequence[bool], tuple[int, ...]]


def grouping(n: int, *, reassign: bool = True) -> Grouping:
    """Group n answers: yield a founder and those to compare it with, be sent which are equivalent, return cluster numbers.

    ``reassign`` lets a founder take answers from an earlier cluster, as released; False leaves them where they are.
    """
    clusters: list[int | None] = [None] * n
    number = 0
    for founder in range(n):
        if clusters[founder] is not None:
            continue
        clusters[founder] = number
        compared = tuple(later for later in range(founder + 1, n) if reassign or clusters[later] is None)
        same = (yield founder, compared) if compared else ()
        for later, is_same in zip(compared, same, strict=True):
            if is_same:
                clusters[later] = number
        number += 1
    return tuple(cluster for cluster in clusters if cluster is not None)


def clusters_of(equivalent: Sequence[Sequence[bool]], *, reassign: bool = True) -> tuple[int, ...]:
    """Group answers by a full (n, n) table of which are equivalent.

    >>> table = [[1, 0, 1], [0, 1, 1], [1, 1, 1]]  # the second takes the third from the first
    >>> clusters_of(table), clusters_of(table, reassign=False)
    ((0, 1, 1), (0, 1, 0))
    """
    groups = grouping(len(equivalent), reassign=reassign)
    same: list[bool] | None = None
    while True:
        try:
            founder, compared = groups.send(same) if same is not None else next(groups)
        except StopIteration as done:
            clusters: tuple[int, ...] = done.value
            return clusters
        same = [bool(equivalent[founder][later]) for later in compared]
