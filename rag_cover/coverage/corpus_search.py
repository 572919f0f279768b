"""What no retrieved passage covers is looked for in the corpus itself: is it there at all, and what would have brought it?

The corpus is searched for the sub-question and for the user's question; the passages that are nearest to the sub-question are
judged like any other. A language model is not asked, and nothing but what is missing is searched for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from rag_cover.backends import Retriever
from rag_cover.measures.texts import Text
from rag_cover.questions import Passage
from rag_cover.searching import Searches

__all__ = [
    "AGREED_LACKS_BELOW",
    "JUDGED",
    "SEARCH_DEPTH",
    "CorpusPassage",
    "CorpusSearch",
    "Remedy",
    "SearchedCorpus",
    "covers_from",
    "ways_agree",
]

SEARCH_DEPTH = 50
"""How many passages a search asks the corpus for: as deep as ranks are known."""
JUDGED = 3
"""How many passages nearest to the sub-question are judged."""
COVERS_FROM = 0.7
"""The probability, as if the judge's cut were a half, from which one of them counts as covering.

Of many passages the best verdict is high by chance; chosen with `JUDGED` on training questions
(`benchmarks.coverage.corpus_losses`), and so are the two that follow.
"""
AGREED_COVERS_FROM, OTHER_COVERS_FROM = 0.6, 0.9
"""The same for a retriever with an ``agreed_score``: where its ways of searching agree on the first passage, and where not."""
AGREED_LACKS_BELOW = 0.1
"""The probability below which the corpus clearly lacks it all the same, where they agree.

A passage that all ways of searching find first often answers in other words than the judge knows. Chosen on small corpora kept
from the weights and on training questions (`benchmarks.coverage.corpus_losses`).
"""
_WORKERS = 8
_EXCERPT = 600  # characters of a passage that a result keeps

Remedy = Literal["query", "k", "retriever"]
"""What would have brought a passage: the sub-question as a query, a larger k, or this retriever in place of the pipeline's."""


@dataclass(frozen=True, slots=True)
class CorpusPassage:
    """A passage of the corpus near a sub-question that no retrieved passage covers.

    ``probability`` that it covers the sub-question, as if the judge's cut were a half; ``rank`` in the search for the
    sub-question, ``question_rank`` in that for the user's question, both from 1; None: not among the first `SEARCH_DEPTH`.
    ``text`` is the beginning.
    """

    key: Annotated[str, Text()]
    text: Annotated[str, Text()]
    title: Annotated[str, Text()] | None
    id: Annotated[str, Text()] | None
    probability: float
    rank: int
    question_rank: int | None

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "key": self.key,
            "text": self.text,
            "title": self.title,
            "id": self.id,
            "p": self.probability,
            "rank": self.rank,
            "question_rank": self.question_rank,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(data["key"], data["text"], data["title"], data["id"], data["p"], data["rank"], data["question_rank"])


@dataclass(frozen=True, slots=True)
class CorpusSearch:
    """What the corpus has on a sub-question that no retrieved passage covers.

    ``passages`` are the nearest, the likeliest to cover it first, and ``covers_from`` is the probability from which one does;
    ``retrieved`` is how many passages the pipeline's searches brought at most, each; ``error`` says why the search failed, and
    nothing is known then. ``agreed`` tells that the retriever's ways of searching agree on the nearest passage.
    """

    passages: tuple[CorpusPassage, ...] = ()
    retrieved: int = 0
    covers_from: float = COVERS_FROM
    error: Annotated[str, Text()] | None = None
    agreed: bool = False

    @property
    def lacks_clearly(self) -> bool:
        """Return whether the corpus lacks it clearly: no passage covers it, nor do ways of searching agree on a likely one."""
        return self.covering is None and not (self.agreed and self.likeliest >= AGREED_LACKS_BELOW)

    @property
    def likeliest(self) -> float:
        """Return the highest probability of a passage; 0 without any."""
        return self.passages[0].probability if self.passages else 0.0

    @property
    def covering(self) -> CorpusPassage | None:
        """Return the passage that covers the sub-question; None where none does."""
        best = self.passages[0] if self.passages else None
        return best if best is not None and best.probability >= self.covers_from else None

    @property
    def remedy(self) -> Remedy | None:
        """Return what would have brought the passage that covers; None where none does.

        The user's question finds it among as many passages as the pipeline's searches brought: another *retriever* would have.
        It finds it further down: a larger *k*. It does not find it: the sub-question as the *query*.
        """
        if (found := self.covering) is None:
            return None
        if found.question_rank is None:
            return "query"
        return "retriever" if found.question_rank <= self.retrieved else "k"

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        data: dict[str, Any] = {
            "passages": [each.to_dict() for each in self.passages],
            "retrieved": self.retrieved,
            "covers_from": self.covers_from,
        }
        return data | ({"error": self.error} if self.error else {}) | ({"agreed": True} if self.agreed else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        passages = tuple(map(CorpusPassage.from_dict, data["passages"]))
        return cls(passages, data["retrieved"], data["covers_from"], data.get("error"), data.get("agreed", False))


class SearchedCorpus:
    """The searches of one block of traces, each made once.

    Args:
        retriever: searches the corpus.
        queries: the sub-questions that are missing, and the questions they belong to.
    """

    def __init__(self, retriever: Retriever, queries: Sequence[str]) -> None:
        self._agreed: float | None = getattr(retriever, "agreed_score", None)
        self._searches = Searches(retriever, k=SEARCH_DEPTH, most=None, workers=_WORKERS)
        self._searches.search(queries)

    def error(self, query: str) -> str | None:
        """Return why the search for a query failed; None where it did not."""
        step = self._searches.step_of(query)
        return "it was not searched for" if step is None else step.error

    def nearest(self, query: str) -> tuple[Passage, ...]:
        """Return the passages to judge."""
        step = self._searches.step_of(query)
        return () if step is None else step.passages[:JUDGED]

    def rank(self, query: str, passage: Passage) -> int | None:
        """Return where a search finds a passage, from 1; None where it does not."""
        step = self._searches.step_of(query)
        keys = [] if step is None else [each.key for each in step.passages]
        return keys.index(passage.key) + 1 if passage.key in keys else None

    def summed_up(self, query: str, question: str, probabilities: Sequence[float], *, retrieved: int) -> CorpusSearch:
        """Put together what was found for a sub-question, with the probabilities of `nearest`."""
        if (error := self.error(query)) is not None:
            return CorpusSearch(error=error)
        nearest = self.nearest(query)
        found = [
            CorpusPassage(
                passage.key, passage.text[:_EXCERPT], passage.title, passage.id, probability, rank, self.rank(question, passage)
            )
            for rank, (passage, probability) in enumerate(zip(nearest, probabilities, strict=True), 1)
        ]
        likeliest = sorted(found, key=lambda each: (-each.probability, each.rank))
        agreed = ways_agree(nearest, self._agreed)
        return CorpusSearch(tuple(likeliest), retrieved, covers_from(nearest, self._agreed), agreed=agreed)


def covers_from(nearest: Sequence[Passage], agreed_score: float | None) -> float:
    """Return the probability from which one of the nearest passages covers.

    Args:
        nearest: the passages, as a retriever found them.
        agreed_score: the score from which the retriever's ways of searching agree on the first; None: it does not tell.

    >>> covers_from([Passage("It is so.", score=1.0)], 0.95), covers_from([Passage("It is so.", score=0.5)], 0.95)
    (0.6, 0.9)
    """
    if agreed_score is None:
        return COVERS_FROM
    return AGREED_COVERS_FROM if ways_agree(nearest, agreed_score) else OTHER_COVERS_FROM


def ways_agree(nearest: Sequence[Passage], agreed_score: float | None) -> bool:
    """Return whether a retriever's ways of searching agree on the first passage; not where it does not tell."""
    return agreed_score is not None and bool(nearest) and (nearest[0].score or 0.0) >= agreed_score
