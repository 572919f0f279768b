"""Retrieval for a question and all its core sub-questions: M3 of the coverage paper, and what M4 answers from.

Where a later sub-question builds on an earlier one (`#1`), the earlier one is answered first, from what was found for it, and
the later one is searched for with that answer in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag_cover.augmentation.chains import Chain, searchable
from rag_cover.augmentation.feedback import expand_query
from rag_cover.augmentation.reading import Reader
from rag_cover.backends import Failure
from rag_cover.questions import Passage
from rag_cover.searching import Searches
from rag_cover.traces import distinct

__all__ = ["Retrieval", "search_and_answer", "search_expanded", "search_for_all"]


@dataclass(slots=True)
class Retrieval:
    """One question's retrieval under way.

    ``query`` is what the question itself is searched for by; ``reader`` answers what later sub-questions build on, None where
    nobody does. ``feedback`` is how many of the question's first passages expand it (`search_expanded`).
    """

    query: str
    chain: Chain
    searches: Searches
    reader: Reader | None = None
    feedback: int = 0
    failures: list[Failure] = field(default_factory=list)

    @property
    def rounds(self) -> int:
        """Count how often it was searched again, with what the searches before had brought."""
        return max(0, self.searches.batches - 1)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Return all that was found so far, each passage once."""
        return distinct(passage for step in self.searches.steps for passage in step.passages)

    def passages_for(self, number: int) -> Sequence[Passage]:
        """Return what was found for a sub-question, else for the question."""
        for query in (self.chain.text(number), self.query):
            if (step := self.searches.step_of(query)) and step.passages:
                return step.passages
        return ()

    def read(self, asked: Mapping[int, Sequence[Passage]]) -> None:
        """Answer sub-questions from passages; where that fails, or there is nothing to read, their slots stay empty."""
        texts = {number: self.chain.text(number) for number in asked}
        items = {
            number: (texts[number], passages)
            for number, passages in asked.items()
            if searchable(texts[number]) and any(passage.text.strip() for passage in passages)
        }
        answers = self.reader(items) if self.reader and items else {}
        for number, answer in (dict.fromkeys(asked) | dict(answers)).items():
            if isinstance(answer, Failure):
                self.failures.append(replace(answer, message=f"no answer to {texts[number]!r}: {answer.message}"))
            self.chain.answer(number, None if isinstance(answer, Failure) else answer)


def search_for_all(retrieval: Retrieval) -> None:
    """Search for the question and every sub-question, those that wait for no answer first."""
    chain, searches = retrieval.chain, retrieval.searches
    if retrieval.reader is None:
        chain.give_up()
    searches.search([retrieval.query, *chain.texts(chain.ready)])
    while awaited := chain.awaited:
        retrieval.read({number: retrieval.passages_for(number) for number in awaited})
        searches.search(chain.texts(chain.ready))
    search_expanded(retrieval)


def search_expanded(retrieval: Retrieval) -> None:
    """Search once more for a question that was not taken apart, expanded by each of its first passages.

    Where the number of searches is spent, these are left out.
    """
    first = retrieval.searches.step_of(retrieval.query)
    if first and len(retrieval.chain.numbers) <= 1:
        queries = expand_query(retrieval.query, first.passages[: retrieval.feedback])
        retrieval.searches.search(queries[: retrieval.searches.room])


def search_and_answer(retrieval: Retrieval) -> None:
    """Search for every sub-question and answer it from what was found, those that wait for no answer first."""
    chain = retrieval.chain
    while unanswered := [number for number in chain.ready if number not in chain.answers]:
        retrieval.searches.search(chain.texts(unanswered))
        retrieval.read({number: retrieval.passages_for(number) for number in unanswered})
