"""Searches that rag_cover makes for itself, which no recording takes for a pipeline's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from rag_cover.backends import Retriever, fingerprint_of
from rag_cover.questions import Passage

__all__ = ["UnrecordedRetriever", "is_unrecorded"]

_UNRECORDED: ContextVar[bool] = ContextVar("rag_cover_unrecorded", default=False)


def is_unrecorded() -> bool:
    """Return whether what this thread does now is rag_cover's own, and nothing to record."""
    return _UNRECORDED.get()


@contextmanager
def _unrecorded() -> Iterator[None]:
    """Have recordings leave out what this thread does meanwhile."""
    token = _UNRECORDED.set(True)
    try:
        yield
    finally:
        _UNRECORDED.reset(token)


@dataclass(frozen=True, slots=True)
class UnrecordedRetriever:
    """Searches a corpus by a framework's retriever, and leaves no trace in recordings of that framework."""

    retriever: Retriever

    @property
    def fingerprint(self) -> str:
        """Return what names the retriever in caches."""
        return fingerprint_of(self.retriever)

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        """Return at most k passages, best first."""
        with _unrecorded():
            return tuple(self.retriever.retrieve(query, k=k))
