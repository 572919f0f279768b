"""Which candidates belong to which atoms: every (passage, atom) pair in one batch.

A negated atom is judged as any other: evidence *for* it is what removes a candidate. An entity belongs to an atom as far as the
passage that speaks most for it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.backends import Failure, Locator, Scorer, ScoringItem
from rag_cover.coverage.passages import titled
from rag_cover.questions import Passage
from rag_cover.setqueries.answers import question_for
from rag_cover.setqueries.calibration import MembershipCalibration
from rag_cover.setqueries.candidates import Pooled
from rag_cover.verdicts import each_or_failure, fragments, probabilities

__all__ = ["Judged", "Pair", "fragments_of", "judged_pairs", "within"]


@dataclass(frozen=True, slots=True)
class Pair:
    """An atom, as it is asked for, and a passage."""

    asked: str
    passage: Passage

    @property
    def text(self) -> str:
        """Return the passage as the judge reads it, under its title; a blank one stays blank."""
        return titled(self.passage.title, self.passage.text) if self.passage.text.strip() else (self.passage.title or "")

    @property
    def item(self) -> ScoringItem:
        """Return what is asked of the judge."""
        return ScoringItem(question_for(self.asked), self.text)


@dataclass(frozen=True, slots=True)
class Judged:
    """The probability that a candidate belongs to an atom, by the passage that speaks most for it."""

    probability: float
    passage: Passage


def within(candidates: Sequence[Pooled], atoms: int, most: int) -> list[Pooled]:
    """Return the first candidates whose passages, each with every atom, are at most so many pairs; at least one."""
    kept, pairs = list[Pooled](), 0
    for candidate in candidates:
        pairs += len(candidate.passages) * atoms
        if kept and pairs > most:
            break
        kept.append(candidate)
    return kept


def judged_pairs(
    candidates: Sequence[Pooled], atoms: Mapping[str, str], scorer: Scorer, calibration: MembershipCalibration
) -> dict[tuple[str, str], Judged | Failure]:
    """Judge every candidate by every atom, in one batch; pairs that the judge fails on cost no other its verdict.

    Args:
        candidates: the candidates.
        atoms: the atoms, each with the words it is asked for by.
        scorer: the judge.
        calibration: makes memberships of what it says.

    Returns:
        What was found, by (atom, candidate's name).
    """
    pairs = {Pair(asked, passage): None for each in candidates for passage in each.passages for asked in atoms.values()}
    said = each_or_failure(list({pair.item: None for pair in pairs}), lambda items: list(probabilities(scorer, items).values()))
    known = [(pair, value) for pair in pairs if not isinstance(value := said[pair.item], Failure)]
    members = calibration.memberships([value for _, value in known], [(pair.asked, pair.text) for pair, _ in known])
    found: dict[Pair, float | Failure] = {pair: value for pair in pairs if isinstance(value := said[pair.item], Failure)}
    found |= {pair: float(value) for (pair, _), value in zip(known, members, strict=True)}
    return {
        (atom, each.name): _best([(passage, found[Pair(asked, passage)]) for passage in each.passages])
        for each in candidates
        for atom, asked in atoms.items()
    }


def _best(said: Sequence[tuple[Passage, float | Failure]]) -> Judged | Failure:
    judged = [Judged(value, passage) for passage, value in said if not isinstance(value, Failure)]
    failures = [value for _, value in said if isinstance(value, Failure)]
    return max(judged, key=lambda each: each.probability) if judged else failures[0]


def fragments_of(pairs: Iterable[Pair], locator: Locator) -> dict[Pair, str | None]:
    """Return the words of each passage that tell that it belongs to the atom; None where there are none, or in the title."""
    wanted = list(dict.fromkeys(pairs))
    spans = each_or_failure([pair.item for pair in wanted], lambda items: list(fragments(locator, items).values()))
    found: dict[Pair, str | None] = {}
    for pair in wanted:
        span = spans[pair.item]
        found[pair] = None if span is None or isinstance(span, Failure) else " ".join(span.of(pair.text).split())
    return found
