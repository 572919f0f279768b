"""Skills of two agents, fitted to questions that a LangChain embedding model encodes."""

from __future__ import annotations

from rag_cover import routing
from rag_cover.routing import Caimira
from rag_cover_langchain.models import LangChainEmbedder
from tests.langchain.parts import WordEmbeddings
from tests.skilled import skills_by, topic_vector

__all__ = ["TopicEmbeddings", "skilled", "skills"]


class TopicEmbeddings(WordEmbeddings):
    """Tells the sky from all else."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [topic_vector(text) for text in texts]


def skills() -> Caimira:
    """Know that the agent ``plain`` is good at the sky, and ``split`` at all else."""
    return skills_by(LangChainEmbedder(TopicEmbeddings()))


def skilled() -> routing.SkillRouter:
    """Return a router by these skills."""
    return routing.SkillRouter(skills(), None, embedder=LangChainEmbedder(TopicEmbeddings()))
