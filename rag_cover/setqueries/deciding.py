"""Which candidates belong to a query, by what was judged of each atom, and which atoms decided that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Failure
from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.answers import AtomEvidence, Candidate
from rag_cover.setqueries.candidates import Pooled
from rag_cover.setqueries.explanations import reason_for
from rag_cover.setqueries.judging import Judged
from rag_cover.setqueries.memberships import Combination, membership

__all__ = ["LIKELY", "Decided", "Verdicts", "decided"]

Verdicts = Mapping[tuple[str, str], Judged | Failure]
"""What was judged, by (atom, candidate's name)."""

Floats = NDArray[np.float64]
LIKELY = 0.5
"""The probability above which a candidate is said to match an atom."""


@dataclass(frozen=True, slots=True)
class Decided:
    """Candidates that belong and others, each the likeliest first, and what decided about each, by name.

    ``turning`` are the atoms of which the opposite verdict would have changed the outcome by itself.
    """

    kept: tuple[Candidate, ...]
    others: tuple[Candidate, ...]
    turning: Mapping[str, tuple[str, ...]]

    def explained(self, fragments: Mapping[tuple[str, str], str | None]) -> Decided:
        """Add the words that tell, by (atom, candidate's name), and the reasons."""

        def with_reason(candidate: Candidate, *, kept: bool) -> Candidate:
            evidence = tuple(replace(each, fragment=fragments.get((each.atom, candidate.name))) for each in candidate.evidence)
            reason = reason_for(evidence, self.turning.get(candidate.name, ()), kept=kept)
            return replace(candidate, evidence=evidence, reason=reason)

        return replace(
            self,
            kept=tuple(with_reason(each, kept=True) for each in self.kept),
            others=tuple(with_reason(each, kept=False) for each in self.others),
        )


def decided(
    query: SetQuery, judged: Sequence[Pooled], verdicts: Verdicts, *, combination: Combination, threshold: float
) -> Decided:
    """Decide about candidates; those with an atom that could not be judged have no probability, and come last."""
    whole = [each.name for each in judged if all(isinstance(verdicts[atom, each.name], Judged) for atom in query.atoms)]
    columns = {atom: np.array([_probability(verdicts[atom, name]) or 0.0 for name in whole]) for atom in query.atoms}
    values = membership(query, columns, combination=combination)
    known = dict(zip(whole, values.tolist(), strict=True))
    turning = _turning(query, columns, values > threshold, combination=combination, threshold=threshold)
    candidates = [_candidate(query, each, verdicts, known.get(each.name)) for each in judged]
    ordered = sorted(candidates, key=lambda each: -1.0 if each.probability is None else each.probability, reverse=True)
    kept = tuple(each for each in ordered if each.probability is not None and each.probability > threshold)
    return Decided(kept, tuple(ordered[len(kept) :]), dict(zip(whole, turning, strict=True)))


def _turning(
    query: SetQuery, columns: Mapping[str, Floats], kept: NDArray[np.bool_], *, combination: Combination, threshold: float
) -> list[tuple[str, ...]]:
    """Return, for each candidate, the atoms of which the opposite would turn the decision."""
    turned = {}
    for atom, column in columns.items():
        opposite = dict(columns) | {atom: (column <= LIKELY).astype(np.float64)}
        turned[atom] = (membership(query, opposite, combination=combination) > threshold) != kept
    return [tuple(atom for atom, turns in turned.items() if turns[place]) for place in range(len(kept))]


def _candidate(query: SetQuery, found: Pooled, verdicts: Verdicts, probability: float | None) -> Candidate:
    evidence = tuple(_evidence(query, atom, found, verdicts[atom, found.name]) for atom in query.atoms)
    return Candidate(found.name, found.passages, probability, evidence)


def _evidence(query: SetQuery, atom: str, found: Pooled, verdict: Judged | Failure) -> AtomEvidence:
    return AtomEvidence(
        atom=atom,
        probability=_probability(verdict),
        negated=atom not in query.sources,
        passage=verdict.passage.key if isinstance(verdict, Judged) else None,
        rank=found.ranks.get(atom),
    )


def _probability(verdict: Judged | Failure) -> float | None:
    return verdict.probability if isinstance(verdict, Judged) else None
