"""Why a candidate belongs or was left out, and what who asked should know, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.answers import AtomEvidence, Candidate
from rag_cover.setqueries.parsing import ParsedQuery
from rag_cover.traces import RetrievalStep

__all__ = ["budget_note", "notes_on", "reading_notes", "reason_for"]

_UNSURE = 0.5  # a reading that is less probable is told with its rivals


def reason_for(evidence: Sequence[AtomEvidence], turning: Collection[str], *, kept: bool) -> str:
    """Say which atoms decided: the turning ones, where there are none those that speak for the outcome, else all."""
    if missing := [each.atom for each in evidence if each.probability is None]:
        return f"could not be judged by {' and '.join(map(repr, missing))}"
    decisive = [each for each in evidence if each.atom in turning] or [each for each in evidence if _supports(each, kept=kept)]
    return "; ".join(map(_says, decisive or evidence))


def notes_on(
    query: SetQuery, candidates: Sequence[Candidate], steps: Mapping[str, RetrievalStep], threshold: float
) -> tuple[str, ...]:
    """Say which searches failed or found nothing, and which atoms nothing matches, with what that means for the answer."""
    failed = [f"the search for {atom!r} failed: {step.error}" for atom, step in steps.items() if step.error is not None]
    empty = [
        f"the search for {atom!r} found nothing" for atom, step in steps.items() if step.error is None and not step.passages
    ]
    return (*failed, *empty, *(_unmatched(query, atom, candidates) for atom in _matched_by_none(query, candidates, threshold)))


def reading_notes(parsed: ParsedQuery) -> tuple[str, ...]:
    """Say how a question was read where that is not sure."""
    if parsed.confidence >= _UNSURE or not parsed.alternatives:
        return parsed.notes
    others = " or ".join(f"{query} ({probability:.2f})" for query, probability in parsed.alternatives[:2])
    return (*parsed.notes, f"the question was read as {parsed.query} ({parsed.confidence:.2f}); it may also mean {others}")


def budget_note(unjudged: int, most: int) -> tuple[str, ...]:
    """Say what the budget left out."""
    if not unjudged:
        return ()
    were = "candidate was" if unjudged == 1 else "candidates were"
    return (f"{unjudged} {were} not judged: the budget is {most} pairs of a passage and an atom; raise max_pairs",)


def _supports(evidence: AtomEvidence, *, kept: bool) -> bool:
    return (_likely(evidence) != evidence.negated) == kept


def _likely(evidence: AtomEvidence) -> bool:
    return evidence.probability is not None and evidence.probability > _UNSURE


def _says(evidence: AtomEvidence) -> str:
    told = f": “{evidence.fragment}”" if evidence.fragment else ""
    verb = "matches" if _likely(evidence) else "no evidence for"
    return f"{verb} {evidence.atom!r} ({evidence.probability:.2f}){told}"


def _matched_by_none(query: SetQuery, candidates: Sequence[Candidate], threshold: float) -> list[str]:
    best: dict[str, float] = {}
    for candidate in candidates:
        for each in candidate.evidence:
            if each.probability is not None:
                best[each.atom] = max(best.get(each.atom, 0.0), each.probability)
    return [atom for atom in query.atoms if atom in best and best[atom] <= max(threshold, _UNSURE)]


def _unmatched(query: SetQuery, atom: str, candidates: Sequence[Candidate]) -> str:
    judged = [(each.probability, one.name) for one in candidates for each in one.evidence if each.atom == atom]
    best, name = max((value, name) for value, name in judged if value is not None)
    taken = atom not in query.sources
    meaning = "so nothing is taken away for it" if taken else "so nothing belongs to what needs it"
    return f"none of {len(candidates)} candidates matches {atom!r}, {meaning}; nearest is {name} ({best:.2f})"
