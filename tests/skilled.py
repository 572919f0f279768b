"""Skills of two agents, one good at the sky and one at all else, for the routers of all frameworks."""

from __future__ import annotations

import numpy as np

from rag_cover.backends import Embedder, fingerprint_of
from rag_cover.routing import Caimira, encode

__all__ = ["skills_by", "topic_vector"]


def topic_vector(text: str) -> list[float]:
    """Embed a text so that the sky is told from all else."""
    return [1.0, 0.0] if "sky" in text else [0.0, 1.0]


def skills_by(embedder: Embedder, *, agents: tuple[str, ...] = ("plain", "split")) -> Caimira:
    """Know, by an embedder that gives `topic_vector`, that the first agent is good at the sky, and the second at all else."""
    topics = np.zeros((2, encode(["Why?"], embedder).shape[1]))
    topics[:, :2] = 20 * np.eye(2)
    skill = np.array([[2.0, -2.0], [-2.0, 2.0]])
    nothing = np.zeros_like(topics)
    return Caimira.from_parameters(
        skill, topics, np.zeros(2), nothing, np.zeros(2), agents=agents, encoder=fingerprint_of(embedder)
    )
