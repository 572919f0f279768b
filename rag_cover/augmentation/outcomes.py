"""What came of an augmentation: the passages that are kept, what they cover, and what every search bought."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from rag_cover.augmentation.chains import searchable
from rag_cover.augmentation.evidence import PassageEvidence
from rag_cover.augmentation.pooling import PassagePool, pool_passages
from rag_cover.augmentation.result import Purchase, Sought
from rag_cover.augmentation.retrieving import Retrieval
from rag_cover.augmentation.selection import select_passages
from rag_cover.backends import Failure
from rag_cover.errors import ModelFailedError
from rag_cover.questions import Passage, SubQuestion, prepend_title
from rag_cover.traces import RetrievalStep

__all__ = ["Keeping", "Outcome", "failures_of", "notes_on_retrieval", "purchases", "sub_question_results"]


@dataclass(frozen=True, slots=True)
class Keeping:
    """How many passages to keep: so many, of so many tokens in all, a share of them for the question itself."""

    k: int
    fair_share: float
    max_tokens: int | None
    count_tokens: Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A retrieval that is over: all that it found, and the passages that are kept of it. Without evidence nothing is judged."""

    retrieval: Retrieval
    evidence: PassageEvidence | None
    pool: PassagePool
    passages: tuple[Passage, ...]

    @classmethod
    def of(cls, retrieval: Retrieval, evidence: PassageEvidence | None, keeping: Keeping, *, sure: float | None = None) -> Self:
        """Keep passages that together cover most; in the order of the one search, where there was only one.

        All pairs that are not judged yet are judged, in one call. ``sure`` is explained by `PassageEvidence.covering`.

        Raises:
            ModelFailedError: the scorer failed.
        """
        found = retrieval.searches.found
        pool = pool_passages(found)
        texts = retrieval.chain.texts(retrieval.chain.numbers)
        covers = np.zeros((0, len(pool.passages)), dtype=bool)
        if evidence is not None:
            evidence.judge(texts, pool.passages)
            if len(found) > 1:
                covers = evidence.covering(texts, pool.passages, sure=sure)
        first = retrieval.searches.step_of(retrieval.query)
        places = select_passages(
            covers,
            pool.scores,
            k=keeping.k,
            own=pool.of(first) if first else frozenset(),
            fair_share=keeping.fair_share,
            costs=[keeping.count_tokens(prepend_title(passage.title, passage.text)) for passage in pool.passages],
            most=keeping.max_tokens,
        )
        return cls(retrieval, evidence, pool, tuple(pool.passages[place] for place in places))

    def covers(self, text: str, passages: Sequence[Passage]) -> bool | None:
        """Check whether passages of the pool cover a sub-question, None where nobody judges, or nothing is asked."""
        return self.evidence.covers(text, passages) if self.evidence and searchable(text) else None

    def passages_of(self, step: RetrievalStep) -> list[Passage]:
        """Return the passages of a search, in the place of a repetition the one that it repeats."""
        return [self.pool.passages[place] for place in sorted(self.pool.of(step))]


def sub_question_results(outcome: Outcome, core: Sequence[SubQuestion]) -> tuple[Sought, ...]:
    """Describe how each core sub-question was searched for, and whether the passages cover it."""
    return tuple(_sub_question_result(outcome, number, each) for number, each in enumerate(core, 1))


def _sub_question_result(outcome: Outcome, number: int, given: SubQuestion) -> Sought:
    chain, searches = outcome.retrieval.chain, outcome.retrieval.searches
    text = chain.text(number)
    first, own = searches.step_of(outcome.retrieval.query), searches.step_of(text)
    return Sought(
        text=text,
        given=given.text,
        role_source=given.role_source,
        step=own.id if own and own is not first else None,
        covered_at_first=outcome.covers(text, outcome.passages_of(first)) if first and first.error is None else None,
        covered=outcome.covers(text, outcome.passages),
        probability=outcome.evidence.best(text, outcome.passages) if outcome.evidence else None,
        answer=chain.answers.get(number),
    )


def purchases(outcome: Outcome, utilities: Mapping[str, float]) -> tuple[Purchase, ...]:
    """List what each search after the question's own was the first to cover."""
    chain, searches = outcome.retrieval.chain, outcome.retrieval.searches
    left, bought = chain.texts(chain.numbers), list[Purchase]()
    for step in searches.found:
        passages = outcome.passages_of(step)
        covered = tuple(text for text in left if outcome.covers(text, passages))
        left = [text for text in left if text not in covered]
        if step is not searches.step_of(outcome.retrieval.query):
            bought.append(Purchase(step.id, step.query, covered, utilities.get(step.id)))
    return tuple(bought)


def failures_of(retrieval: Retrieval) -> tuple[Failure, ...]:
    """Name what failed: searches first.

    Raises:
        ModelFailedError: no search succeeded.
    """
    steps = retrieval.searches.steps
    failed = [step for step in steps if step.error is not None]
    if failed and len(failed) == len(steps):
        message = f"the retriever failed on every search, {len(failed)} of {len(steps)}; the first one said: {failed[0].error}"
        raise ModelFailedError(message, kind="retrieval")
    return (*map(_failure, failed), *retrieval.failures)


def _failure(step: RetrievalStep) -> Failure:
    return Failure("retrieval", f"the search for {step.query!r} failed: {step.error}")


def notes_on_retrieval(retrieval: Retrieval, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Note what was left out, and why."""
    searches, chain = retrieval.searches, retrieval.chain
    notes = []
    if bare := [number for number in chain.numbers if not searchable(chain.text(number))]:
        numbers = ", ".join(map(str, bare))
        notes.append(f"nothing is left to ask of core sub-question {numbers} without the answers that it builds on")
    if count := len(searches.unasked):
        them = "1 sub-question was" if count == 1 else f"{count} sub-questions were"
        notes.append(f"{them} not searched for: no more than {len(searches.steps)} searches were allowed")
    if not any(step.passages for step in searches.found):
        notes.append("nothing was retrieved")
    elif not passages:
        notes.append("no passage fits the number of tokens that is allowed")
    return tuple(notes)
