"""Retrievers for tests: what a query finds is scripted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag_cover.questions import Passage
from rag_cover.testing.counters import Counter

__all__ = ["ScriptedRetriever"]


@dataclass(frozen=True)
class ScriptedRetriever:
    """Finds the first k passages that its script holds for a query, else of ``default``; an exception is raised.

    ``queries`` lists what it was asked, in the order of asking.

    >>> retriever = ScriptedRetriever({"Who?": ["It was Ada.", "It was not."], "When?": TimeoutError("60 s")})
    >>> [passage.text for passage in retriever.retrieve("Who?", k=1)], retriever.retrieve("Where?", k=1)
    (['It was Ada.'], [])
    >>> retriever.queries
    ['Who?', 'Where?']
    """

    script: Mapping[str, Sequence[Passage | str] | Exception] = field(default_factory=dict)
    default: Sequence[Passage | str] | Exception = ()
    asked: Counter = field(default_factory=Counter, compare=False, repr=False)
    queries: list[str] = field(default_factory=list, compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches."""
        return f"testing:scripted-retriever:{sorted(self.script.items(), key=str)}:{self.default}"

    def retrieve(self, query: str, *, k: int) -> list[Passage]:
        """Return at most k passages of the script, best first."""
        self.asked.count(1)
        self.queries.append(query)
        found = self.script.get(query, self.default)
        if isinstance(found, Exception):
            raise found
        return [each if isinstance(each, Passage) else Passage(each) for each in found[:k]]
