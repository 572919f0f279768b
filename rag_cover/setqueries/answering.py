"""Set queries answered: a search for each atom, judgments in few batches, set algebra on calibrated probabilities.

Malaviya et al., "QUEST" (ACL 2023), §4, names what retrievers lack: they treat an intersection as a union and pass over what is
negated. Here every atom is searched for by itself, deeper where it is intersected; whatever was found is judged by every atom,
negated ones among them, unless it cannot belong any more (`rounds`); and what is kept is all that is probable enough, not the
first k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.argument_checks import refuse_below
from rag_cover.backends import Failure, Locator, Retriever, Scorer, fingerprint_of
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.llm.session import Remote
from rag_cover.searching import Searches
from rag_cover.setqueries.algebra import MOST_ATOMS, SetQuery
from rag_cover.setqueries.answers import Candidate, SetAnswer
from rag_cover.setqueries.calibration import MembershipCalibration, membership_calibration_for, refuse_threshold
from rag_cover.setqueries.candidates import DEPTH, EntityOf, Pooled, depths_of, entity_name, pool_candidates
from rag_cover.setqueries.deciding import Verdicts, decide
from rag_cover.setqueries.explanations import budget_note, notes_on_searches, reading_notes
from rag_cover.setqueries.judging import AtomPassage, Judged, MembershipJudge, fragments_of, within
from rag_cover.setqueries.memberships import contradictory
from rag_cover.setqueries.parsing import Modifiers, ParsedQuery, demand_modifiers, parse, regroup
from rag_cover.setqueries.rounds import Rounds, judge_in_rounds
from rag_cover.setqueries.screening import screen_candidates
from rag_cover.traces import RetrievalStep

__all__ = ["MOST_PAIRS", "Parser", "SetAnswerer", "answer"]

Parser = Callable[[str], ParsedQuery]
"""Reads a question as a set query."""

MOST_PAIRS = 1200
"""How many (passage, atom) pairs are judged for one query, by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAnswerer:
    """Answers set queries over one retriever; as thread-safe as its models are. `answer` explains the fields.

    Raises:
        InvalidValueError: a number out of range.
    """

    retriever: Retriever
    scorer: Scorer
    locator: Locator | None = None
    parser: Parser = parse
    modifiers: Modifiers = "read"
    calibration: MembershipCalibration | None = None
    threshold: float | None = None
    depth: int = DEPTH
    max_pairs: int = MOST_PAIRS
    explained: int = 20
    entity_of: EntityOf = entity_name
    workers: int = 8
    exhaustive: bool = False
    screen: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot work before anything is searched for."""
        refuse_below(1, depth=self.depth, max_pairs=self.max_pairs, workers=self.workers)
        refuse_below(0, explained=self.explained)
        demand_modifiers(self.modifiers)
        if self.threshold is not None:
            refuse_threshold(self.threshold)

    def answer(self, question: str | ParsedQuery | SetQuery) -> SetAnswer:
        """Answer one question, as `rag_cover.setqueries.answer` does.

        Raises:
            InvalidValueError: the question is no set query, or has too many atoms.
            ModelFailedError: every search failed.
        """
        parsed = self._parse(question)
        calibration = self.calibration or membership_calibration_for(fingerprint_of(self.scorer)) or MembershipCalibration()
        threshold = calibration.threshold if self.threshold is None else self.threshold
        if contradictory(parsed.query):
            notes = parsed.notes or (f"nothing can belong to {parsed.query}: it contradicts itself",)
            return SetAnswer(parsed, (), (), (), threshold, calibration.combination, notes=notes)
        steps = self._search(parsed)
        found = pool_candidates(parsed.query, {atom: step.passages for atom, step in steps.items()}, self.entity_of)
        judged = within(found, len(parsed.atoms), self.max_pairs)
        judge = MembershipJudge(self.scorer, calibration)
        words = {atom: _wording_of(parsed, atom) for atom in parsed.atoms}
        rounds = self._judge(judge, parsed.query, judged, words, threshold)
        verdicts = rounds.verdicts
        decisions = decide(
            parsed.query,
            judged,
            verdicts,
            combination=calibration.combination,
            threshold=threshold,
            highest=rounds.highest,
        )
        fragments = self._fragments(parsed, [*decisions.kept, *decisions.others[: self.explained]], verdicts)
        decisions = decisions.explain({key: each for key, each in fragments.items() if isinstance(each, str)})
        unjudged = len(found) - len(judged)
        return SetAnswer(
            parsed=parsed,
            entities=decisions.kept,
            left_out=decisions.others,
            steps=tuple({step.id: step for step in steps.values()}.values()),
            threshold=threshold,
            combination=calibration.combination,
            judged=rounds.pairs,
            unjudged=unjudged,
            failures=_failures(steps, [*verdicts.values(), *fragments.values()]),
            notes=(
                *reading_notes(parsed),
                *notes_on_searches(
                    parsed.query, (*decisions.kept, *decisions.others), steps, threshold, calibration.combination
                ),
                *budget_note(unjudged, self.max_pairs),
            ),
        )

    def _parse(self, question: str | ParsedQuery | SetQuery) -> ParsedQuery:
        read = _as_parsed_query(self.parser(question) if isinstance(question, str) else question)
        parsed = regroup(read, self.modifiers)
        if len(parsed.atoms) > MOST_ATOMS:
            message = f"the query has {len(parsed.atoms)} atoms; at most {MOST_ATOMS} are searched for: ask in parts"
            raise InvalidValueError(message)
        return parsed

    def _search(self, parsed: ParsedQuery) -> dict[str, RetrievalStep]:
        """Search for every atom by the user's words for it, those that are to be searched for equally deep together."""
        searches = Searches(self.retriever, k=self.depth, most=None, workers=self.workers)
        depths = depths_of(parsed.query, self.depth)
        for depth in sorted(set(depths.values()), reverse=True):
            searches.search([_wording_of(parsed, atom) for atom in parsed.atoms if depths[atom] == depth], k=depth)
        steps = {atom: step for atom in parsed.atoms if (step := searches.step_of(_wording_of(parsed, atom))) is not None}
        if steps and all(step.error is not None for step in steps.values()):
            message = f"no search succeeded: {next(iter(steps.values())).error}"
            raise ModelFailedError(message)
        return steps

    def _judge(
        self, judge: MembershipJudge, query: SetQuery, candidates: Sequence[Pooled], words: Mapping[str, str], threshold: float
    ) -> Rounds:
        if self.exhaustive or isinstance(
            self.scorer, Remote
        ):  # a model that is asked for each text reads all atoms in one call
            return Rounds(judge.judge(candidates, words), sum(len(each.passages) for each in candidates) * len(words))
        combination = judge.calibration.combination
        highest = screen_candidates(candidates, words) if self.screen else {}
        return judge_in_rounds(query, candidates, judge, words, combination=combination, threshold=threshold, highest=highest)

    def _fragments(
        self, parsed: ParsedQuery, some: Sequence[Candidate], verdicts: Verdicts
    ) -> dict[tuple[str, str], str | Failure | None]:
        """Find the words that tell, where something tells: of what was kept, and of what was nearly kept."""
        if self.locator is None:
            return {}
        pairs = {
            (evidence.atom, each.name): AtomPassage(_wording_of(parsed, evidence.atom), verdict.passage)
            for each in some
            for evidence in each.evidence
            if evidence.matched and isinstance(verdict := verdicts.get((evidence.atom, each.name)), Judged)
        }
        found = fragments_of(pairs.values(), self.locator)
        return {key: found[pair] for key, pair in pairs.items()}


def answer(  # noqa: PLR0913  # all but two by name
    question: str | ParsedQuery | SetQuery,
    retriever: Retriever,
    *,
    scorer: Scorer,
    locator: Locator | None = None,
    parser: Parser = parse,
    modifiers: Modifiers = "read",
    calibration: MembershipCalibration | None = None,
    threshold: float | None = None,
    depth: int = DEPTH,
    max_pairs: int = MOST_PAIRS,
    explained: int = 20,
    entity_of: EntityOf = entity_name,
    workers: int = 8,
    exhaustive: bool = False,
    screen: bool = False,
) -> SetAnswer:
    """Answer a question with set operations in it: everything that belongs, with the evidence for each atom.

    Args:
        question: a question, which is parsed, a parsed one, or a set query.
        retriever: asked for each atom, from several threads.
        scorer: the judge; it is asked of each passage whether that answers "What are examples of …?" with an atom's words.
        locator: finds the words that tell; without one, evidence has no fragments.
        parser: reads the question: the grammar, or a `GeneratedParser`.
        modifiers: how modifiers of a question are taken (`regroup`): ``read`` as the parser does, ``split`` into an atom for
            each, or ``joined`` to one atom for all of one head.
        calibration: makes P(a passage's entity belongs to an atom) of what the judge says and of the words that both share, and
            tells how a query's atoms are combined, and from what on to keep; by default what was fitted for this judge, else
            the judge's word, their product, and 0.5.
        threshold: an entity is kept if its probability is above this; by default the calibration's.
        depth: how many passages to search for by each atom; twice as many where it is intersected.
        max_pairs: how many (passage, atom) pairs to judge at most; the most promising candidates first.
        explained: of how many candidates that were left out the telling words are sought, too.
        entity_of: names the entity that a passage is about; by default, and where it gives no name, its title, else its id.
        workers: how many searches run at a time.
        exhaustive: judge every candidate by every atom, as a judge that is asked over a network always does, all atoms in one
            call. By default a candidate that cannot belong any more is not judged further: the entities and their evidence
            are the same, and what was left out has upper bounds for probabilities.
        screen: do not ask the judge about a candidate and an atom whose search did not find it and whose words it does not have
            (`screening`), where that settles the outcome: fewer pairs, and an answer that may differ. No pair is left out
            with ``exhaustive``, nor where a model behind an API judges, which is asked about all atoms at once.

    Raises:
        InvalidValueError: a blank question, one that names nothing to start from, over 20 atoms, or a number out of range.
        ModelFailedError: every search failed.
    """
    answerer = SetAnswerer(
        retriever=retriever,
        scorer=scorer,
        locator=locator,
        parser=parser,
        modifiers=modifiers,
        calibration=calibration,
        threshold=threshold,
        depth=depth,
        max_pairs=max_pairs,
        explained=explained,
        entity_of=entity_of,
        workers=workers,
        exhaustive=exhaustive,
        screen=screen,
    )
    return answerer.answer(question)


def _as_parsed_query(question: ParsedQuery | SetQuery) -> ParsedQuery:
    if isinstance(question, ParsedQuery):
        return question
    if isinstance(question, SetQuery):
        return ParsedQuery(question=str(question), query=question, confidence=1.0, source="given")
    message = f"{type(question).__name__} is no set query; give a question in words, a SetQuery, or a parser's ParsedQuery"
    raise InvalidValueError(message)


def _wording_of(parsed: ParsedQuery, atom: str) -> str:
    return parsed.words.get(atom, atom)


def _failures(steps: Mapping[str, RetrievalStep], said: Iterable[object]) -> tuple[Failure, ...]:
    searches = [Failure("search", f"{atom!r}: {step.error}") for atom, step in steps.items() if step.error is not None]
    return tuple(dict.fromkeys([*searches, *(each for each in said if isinstance(each, Failure))]))
