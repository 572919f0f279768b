"""rag_cover's embedders as LangChain's embedding model: a vector store without a key and without a network."""

from __future__ import annotations

from typing import Any

from langchain_core.embeddings import Embeddings

from rag_cover import open_embedder
from rag_cover.integration import Reconstructible

__all__ = ["RagCoverEmbeddings"]


class RagCoverEmbeddings(Reconstructible, Embeddings):
    """Embeds by one of rag_cover's embedders, by default the embedded one: offline, deterministic, unit length, English.

    It is kept by its name, by which a copy and a pickle open it anew. Queries and documents are embedded alike;
    ``aembed_documents`` and ``aembed_query`` embed in a thread.

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate: ::

            embeddings = RagCoverEmbeddings()

    Invoke: ::

            vector = embeddings.embed_query("Why is the sky blue?")

    Attributes:
        model: the embedder's name, as `rag_cover.open_embedder` takes it.
        embedder: what it goes by.

    Raises:
        BackendNotFoundError: no installed plugin answers to ``model``.
        NotOfferedError: one does, and embeds nothing.
    """

    def __init__(self, model: str = "embedded") -> None:
        self.model, self.embedder = model, open_embedder(model)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    def constructor_arguments(self) -> dict[str, Any]:
        """Return the arguments that make an equal object."""
        return {"model": self.model}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector for each text."""
        vectors: list[list[float]] = self.embedder.embed(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query, which is that of the same text in a document."""
        return self.embed_documents([text])[0]
