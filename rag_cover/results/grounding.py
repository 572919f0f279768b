"""What holding an answer against its prompt gives: which of its sentences the prompt's passages entail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

__all__ = ["GroundednessResult", "SentenceSupport"]


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """One sentence of the answer (code points), the highest P(entailment) any prompt passage gives it, and which one does.

    ``passage`` is an index into the prompt's passages.
    """

    start: int
    end: int
    probability: float
    supported: bool
    passage: int | None


@dataclass(frozen=True, slots=True)
class GroundednessResult:
    """Which sentences of the answer the prompt's passages entail; ``share`` is None for an answer without sentences."""

    sentences: tuple[SentenceSupport, ...]
    share: float | None
    prompt_assumed: bool

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return asdict(self) | {"sentences": [asdict(sentence) for sentence in self.sentences]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        sentences = tuple(SentenceSupport(**sentence) for sentence in data["sentences"])
        return cls(sentences, data["share"], data["prompt_assumed"])
