"""Skills of two agents, one good at the sky and one at all else, for routers by skill."""

from __future__ import annotations

import numpy as np

from rag_cover import routing
from rag_cover.backends import fingerprint_of
from rag_cover.routing import Caimira, encode
from rag_cover_langchain.models import LangChainEmbedder
from tests.langchain.parts import WordEmbeddings

__all__ = ["TopicEmbeddings", "skilled", "skills"]


class TopicEmbeddings(WordEmbeddings):
    """Tells the sky from all else."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "sky" in text else [0.0, 1.0] for text in texts]


def skills(*, agents: tuple[str, ...] = ("plain", "split")) -> Caimira:
    """Know that the first agent is good at the sky, and the second at all else."""
    embedder = LangChainEmbedder(TopicEmbeddings())
    topics = np.zeros((2, encode(["Why?"], embedder).shape[1]))
    topics[:, :2] = 20 * np.eye(2)
    skill = np.array([[2.0, -2.0], [-2.0, 2.0]])
    nothing = np.zeros_like(topics)
    return Caimira.from_parameters(
        skill, topics, np.zeros(2), nothing, np.zeros(2), agents=agents, encoder=fingerprint_of(embedder)
    )


def skilled() -> routing.SkillRouter:
    return routing.SkillRouter(skills(), None, embedder=LangChainEmbedder(TopicEmbeddings()))
