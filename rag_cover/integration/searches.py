"""Searches by a framework's retriever: rag_cover reads passages, and the framework's objects are returned to the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from rag_cover.questions import Passage

__all__ = ["Search"]

T = TypeVar("T")


@dataclass(slots=True)
class Search(Generic[T]):
    """Finds passages by a framework's search, and keeps the framework's objects (`rag_cover.backends.Retriever`).

    Make one for each question: its searches, on any thread, run in the context in which it was made, so that traces show them
    under the run that asked.

    Attributes:
        find: the framework's search: takes a query and a number k; of more than k results the first k are kept.
        passage_of: converts a result to a passage.
        found: the results of every search, by its query and then by `Passage.key`.
    """

    find: Callable[[str, int], Sequence[T]]
    passage_of: Callable[[T], Passage]
    found: dict[str, dict[str, T]] = field(default_factory=dict)
    context: Context = field(default_factory=copy_context)

    def retrieve(self, query: str, *, k: int) -> list[Passage]:
        """Return the first k finds as passages."""
        finds = self.context.copy().run(self.find, query, k)[:k]  # a copy: no two threads may be in one
        passages = [self.passage_of(each) for each in finds]
        self.found[query] = {passage.key: each for passage, each in zip(passages, finds, strict=True)}
        return passages

    def first_found(self, queries: Iterable[str]) -> dict[str, T]:
        """Return what these searches found, by `Passage.key`: of one that several found, as the first of them did."""
        known: dict[str, T] = {}
        for query in queries:
            for key, each in self.found.get(query, {}).items():
                known.setdefault(key, each)
        return known
