"""What several searches for one question brought back, put together.

Searches score on scales of their own, so a passage's retrieval score is the best place it has in any of them: 1 / place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_cover.augmentation.duplicates import originals
from rag_cover.questions import Passage, prepend_title
from rag_cover.traces import RetrievalStep

__all__ = ["PassagePool", "pool_passages"]


@dataclass(frozen=True, slots=True)
class PassagePool:
    """Distinct passages with their retrieval scores in (0, 1].

    ``places`` tells by `Passage.key` which of them every passage is that was found: itself, or the first one that says the same
    in nearly the same words.
    """

    passages: tuple[Passage, ...]
    scores: tuple[float, ...]
    places: Mapping[str, int]

    def of(self, step: RetrievalStep) -> frozenset[int]:
        """Return the places of the passages that a search brought back."""
        return frozenset(self.places[passage.key] for passage in step.passages)


def pool_passages(steps: Sequence[RetrievalStep]) -> PassagePool:
    """Pool the passages of searches; those of a single one stay as they are, repetitions in other words among them."""
    best: dict[str, float] = {}
    first: dict[str, Passage] = {}
    for step in steps:
        for place, passage in enumerate(step.passages, 1):
            best[passage.key] = max(best.get(passage.key, 0.0), 1 / place)
            first.setdefault(passage.key, passage)
    keys = list(first)
    texts = [prepend_title(passage.title, passage.text) for passage in first.values()]
    standing = originals(texts) if len(steps) > 1 else range(len(keys))
    number = {original: place for place, original in enumerate(dict.fromkeys(standing))}
    places = {key: number[original] for key, original in zip(keys, standing, strict=True)}
    scores = [0.0] * len(number)
    for key, place in places.items():
        scores[place] = max(scores[place], best[key])
    return PassagePool(tuple(first[keys[original]] for original in number), tuple(scores), places)
