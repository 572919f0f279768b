"""Which candidates belong to which atoms: many (passage, atom) pairs in one batch.

A negated atom is judged as any other: evidence *for* it is what removes a candidate. An entity belongs to an atom as far as the
passage that speaks most for it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.backends import Failure, Locator, Scorer, ScoringItem, Span
from rag_cover.model_calls import ask_probabilities, bisect_failures, fragments
from rag_cover.questions import Passage, prepend_title
from rag_cover.setqueries.answers import question_for
from rag_cover.setqueries.calibration import MembershipCalibration, membership_features
from rag_cover.setqueries.candidates import Pooled
from rag_cover.setqueries.features import sentence_about
from rag_cover.setqueries.predicates import predicate_of

__all__ = ["AtomPassage", "Judged", "MembershipJudge", "fragments_of", "within"]


@dataclass(frozen=True, slots=True)
class AtomPassage:
    """An atom, as it is asked for, and a passage."""

    asked: str
    passage: Passage

    @property
    def text(self) -> str:
        """Return the passage as the judge reads it, under its title; a blank one stays blank."""
        return prepend_title(self.passage.title, self.passage.text) if self.passage.text.strip() else (self.passage.title or "")

    @property
    def predicate(self) -> str:
        """Return what the atom says of its members."""
        return predicate_of(self.asked)

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


@dataclass(frozen=True, slots=True)
class MembershipJudge:
    """Tells how probable it is that passages' entities belong to atoms.

    Args:
        scorer: asked whether a passage answers `question_for` an atom.
        calibration: makes memberships of what it says.
    """

    scorer: Scorer
    calibration: MembershipCalibration

    def judge(self, candidates: Sequence[Pooled], atoms: Mapping[str, str]) -> dict[tuple[str, str], Judged | Failure]:
        """Judge every candidate by every atom, in one batch; pairs that a model fails on cost no other its verdict.

        Args:
            candidates: the candidates.
            atoms: the atoms, each with the words it is asked for by.

        Returns:
            What was found, by (atom, candidate's name).
        """
        return self.judge_each([(each, atoms) for each in candidates])

    def judge_each(self, wanted: Sequence[tuple[Pooled, Mapping[str, str]]]) -> dict[tuple[str, str], Judged | Failure]:
        """Judge each candidate by atoms of its own, in one batch, as `judge` does; without candidates nobody is asked."""
        pairs = {
            AtomPassage(asked, passage): None for each, atoms in wanted for passage in each.passages for asked in atoms.values()
        }
        found = self.memberships(list(pairs))
        return {
            (atom, each.name): _best([(passage, found[AtomPassage(asked, passage)]) for passage in each.passages])
            for each, atoms in wanted
            for atom, asked in atoms.items()
        }

    def memberships(self, pairs: Sequence[AtomPassage]) -> dict[AtomPassage, float | Failure]:
        """Return P(belongs) of each pair, or why it could not be judged."""
        items = list(dict.fromkeys(pair.item for pair in pairs))
        probabilities_or_failures = bisect_failures(items, lambda some: list(ask_probabilities(self.scorer, some).values()))
        found: dict[AtomPassage, float | Failure] = {pair: probabilities_or_failures[pair.item] for pair in pairs}
        known = {pair: value for pair, value in found.items() if not isinstance(value, Failure)}
        if not self.calibration.weights or not known:
            return found
        features = membership_features(list(known.values()), [(pair.predicate, pair.text) for pair in known])
        members = self.calibration.memberships(features)
        return found | dict(zip(known, members.tolist(), strict=True))


def _best(said: Sequence[tuple[Passage, float | Failure]]) -> Judged | Failure:
    judged = [Judged(value, passage) for passage, value in said if not isinstance(value, Failure)]
    failures = [value for _, value in said if isinstance(value, Failure)]
    return max(judged, key=lambda each: each.probability) if judged else failures[0]


def fragments_of(pairs: Iterable[AtomPassage], locator: Locator) -> dict[AtomPassage, str | Failure | None]:
    """Return the words of each passage that tell that it belongs to the atom; None where there are none, or in the title.

    The locator is asked by the atom alone, which finds more than `question_for` it does; where it finds nothing, the sentence
    that repeats most of what the atom says is taken.
    """
    wanted = list(dict.fromkeys(pairs))
    items = {pair: ScoringItem(pair.asked, pair.text) for pair in wanted}
    spans = bisect_failures(list(items.values()), lambda some: list(fragments(locator, some).values()))
    return {pair: _telling(pair, spans[item]) for pair, item in items.items()}


def _telling(pair: AtomPassage, span: Span | Failure | None) -> str | Failure | None:
    """Return the located words on one line, without what is the title's, or the sentence in their place."""
    if isinstance(span, Failure):
        return span
    title = len(pair.text) - len(pair.passage.text)
    located = " ".join(pair.text[max(span.start, title) : span.end].split()) if span else ""
    return located or sentence_about(pair.predicate, pair.passage.text)
