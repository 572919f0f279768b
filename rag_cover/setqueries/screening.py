"""Candidates that need no judgment by an atom, since its search did not find them and their words do not name it.

Of the pairs of a candidate and an atom that the atom's search did not return among its first `DEEPEST_RANK`, and in whose
passages no sentence has more than `LEAST_SHARE` of the words that the atom says of its members, few are members. Their
probability is taken to be `PRIOR` at most, and the judge is not asked wherever that settles the outcome (`rounds`). That is an
estimate, not a bound: a set with many more members than a search returns loses some of those whose text says it in other words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_cover.questions import prepend_title
from rag_cover.setqueries.candidates import DEPTH, Pooled
from rag_cover.setqueries.features import highest_share
from rag_cover.setqueries.predicates import predicate_of

__all__ = ["DEEPEST_RANK", "LEAST_SHARE", "PRIOR", "screen_candidates"]

DEEPEST_RANK = DEPTH
LEAST_SHARE = 1 / 3
PRIOR = 0.05
"""The share of members among such pairs on validation questions of the built corpus (157 of 3,145)."""


def screen_candidates(candidates: Sequence[Pooled], words: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """Return the most that the probability of each screened pair is taken to be, by (atom, candidate's name).

    Args:
        candidates: the candidates.
        words: the words that each atom is asked for by.
    """
    return {
        (atom, each.name): PRIOR
        for atom, asked in words.items()
        for each in candidates
        if each.ranks.get(atom, DEEPEST_RANK + 1) > DEEPEST_RANK and _highest_share(each, predicate_of(asked)) <= LEAST_SHARE
    }


def _highest_share(candidate: Pooled, predicate: str) -> float:
    return max(highest_share(predicate, prepend_title(each.title, each.text)) for each in candidate.passages)
