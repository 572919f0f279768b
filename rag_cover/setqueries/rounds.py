r"""Candidates judged in rounds, each only as long as it can still belong.

A candidate's membership lies between what the query's combination makes of its atoms' least and highest probabilities, which
are 0 and 1 for an atom that is not judged yet (Fagin, Lotem & Naor, "Optimal aggregation algorithms for middleware", JCSS
2003: the bounds of the no-random-access algorithm). Where the upper bound is not above the threshold, no further verdict can
change the outcome, and none is asked for: of ``A ∩ B`` what lacks A is not judged by B, nor of ``A \ B``. What belongs is
always judged by every atom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Failure
from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.candidates import Pooled
from rag_cover.setqueries.deciding import Highest, Verdicts, intervals_of
from rag_cover.setqueries.judging import Judged, MembershipJudge
from rag_cover.setqueries.memberships import Combination, Interval, highest_membership

__all__ = ["Rounds", "judge_in_rounds"]

_ROUNDING = 1e-9  # more than a bound may be off: what is that close to the threshold is judged further
_HALF_RANK = 20.0  # at which rank a candidate is taken to belong to an atom as likely as not; it decides about order alone


@dataclass(frozen=True, slots=True)
class Rounds:
    """What was judged, by (atom, candidate's name), how many (passage, atom) pairs that took, and bounds of what was not."""

    verdicts: Mapping[tuple[str, str], Judged | Failure]
    pairs: int
    highest: Highest = field(default_factory=dict)


def judge_in_rounds(  # all but four by name
    query: SetQuery,
    candidates: Sequence[Pooled],
    judge: MembershipJudge,
    words: Mapping[str, str],
    *,
    combination: Combination,
    threshold: float,
    highest: Highest = MappingProxyType({}),
) -> Rounds:
    """Judge each candidate by one atom after the other until it cannot belong, or was judged by all; a batch is a round.

    Args:
        query: the query.
        candidates: the candidates.
        judge: asked about pairs of a candidate and an atom.
        words: the words that each atom is asked for by.
        combination: how the probabilities of a query's atoms are combined.
        threshold: a candidate belongs if its probability is above this.
        highest: what the probability of a pair is at most before it is judged, where that is less than 1.
    """
    bounds = _Bounds(query, combination, threshold, highest)
    verdicts: dict[tuple[str, str], Judged | Failure] = {}
    pairs, waiting = 0, list(candidates)
    while waiting:
        chosen = bounds.next_atoms(waiting, verdicts)
        wanted = [(each, {atom: words[atom] for atom in atoms}) for each, atoms in zip(waiting, chosen, strict=True) if atoms]
        verdicts |= judge.judge_each(wanted)
        pairs += sum(len(each.passages) * len(atoms) for each, atoms in wanted)
        waiting = [each for each, _ in wanted]
    return Rounds(verdicts, pairs, highest)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What may still belong to a query, and what is to be asked about it."""

    query: SetQuery
    combination: Combination
    threshold: float
    highest: Highest

    def next_atoms(self, candidates: Sequence[Pooled], verdicts: Verdicts) -> list[tuple[str, ...]]:
        """Return the atoms to judge each candidate by next: none where the outcome is known, else one that may settle it.

        An atom may settle it if the worst verdict would by itself keep the upper bound from the threshold; of several the one
        that is likeliest to do so goes first. Where no atom may, all are judged. A candidate that the judge failed on has no
        probability, whatever else is judged.
        """
        known = {atom: [verdicts.get((atom, each.name)) for each in candidates] for atom in self.query.atoms}
        names = [each.name for each in candidates]
        intervals = {atom: intervals_of(atom, names, verdicts, self.highest) for atom in self.query.atoms}
        is_open = self._can_belong(intervals)
        settling = {atom: self._chances(atom, candidates, intervals) for atom in known}
        chosen = list[tuple[str, ...]]()
        for place, may in enumerate(is_open.tolist()):
            left = [atom for atom, column in known.items() if column[place] is None]
            failed = any(isinstance(column[place], Failure) for column in known.values())
            best = max(left, key=lambda atom: settling[atom][place], default=None) if may and not failed else None
            chosen.append(() if best is None else (best,) if settling[best][place] >= 0 else tuple(left))
        return chosen

    def _chances(self, atom: str, candidates: Sequence[Pooled], intervals: Mapping[str, Interval]) -> list[float]:
        """Estimate how likely an atom's verdict is to settle each candidate; below 0 where no verdict of it does."""
        chances = [-1.0] * len(candidates)
        for worst in (0.0, 1.0):
            certain = np.full(len(candidates), worst)
            may = self._can_belong({**intervals, atom: (certain, certain)})
            for place in np.flatnonzero(~may).tolist():
                chances[place] = max(chances[place], _chance(candidates[place].ranks.get(atom), worst))
        return chances

    def _can_belong(self, intervals: Mapping[str, Interval]) -> NDArray[np.bool_]:
        highest = highest_membership(self.query, intervals, combination=self.combination)
        return np.asarray(highest > self.threshold - _ROUNDING)


def _chance(rank: int | None, worst: float) -> float:
    """Estimate how likely the worst verdict is, 0 or 1, by where the atom's own search found the candidate."""
    belongs = 0.0 if rank is None else _HALF_RANK / (_HALF_RANK + rank)
    return belongs if worst else 1 - belongs
