"""Set queries over a framework's retriever; the framework's own objects are returned.

Malaviya et al., "QUEST" (ACL 2023), as `rag_cover.setqueries.SetAnswerer` answers them. What is no set query, or is not surely
read as one, is left to the retriever, or to whatever else there is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from rag_cover.argument_checks import describe_argument
from rag_cover.backends import Retriever
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.integration.choosing import OnRerankError
from rag_cover.integration.searches import Search
from rag_cover.integration.set_routes import why_left_alone
from rag_cover.questions import Passage
from rag_cover.registry import Models
from rag_cover.setqueries import Candidate, GeneratedParser, Modifiers, ParsedQuery, Parser, SetAnswer, SetAnswerer, parse

__all__ = [
    "EntityNames",
    "Member",
    "SetFound",
    "answer_set_query",
    "answer_set_query_if_possible",
    "explain_empty_result",
    "set_answerer_by",
]

T = TypeVar("T")

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Member(Generic[T]):
    """A retrieved object about an entity that belongs to a set query.

    Attributes:
        find: what the framework found.
        probability: P(the entity belongs).
        explanation: why the entity belongs, as JSON data: its name, probability and reason, every atom with its evidence, and
            the query.
    """

    find: T
    probability: float
    explanation: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SetFound(Generic[T]):
    """What came of one set query: its answer, and everything that was found, by `Passage.key`."""

    answer: SetAnswer
    found: Mapping[str, T]

    def members(self, most: int | None = None) -> list[Member[T]]:
        """Return the finds that tell most of what belongs, the likeliest entities first, each find once, at most so many."""
        members: dict[str, Member[T]] = {}
        for key, candidate in self._telling():
            members.setdefault(
                key, Member(self.found[key], candidate.probability or 0.0, _explain_membership(self.answer, candidate))
            )
        return list(members.values())[:most]

    def _telling(self) -> Iterator[tuple[str, Candidate]]:
        yield from ((passage.key, each) for each in self.answer.entities for passage in each.telling)


@dataclass(frozen=True, slots=True)
class EntityNames(Generic[T]):
    """Names the entity that a find is about: finds with one name are one candidate.

    What gives no name, or a blank one, leaves it to the find's title, else to its source, else it is an entity by itself.

    Args:
        entity: a key of the metadata, or a function of a find; None: neither.
        source_of: names what a find is a part of; None of what is a part of nothing.

    Raises:
        InvalidValueError: ``entity`` is neither.
    """

    entity: str | Callable[[T], object] | None = None
    source_of: Callable[[T], str | None] = lambda _: None

    def __post_init__(self) -> None:
        """Refuse what names nothing."""
        named = self.entity is None or callable(self.entity) or (isinstance(self.entity, str) and bool(self.entity.strip()))
        if not named:
            given = "a blank text" if isinstance(self.entity, str) else describe_argument(self.entity)
            message = f"entity is {given}; give the key of the metadata that names what each is about, or a function that does"
            raise InvalidValueError(message)

    def within(self, search: Search[T]) -> Callable[[Passage], str]:
        """Return what names the entities of what one question's searches found."""

        def name_entity(passage: Passage) -> str:
            find = next(finds[passage.key] for finds in search.found.values() if passage.key in finds)
            names = (self._own_name(find, passage), passage.title, self.source_of(find), passage.id, passage.text)
            return next((name.strip() for name in names if name and name.strip()), "")

        return name_entity

    def _own_name(self, find: T, passage: Passage) -> str | None:
        if self.entity is None:
            return None
        name = passage.metadata.get(self.entity) if isinstance(self.entity, str) else self.entity(find)
        return None if name is None else str(name)


def set_answerer_by(
    retriever: Retriever,
    models: Models,
    *,
    depth: int,
    max_pairs: int,
    threshold: float | None,
    explain: bool,
    modifiers: Modifiers = "read",
    screen: bool = False,
) -> SetAnswerer:
    """Open the models and make a `SetAnswerer`; `rag_cover.setqueries.answer` explains the settings.

    Args:
        retriever: finds the passages.
        models: the judge, which also locates where it can, and a generator, which reads questions in place of the grammar.
        depth: how many passages to search for by each atom.
        max_pairs: how many pairs of a passage and an atom to judge at most.
        threshold: an entity is kept if its probability is above this; by default the calibration's.
        explain: whether the words that tell are sought.
        modifiers: how modifiers of a question are taken: ``read``, ``split`` or ``joined``.
        screen: whether pairs that search and words speak against are not judged.

    Raises:
        InvalidValueError: a number out of range, or modifiers of another name.
    """
    opened = models.open(["scorer", "locator"] if explain else ["scorer"])
    return SetAnswerer(
        retriever=retriever,
        scorer=opened["scorer"],
        locator=opened.get("locator"),
        parser=_parser_by(models),
        threshold=threshold,
        depth=depth,
        max_pairs=max_pairs,
        modifiers=modifiers,
        screen=screen,
    )


def answer_set_query(
    answerer: SetAnswerer, search: Search[T], question: str | ParsedQuery, *, names: EntityNames[T]
) -> SetFound[T]:
    """Answer one question, set query or not, by a search of its own.

    Raises:
        InvalidValueError: a question that cannot be answered: it is blank, only takes away, or has too many atoms.
        ModelFailedError: every search failed, or the model that parses questions did.
    """
    made = replace(answerer, retriever=search, entity_of=names.within(search)).answer(question)
    return SetFound(made, search.first_found([step.query for step in made.steps]))


def answer_set_query_if_possible(
    answerer: SetAnswerer,
    search: Search[T],
    question: str,
    *,
    names: EntityNames[T],
    min_confidence: float,
    on_error: OnRerankError,
) -> SetFound[T] | None:
    """Answer one question; None where it is to be searched for as it is: no set query, or one that something failed on.

    What is failed on is logged as a warning, and so is an answer without members, with the reason.

    Raises:
        InvalidValueError: a question that cannot be answered, and ``on_error`` is ``"raise"``.
        ModelFailedError: every search failed, or the judge or the reader did, and ``on_error`` is ``"raise"``.
    """
    if not question.strip():
        return None
    try:
        parsed = answerer.parser(question)
        if (why := why_left_alone(parsed, min_confidence)) is not None:
            _LOG.log(logging.INFO if parsed.is_set_query else logging.DEBUG, "%r is searched for as it is: %s", question, why)
            return None
        made = answer_set_query(replace(answerer, explained=0), search, parsed, names=names)
        _refuse_unjudged(made.answer)
    except (InvalidValueError, ModelFailedError) as failed:
        if on_error == "raise":
            raise
        _LOG.warning("%r is searched for as it is: %s", question, failed)
        return None
    _log_outcome(made.answer)
    return made


def explain_empty_result(answer: SetAnswer) -> str:
    """Explain why a set query has no members: the notes on its atoms, and the candidate that came nearest."""
    known = [each for each in answer.left_out if each.probability is not None]
    said = [note.rstrip(".") for note in answer.notes]
    if known:
        near, count = known[0], len(answer.left_out)
        nearest = "the one candidate is" if count == 1 else f"nearest of {count} candidates is"
        said.append(f"{nearest} {near.name} ({near.probability:.2f}, kept above {answer.threshold:.2f}): {near.reason}")
    return "; ".join(said) or "no search found a candidate"


def _parser_by(models: Models) -> Parser:
    """Open who reads questions: the generator, else the grammar."""
    if generator := models.open(["generator"]).get("generator"):
        return GeneratedParser(generator)
    return parse


def _refuse_unjudged(answer: SetAnswer) -> None:
    """Raise what the judge failed on, where it failed on every candidate."""
    if answer.ranked and all(each.probability is None for each in answer.ranked):
        raise answer.failures[-1].error()  # searches' failures come first


def _log_outcome(answer: SetAnswer) -> None:
    if not answer.entities:
        _LOG.warning("nothing belongs to %r, read as %s: %s", answer.question, answer.query, explain_empty_result(answer))
    elif answer.failures:
        failed = answer.failures[-1].message
        _LOG.warning("%r is answered in part (failures: %d): %s", answer.question, len(answer.failures), failed)
    elif answer.notes:
        _LOG.info("%r, read as %s: %s", answer.question, answer.query, "; ".join(answer.notes))


def _explain_membership(answer: SetAnswer, candidate: Candidate) -> dict[str, Any]:
    return {
        "entity": candidate.name,
        "probability": candidate.probability,
        "reason": candidate.reason,
        "atoms": [
            {"atom": each.atom, "probability": each.probability, "negated": each.negated, "fragment": each.fragment}
            for each in candidate.evidence
        ],
        "query": str(answer.query),
    }
