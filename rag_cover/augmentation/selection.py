"""Which of the pooled passages to keep: greedy marginal coverage, within a number of passages and of tokens.

Of the passages left, the one is taken next that covers most of the core sub-questions not covered yet; of equal ones, the one
with the higher retrieval score; of equal ones again, the earlier. Coverage is monotone and submodular, so the k passages that
are taken cover at least 1 - 1/e of what the best k could (Nemhauser, Wolsey & Fisher, 1978), unless a fair share or a number of
tokens stands in the way. When nothing new can be covered, retrieval scores alone decide. Pure: numbers in, places out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_below, refuse_outside

__all__ = ["FAIR_SHARE", "select_passages"]

FAIR_SHARE = 0.5
"""How many of the passages that are kept the question itself must have brought back, as far as it brought that many."""

_ROUNDING = 1e-9  # 0.29 * 100 is a hair below 29


def select_passages(
    covers: NDArray[np.bool_],
    scores: Sequence[float],
    *,
    k: int,
    own: AbstractSet[int] = frozenset(),
    fair_share: float = FAIR_SHARE,
    costs: Sequence[int] | None = None,
    most: int | None = None,
) -> list[int]:
    """Return the places of the passages to keep, in the order in which they are taken.

    >>> covers = np.array([[True, True, False], [False, False, True]])  # two sub-questions, three passages
    >>> select_passages(covers, [0.9, 0.8, 0.1], k=2)
    [0, 2]

    Args:
        covers: (sub-questions, passages): whether the one is covered by the other.
        scores: of each passage, the higher the better.
        k: how many passages to keep at most.
        own: the places of the passages that the question itself brought back.
        fair_share: the share of k, in [0, 1], that is kept for those, rounded down; tokens are not set aside for them.
        costs: how many tokens each passage takes; nothing unless given.
        most: how many tokens all of them may take; a passage that does not fit any more is passed over.

    Raises:
        InvalidValueError: k below 1, or a fair share outside [0, 1].
    """
    refuse_below(1, k=k)
    refuse_outside(0, 1, fair_share=fair_share)
    open_, room = np.ones(len(covers), dtype=bool), math.inf if most is None else float(most)
    left, kept = list(range(len(scores))), list[int]()
    owed = min(len(own), math.floor(fair_share * k + _ROUNDING))
    while left and len(kept) < k:
        left = [place for place in left if costs is None or costs[place] <= room]
        mine = [place for place in left if place in own]
        allowed = mine if mine and owed >= k - len(kept) else left
        if not allowed:
            break
        gains = covers[:, allowed][open_].sum(axis=0) if len(covers) else np.zeros(len(allowed))
        best = allowed[max(range(len(allowed)), key=lambda at: (gains[at], scores[allowed[at]], -at))]
        left.remove(best)
        kept.append(best)
        owed -= best in own
        room -= 0 if costs is None else costs[best]
        open_ &= ~covers[:, best]
    return kept
