"""What a LlamaIndex retriever finds for one question: passages for rag_cover, and the nodes themselves to give back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from rag_cover.integration import Search
from rag_cover_llama_index.passages import passage_of

__all__ = ["NodeSearch"]


class NodeSearch(Search[NodeWithScore]):
    """Finds passages by a LlamaIndex retriever, and keeps their nodes, as `rag_cover.integration.Search` does.

    Args:
        retriever: what is asked; it must find k nodes by itself (``similarity_top_k``).
        question: what the searches are for; searched for itself, it keeps what else its bundle holds, such as an embedding.
    """

    def __init__(self, retriever: BaseRetriever, question: QueryBundle | None = None) -> None:
        def find(query: str, _k: int) -> Sequence[NodeWithScore]:
            return retriever.retrieve(question if question and question.query_str == query else query)

        super().__init__(find, passage_of)

    def nodes(self, queries: Iterable[str]) -> dict[str, NodeWithScore]:
        """Return what these searches found, by `Passage.key`: of a node found by several, as the first of them scored it."""
        return self.first_found(queries)
