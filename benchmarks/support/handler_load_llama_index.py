"""A LlamaIndex query engine of the framework's mock model, recorded into files."""

from __future__ import annotations

from contextlib import AbstractContextManager

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from benchmarks.support.handler_load import PASSAGES, Kept
from rag_cover.recording import Recording
from rag_cover_llama_index import attach

__all__ = ["Engine"]


class Fixed(BaseRetriever):
    """Finds the same passages for every question."""

    def _retrieve(self, _query: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=text, id_=str(number)), score=1.0) for number, text in enumerate(PASSAGES)]


class Engine:
    """Retrieves, fills a prompt, and answers with its first words."""

    def __init__(self) -> None:
        self._engine = RetrieverQueryEngine.from_args(Fixed(), llm=MockLLM(max_tokens=8))

    def ask(self, question: str) -> object:
        """Answer a question."""
        return self._engine.query(question)

    def recorded(self, kept: Kept) -> AbstractContextManager[Recording]:
        """Record what is asked within."""
        return attach(**kept.settings)
