"""Searches by a LlamaIndex retriever: rag_cover reads passages, and the nodes that were found are returned to the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.base import BaseIndex
from llama_index.core.schema import NodeWithScore, QueryBundle

from rag_cover.errors import InvalidValueError
from rag_cover.integration import Search
from rag_cover_llama_index.passages import passage_of

__all__ = ["NodeSearch", "to_retriever"]


class NodeSearch(Search[NodeWithScore]):
    """Finds passages by a LlamaIndex retriever, and keeps their nodes, as `rag_cover.integration.Search` does.

    Args:
        retriever: the retriever; it must find k nodes by itself (``similarity_top_k``).
        question: what the searches are for; searched for itself, it keeps what else its bundle holds, such as an embedding.
    """

    def __init__(self, retriever: BaseRetriever, question: QueryBundle | None = None) -> None:
        def find(query: str, _k: int) -> Sequence[NodeWithScore]:
            return retriever.retrieve(question if question and question.query_str == query else query)

        super().__init__(find, passage_of)

    def nodes(self, queries: Iterable[str]) -> dict[str, NodeWithScore]:
        """Return what these searches found, by `Passage.key`: of a node found by several, as the first of them scored it."""
        return self.first_found(queries)


def to_retriever(retriever: BaseRetriever | BaseIndex[Any], *, top_k: int) -> BaseRetriever:
    """Return a retriever as it is, and an index as a retriever that finds ``top_k`` nodes.

    Raises:
        InvalidValueError: the object is neither a retriever nor an index.
    """
    if isinstance(retriever, BaseIndex):
        return retriever.as_retriever(similarity_top_k=top_k)
    if isinstance(retriever, BaseRetriever):
        return retriever
    message = (
        f"{type(retriever).__name__!r} finds no nodes: give a LlamaIndex retriever or index, such as index.as_retriever(…)"
    )
    raise InvalidValueError(message)
