"""What holding an answer against its prompt gives: which of its sentences the prompt's passages entail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

__all__ = ["Finding", "GroundednessResult", "SentenceSupport"]

Finding = Literal["supported", "contradicted", "not found"]
"""What a prompt says of a sentence: it entails it, it contradicts it, or it does neither."""

CONTRADICTED = 0.5


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """One sentence of the answer (code points), its highest P(entailment), and the passage of the prompt that gives it.

    Passages are asked, the nearest in words first, until one supports the sentence; of a sentence that is not supported all
    of them were. ``passage`` is an index into the prompt's passages. ``contradiction`` is the highest P(contradiction) that any
    of them gives it, None where it was not asked for.
    """

    start: int
    end: int
    probability: float
    supported: bool
    passage: int | None
    contradiction: float | None = None

    @property
    def finding(self) -> Finding:
        """Return what the passages say about the sentence."""
        if self.supported:
            return "supported"
        return "contradicted" if self.contradiction is not None and self.contradiction >= CONTRADICTED else "not found"


@dataclass(frozen=True, slots=True)
class GroundednessResult:
    """Which sentences of the answer the prompt's passages entail; ``share`` is None for an answer without sentences."""

    sentences: tuple[SentenceSupport, ...]
    share: float | None
    prompt_assumed: bool

    @property
    def values(self) -> Mapping[str, float | None]:
        """Return the share of the answer's sentences that are supported, in [0, 1]."""
        return {"groundedness": self.share}

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return asdict(self) | {"sentences": [asdict(sentence) for sentence in self.sentences]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        sentences = tuple(SentenceSupport(**sentence) for sentence in data["sentences"])
        return cls(sentences, data["share"], data["prompt_assumed"])
