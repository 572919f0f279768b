"""What models say of each retrieved document: whether it answers the question, and which of its words it is about.

A model that fails on a block is asked about its halves, and so on, so that one document it cannot judge costs no other its
verdict: that document carries the failure and counts in nothing.

Asked twofold, with references r and without, P(document i contains a correct answer) is the product of the two answers: that it
answers the question at all, and that what it says agrees with the references. A scorer made for answers needs that: it knows
the right name in a document that is about something else.

Without references, a question that asks several things in so many words ("When was it built and who designed it?") is asked of
a document whole and in parts: the document answers as likely as it answers the part that it answers least.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_cover.backends import Failure, Relevance, Scorer, ScoringItem, fingerprint_of
from rag_cover.complexity.result import DocumentEvidence
from rag_cover.decomposition.rules import decompose_by_rules
from rag_cover.errors import ModelFailedError
from rag_cover.model_calls import ask_probabilities, bisect_failures
from rag_cover.questions import Passage, Role, prepend_title
from rag_cover.traces import distinct

__all__ = ["Case", "Read", "read_documents"]

_MOST_PARTS = 6  # of a question: each is a reading of every document


@dataclass(frozen=True, slots=True)
class _TokenRelevance:
    """A question's tokens, and a document's relevance to each."""

    tokens: tuple[str, ...]
    relevance: tuple[float, ...]


_NOTHING = _TokenRelevance((), ())


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the distinct passages retrieved for it, and what right answers are like, where that is known.

    ``twofold`` asks the scorer with the references and without; ``parts`` are what the question asks, where that is several
    things and no references tell what right answers are like.
    """

    question: str
    passages: tuple[Passage, ...]
    references: tuple[str, ...] = ()
    twofold: bool = False
    parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, question: str, passages: Iterable[Passage], references: Sequence[str], *, twofold: bool = False) -> Case:
        """Make a case in which every passage stands once; without references nothing is asked twice."""
        gold = tuple(references)
        return cls(question, distinct(passages), gold, twofold and bool(gold), () if gold else _parts_of(question))

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the passages as models read them, each under its title; a blank passage stays blank."""
        return tuple(prepend_title(each.title, each.text) if each.text.strip() else "" for each in self.passages)

    @property
    def items(self) -> tuple[tuple[ScoringItem, ...], ...]:
        """Return what is asked of the scorer for each passage: nothing of a blank one."""
        asked = [(self.question, self.references), *([(self.question, ())] if self.twofold else [])]
        asked += [(part, ()) for part in self.parts]
        return tuple(tuple(ScoringItem(what, text, gold) for what, gold in asked) if text else () for text in self.texts)


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One of several things that a question asks, and P(the best document answers it); None where none could be judged."""

    text: str
    best: float | None


@dataclass(frozen=True, slots=True)
class Read:
    """The evidence of each of a case's documents, the question's tokens that relevance is about, and its parts."""

    documents: tuple[DocumentEvidence, ...]
    tokens: tuple[str, ...] = ()
    parts: tuple[QuestionPart, ...] = ()


def read_documents(cases: Sequence[Case], scorer: Scorer, relevance: Relevance | None) -> list[Read]:
    """Ask about all documents of all cases: relevance in one call a question, then the scorer in one.

    A judge that does both has seen whether a document answers when it is asked that. A blank document is not sent to the
    scorer: it answers with probability 0.
    """
    relevances = [_relevance_by_text(case, relevance) for case in cases]
    wanted = tuple(dict.fromkeys(item for case in cases for items in case.items for item in items))
    scores = bisect_failures(wanted, lambda items: list(ask_probabilities(scorer, items).values()))
    return [_read_evidence(case, scores, found) for case, found in zip(cases, relevances, strict=True)]


def _relevance_by_text(case: Case, model: Relevance | None) -> Mapping[str, _TokenRelevance | Failure]:
    if model is None:
        return {}
    return bisect_failures(tuple(dict.fromkeys(case.texts)), lambda some: _relevances(model, case.question, some))


def _read_evidence(
    case: Case, scores: Mapping[ScoringItem, float | Failure], relevance_by_text: Mapping[str, _TokenRelevance | Failure]
) -> Read:
    documents = tuple(
        _document(passage.key, case, [scores[item] for item in items], relevance_by_text.get(text, _NOTHING))
        for passage, text, items in zip(case.passages, case.texts, case.items, strict=True)
    )
    tokens = next((each.tokens for each in relevance_by_text.values() if not isinstance(each, Failure)), ())
    return Read(documents, tokens, tuple(_part_evidence(case, scores)))


def _part_evidence(case: Case, scores: Mapping[ScoringItem, float | Failure]) -> Iterator[QuestionPart]:
    for part in case.parts:
        found = [scores[ScoringItem(part, text)] for text in case.texts if text]
        yield QuestionPart(part, max((each for each in found if not isinstance(each, Failure)), default=None))


def _document(passage: str, case: Case, scores: Sequence[float | Failure], told: _TokenRelevance | Failure) -> DocumentEvidence:
    numbers = [score for score in scores if not isinstance(score, Failure)]
    failure = next((said for said in (*scores, told) if isinstance(said, Failure)), None)
    if failure is not None or isinstance(told, Failure):
        return DocumentEvidence(passage, None, failure=failure)
    if not numbers:
        return DocumentEvidence(passage, 0.0, told.relevance)
    probability = min(numbers) if case.parts else math.prod(numbers)
    unaided = numbers[1] if case.twofold else None
    return DocumentEvidence(passage, probability, told.relevance, unaided_probability=unaided)


def _parts_of(question: str) -> tuple[str, ...]:
    """List what a question asks, by rules; empty where it is one thing, or more than a document could be asked about."""
    core = [each.text for each in decompose_by_rules(question, most=_MOST_PARTS + 1) if each.role == Role.CORE]
    return tuple(core) if 1 < len(core) <= _MOST_PARTS else ()


def _relevances(model: Relevance, question: str, texts: Sequence[str]) -> list[_TokenRelevance]:
    found = model.token_relevance(question, texts)
    values = np.asarray(found.values, dtype=np.float64)
    if values.shape != (len(texts), len(found.tokens)) or not (np.isfinite(values) & (values >= 0)).all():
        message = (
            f"{fingerprint_of(model)}: token_relevance returned what is no relevance of {len(texts)} texts to"
            f" {len(found.tokens)} tokens, each a number of at least 0"
        )
        raise ModelFailedError(message)
    return [_TokenRelevance(tuple(found.tokens), tuple(row)) for row in values.tolist()]
