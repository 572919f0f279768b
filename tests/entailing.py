"""An entailer that says of each statement what a script says, whatever the text, and an embedder that tells none apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["FixedEntailer", "LevelEmbedder"]


@dataclass(frozen=True)
class FixedEntailer:
    """Gives P(entailment), P(neutral), P(contradiction) of each statement; of one it does not know, neutral."""

    told: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.array([self.told.get(statement, (0.0, 1.0, 0.0)) for _, statement in pairs], dtype=np.float32)


@dataclass(frozen=True)
class LevelEmbedder:
    """Gives every text the direction of a script, by default one and the same."""

    angles: Mapping[str, float] = field(default_factory=dict)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        turned = [self.angles.get(text, 0.0) for text in texts]
        return np.array([[np.cos(angle), np.sin(angle)] for angle in turned], dtype=np.float32)
