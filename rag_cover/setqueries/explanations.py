"""Why a candidate belongs or was left out, and what who asked should know, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.answers import AtomEvidence, Candidate
from rag_cover.setqueries.memberships import Combination, membership
from rag_cover.setqueries.parsing import ParsedQuery, modifiers_note
from rag_cover.traces import RetrievalStep

__all__ = ["budget_note", "notes_on_searches", "reading_notes", "reason_for"]

_UNSURE = 0.5  # a reading that is less probable is told with its rivals
_EVEN = 0.5
_LONGEST_NAME = 120


def reason_for(
    evidence: Sequence[AtomEvidence], turning: Collection[str], *, kept: bool, probability: float | None = None
) -> str:
    """Name the atoms that decided: the turning ones, else those that speak for the outcome, else all together."""
    if missing := [each.atom for each in evidence if each.probability is None and not each.skipped]:
        return f"could not be judged by {' and '.join(map(repr, missing))}"
    evidence = [each for each in evidence if not each.skipped]
    decisive = [each for each in evidence if each.atom in turning] or [each for each in evidence if _supports(each, kept=kept)]
    together = "" if decisive or probability is None else f"; together {probability:.2f}"
    return "; ".join(map(_says, decisive or evidence)) + together


def notes_on_searches(
    query: SetQuery,
    candidates: Sequence[Candidate],
    steps: Mapping[str, RetrievalStep],
    threshold: float,
    combination: Combination,
) -> tuple[str, ...]:
    """Note which searches failed or found nothing, and which atoms nothing matches, with what that means for the answer."""
    failed = [f"the search for {atom!r} failed: {step.error}" for atom, step in steps.items() if step.error is not None]
    empty = [
        f"the search for {atom!r} found nothing" for atom, step in steps.items() if step.error is None and not step.passages
    ]
    missed = sum(each.probability is None for each in candidates)
    unknown = (
        [f"{missed} of {len(candidates)} candidates could not be judged: whether they belong is not known"] if missed else []
    )
    unmatched = [
        _explain_no_match(query, atom, candidates, threshold, combination)
        for atom in _atoms_without_match(query, candidates, threshold)
    ]
    return (*failed, *empty, *unknown, *unmatched)


def reading_notes(parsed: ParsedQuery) -> tuple[str, ...]:
    """Note how a question was read where that is not sure."""
    notes = (*parsed.notes, *modifiers_note(parsed))
    if parsed.confidence >= _UNSURE or not parsed.alternatives:
        return notes
    others = " or ".join(f"{query} ({probability:.2f})" for query, probability in parsed.alternatives[:2])
    return (*notes, f"the question was read as {parsed.query} ({parsed.confidence:.2f}); it may also mean {others}")


def budget_note(unjudged: int, most: int) -> tuple[str, ...]:
    """Note what the budget left out."""
    if not unjudged:
        return ()
    were = "candidate was" if unjudged == 1 else "candidates were"
    pairs = "1 pair" if most == 1 else f"{most} pairs"
    return (f"{unjudged} {were} not judged: the budget is {pairs} of a passage and an atom; raise max_pairs",)


def _supports(evidence: AtomEvidence, *, kept: bool) -> bool:
    return (bool(evidence.matched) != evidence.negated) == kept


def _says(evidence: AtomEvidence) -> str:
    fragment = f": “{evidence.fragment}”" if evidence.fragment else ""
    return f"{_verb(evidence)} {evidence.atom!r} ({evidence.probability:.2f}){fragment}"


def _verb(evidence: AtomEvidence) -> str:
    """Describe a probability in words, without claiming more than it does."""
    likely = (evidence.probability or 0.0) > _EVEN
    if evidence.matched:
        return "matches" if likely or not evidence.negated else "may match"
    return "not enough evidence for" if likely else "no evidence for"


def _atoms_without_match(query: SetQuery, candidates: Sequence[Candidate], threshold: float) -> list[str]:
    """Return the atoms that nothing matches, nor would if they were all that is asked for.

    Where a candidate was left out before it was judged by an atom that adds members, it might match: nothing is said then.
    """
    verdicts: dict[str, list[bool]] = {}
    for each in (evidence for candidate in candidates for evidence in candidate.evidence):
        if each.skipped and each.atom in query.sources:
            verdicts.setdefault(each.atom, []).append(True)
        elif each.probability is not None:
            verdicts.setdefault(each.atom, []).append(bool(each.matched) and (each.negated or each.probability > threshold))
    return [atom for atom in query.atoms if atom in verdicts and not any(verdicts[atom])]


def _explain_no_match(
    query: SetQuery, atom: str, candidates: Sequence[Candidate], threshold: float, combination: Combination
) -> str:
    """Explain that nothing matches an atom, and what follows: a low threshold may keep what rests on it all the same."""
    values = [(value, one.name) for one in candidates for value in [_probabilities(one).get(atom)] if value is not None]
    best, name = max(values)
    turned = sum(_turns(query, atom, one, threshold, combination) for one in candidates)
    judged = " judged by it" if any(each.skipped and each.atom == atom for one in candidates for each in one.evidence) else ""
    none = (
        f"none of {len(values)} candidates{judged} matches" if len(values) > 1 else f"the one candidate{judged} does not match"
    )
    surely = " surely enough" if best > _EVEN else ""
    meaning = _despite(query, atom, turned, threshold) if turned else _therefore(query, atom)
    return f"{none} {atom!r}{surely}, {meaning}; nearest is {_short(name)} ({best:.2f})"


def _short(name: str) -> str:
    """Shorten what names a passage without a title or an id: its text."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _therefore(query: SetQuery, atom: str) -> str:
    return "so nothing belongs to what needs it" if atom in query.sources else "so nothing is taken away for it"


def _despite(query: SetQuery, atom: str, turned: int, threshold: float) -> str:
    if atom in query.sources:
        what = f"yet {turned} that {'is' if turned == 1 else 'are'} kept {'rests' if turned == 1 else 'rest'} on it"
    else:
        what = f"yet {turned} {'is' if turned == 1 else 'are'} left out for it"
    return f"{what}, by a threshold of {threshold:.2f}"


def _turns(query: SetQuery, atom: str, candidate: Candidate, threshold: float, combination: Combination) -> bool:
    """Check whether a candidate's outcome would be another one if the atom were certain not to hold of it.

    Of a candidate that was not judged by every atom it is not known, and not claimed.
    """
    if candidate.probability is None or any(each.skipped for each in candidate.evidence):
        return False
    without = {each: [value] for each, value in (_probabilities(candidate) | {atom: 0.0}).items()}
    value = membership(query, without, combination=combination)[0]
    return bool((value > threshold) != (candidate.probability > threshold))


def _probabilities(candidate: Candidate) -> dict[str, float]:
    return {each.atom: each.probability for each in candidate.evidence if each.probability is not None}
