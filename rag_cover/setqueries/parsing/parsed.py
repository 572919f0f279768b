"""What a question was read as, and how sure the reader is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from rag_cover.setqueries.algebra import SetQuery

__all__ = ["ParsedQuery"]


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    r"""A question read as a set query.

    Attributes:
        question: as it was asked.
        query: the likeliest reading.
        confidence: the probability, 0 to 1, that it is right; how it was calibrated depends on who read.
        source: who read: ``grammar``, or ``model:…`` for a Generator.
        alternatives: the next best readings with their probabilities.
        notes: sentences for who asked: what was contradictory, resolved or ignored.
        words: the user's own wording of an atom, its head filled in, where the atom's text departs from it.
    """

    question: str
    query: SetQuery
    confidence: float
    source: str
    alternatives: tuple[tuple[SetQuery, float], ...] = ()
    notes: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def atoms(self) -> tuple[str, ...]:
        """Return the distinct atoms in their order."""
        return self.query.atoms

    @property
    def template(self) -> str:
        """Name the shape as QUEST does."""
        return self.query.template

    @property
    def is_set_query(self) -> bool:
        """Check whether there is any set operation: one atom alone is an ordinary question."""
        return self.query.operator != "atom"

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "question": self.question,
            "query": self.query.to_dict(),
            "confidence": self.confidence,
            "source": self.source,
            "alternatives": [[query.to_dict(), probability] for query, probability in self.alternatives],
            "notes": list(self.notes),
            "words": dict(self.words),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        parts = {
            "query": SetQuery.from_dict(data["query"]),
            "alternatives": tuple((SetQuery.from_dict(query), probability) for query, probability in data["alternatives"]),
            "notes": tuple(data["notes"]),
        }
        return cls(**{**data, **parts})
