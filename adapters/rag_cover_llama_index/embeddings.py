"""rag_cover's embedders as LlamaIndex's embedding model: an index without a key and without a network."""

from __future__ import annotations

import asyncio
from typing import Any, Self

from llama_index.core.embeddings import BaseEmbedding
from pydantic import Field, PrivateAttr

from rag_cover import open_embedder
from rag_cover.backends import Embedder

__all__ = ["RagCoverEmbedding"]


class RagCoverEmbedding(BaseEmbedding):
    """Embeds by one of rag_cover's embedders, by default the embedded one: offline, deterministic, unit length, English.

    It is kept by its name, so that a serialised pipeline opens it anew; a copy shares it. Queries and documents are
    embedded alike.

    Raises:
        BackendNotFoundError: no installed plugin answers to ``model_name``.
        NotOfferedError: one does, and embeds nothing.
    """

    model_name: str = Field(default="embedded", description="The name of the embedder, as rag_cover.open_embedder takes it.")
    embed_batch_size: int = Field(default=256, gt=0, le=2048, description="How many texts are embedded at once.")
    _embedder: Embedder = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Open the embedder."""
        super().model_post_init(context)
        self._embedder = open_embedder(self.model_name)

    def __getstate__(self) -> dict[str, Any]:
        without = self.model_copy()
        without.__pydantic_private__ = {}  # who reads it opens an embedder of their own
        state: dict[str, Any] = super(RagCoverEmbedding, without).__getstate__()
        return state

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self.__copy__()

    @property
    def embedder(self) -> Embedder:
        """Return the embedder that it goes by."""
        return self._embedder

    @classmethod
    def class_name(cls) -> str:
        """Return the name that it is serialised under."""
        return "RagCoverEmbedding"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed(texts).tolist()
        return vectors

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)
