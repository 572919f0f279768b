"""Which candidates belong to a query, by what was judged of each atom, and which atoms decided that.

An atom counts as matched by what decides: where the least part does, by the answer's threshold t, so that one that adds members
is matched above t, and one that takes them away from 1 - t on; under another combination no part decides alone, and a match is
what is likelier than not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Failure
from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.answers import AtomEvidence, Candidate
from rag_cover.setqueries.candidates import Pooled
from rag_cover.setqueries.explanations import reason_for
from rag_cover.setqueries.judging import Judged
from rag_cover.setqueries.memberships import Combination, highest_membership

__all__ = ["Decided", "Highest", "Verdicts", "decide", "intervals_of"]

Verdicts = Mapping[tuple[str, str], Judged | Failure]
"""What was judged, by (atom, candidate's name); an atom that could change nothing about a candidate may be left out."""

Highest = Mapping[tuple[str, str], float]
"""What the probability of a pair that was not judged is at most, by (atom, candidate's name); 1 of a pair that is absent."""

Floats = NDArray[np.float64]
_LIKELY = 0.5


@dataclass(frozen=True, slots=True)
class Decided:
    """Candidates that belong and others, each the likeliest first, and what decided about each, by name.

    ``turning`` are the atoms of which the opposite verdict would have changed the outcome by itself.
    """

    kept: tuple[Candidate, ...]
    others: tuple[Candidate, ...]
    turning: Mapping[str, tuple[str, ...]]

    def explain(self, fragments: Mapping[tuple[str, str], str | None]) -> Decided:
        """Add the words that tell, by (atom, candidate's name), and the reasons."""

        def with_reason(candidate: Candidate, *, kept: bool) -> Candidate:
            evidence = tuple(replace(each, fragment=fragments.get((each.atom, candidate.name))) for each in candidate.evidence)
            turning = self.turning.get(candidate.name, ())
            reason = reason_for(evidence, turning, kept=kept, probability=candidate.probability)
            return replace(candidate, evidence=evidence, reason=reason)

        return replace(
            self,
            kept=tuple(with_reason(each, kept=True) for each in self.kept),
            others=tuple(with_reason(each, kept=False) for each in self.others),
        )


def decide(  # all but three by name
    query: SetQuery,
    judged: Sequence[Pooled],
    verdicts: Verdicts,
    *,
    combination: Combination,
    threshold: float,
    highest: Highest = MappingProxyType({}),
) -> Decided:
    """Decide about candidates; those with an atom that could not be judged have no probability, and come last.

    Of a candidate that was not judged by every atom the probability is an upper bound (`highest_membership`); ``highest``
    bounds what was not judged.
    """
    whole = [each.name for each in judged if not any(isinstance(verdicts.get((a, each.name)), Failure) for a in query.atoms)]
    intervals = {atom: intervals_of(atom, whole, verdicts, highest) for atom in query.atoms}
    values = highest_membership(query, intervals, combination=combination)
    known = dict(zip(whole, values.tolist(), strict=True))
    bars = _bars(query, threshold if combination == "minimum" else _LIKELY)
    turned = {}
    for atom, (low, high) in intervals.items():
        opposite = (~bars[atom].matches(high)).astype(np.float64)
        turns = highest_membership(query, intervals | {atom: (opposite, opposite)}, combination=combination) > threshold
        turned[atom] = (low == high) & (turns != (values > threshold))
    turning = {name: tuple(atom for atom, turns in turned.items() if turns[place]) for place, name in enumerate(whole)}
    candidates = [_candidate(bars, each, verdicts, known.get(each.name)) for each in judged]
    ordered = sorted(candidates, key=lambda each: -1.0 if each.probability is None else each.probability, reverse=True)
    kept = tuple(each for each in ordered if each.probability is not None and each.probability > threshold)
    return Decided(kept, tuple(ordered[len(kept) :]), turning)


def intervals_of(atom: str, names: Sequence[str], verdicts: Verdicts, highest: Highest) -> tuple[Floats, Floats]:
    """Return candidates' least and highest probabilities of an atom: both are the judge's, or 0 and what is highest."""
    judged = [verdicts.get((atom, name)) for name in names]
    known = [each.probability if isinstance(each, Judged) else None for each in judged]
    bounds = [highest.get((atom, name), 1.0) for name in names]
    return (
        np.array([0.0 if value is None else value for value in known], dtype=np.float64),
        np.array([bound if value is None else value for value, bound in zip(known, bounds, strict=True)], dtype=np.float64),
    )


@dataclass(frozen=True, slots=True)
class _Bar:
    """From which probability an atom counts as matched."""

    bar: float
    negated: bool

    def matches(self, probabilities: Floats) -> NDArray[np.bool_]:
        return np.asarray(1 - probabilities <= self.bar if self.negated else probabilities > self.bar)


def _bars(query: SetQuery, bar: float) -> dict[str, _Bar]:
    adding = frozenset(_adding(query))
    return {atom: _Bar(bar, negated=atom not in adding) for atom in query.atoms}


def _adding(query: SetQuery, *, adds: bool = True) -> Iterator[str]:
    """Yield the atoms of positive polarity: under an even number of differences."""
    if query.text is not None:
        yield from (query.text,) if adds else ()
    for place, part in enumerate(query.parts):
        yield from _adding(part, adds=adds != (query.operator == "difference" and place > 0))


def _candidate(bars: Mapping[str, _Bar], found: Pooled, verdicts: Verdicts, probability: float | None) -> Candidate:
    evidence = tuple(_evidence(bar, atom, found, verdicts.get((atom, found.name))) for atom, bar in bars.items())
    return Candidate(found.name, found.passages, probability, evidence)


def _evidence(bar: _Bar, atom: str, found: Pooled, verdict: Judged | Failure | None) -> AtomEvidence:
    if not isinstance(verdict, Judged):
        return AtomEvidence(atom, None, bar.negated, rank=found.ranks.get(atom), skipped=verdict is None)
    return AtomEvidence(
        atom=atom,
        probability=verdict.probability,
        negated=bar.negated,
        passage=verdict.passage.key,
        rank=found.ranks.get(atom),
        matched=bool(bar.matches(np.array(verdict.probability))),
    )
