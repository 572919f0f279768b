"""LangChain's own conformance suites, run on our retrievers and our embedding model."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langchain_tests", reason="needs the development dependency langchain-tests")

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import EmbeddingsIntegrationTests, RetrieversIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from rag_cover_langchain.embeddings import RagCoverEmbeddings
from rag_cover_langchain.retrievers import RagCoverRetriever, SubQuestionRetriever
from rag_cover_langchain.set_queries import SetQueryRetriever
from tests.birds import BIRDS, bird_judge
from tests.langchain.parts import WordEmbeddings, corpus_documents, corpus_store

pytest.mark.asyncio(RetrieversIntegrationTests.test_ainvoke_returns_documents)  # the suite expects asyncio_mode=auto


class TestSubQuestionRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return SubQuestionRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"retriever": corpus_store()}

    @property
    def retriever_query_example(self) -> str:
        return "Why is the sky blue and how much does a heat pump cost?"


class TestSetQueryRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return SetQueryRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        store = InMemoryVectorStore(WordEmbeddings())
        store.add_documents([Document(text, id=name, metadata={"title": name}) for name, text in BIRDS.items()])
        return {"retriever": store, "judge": bird_judge()}

    @property
    def retriever_query_example(self) -> str:
        return "birds of Chile but not birds of Peru"


class TestRagCoverRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return RagCoverRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        made = RagCoverRetriever.from_documents(corpus_documents())
        return {"documents": made.documents, "retriever": made.retriever}

    @property
    def retriever_query_example(self) -> str:
        return "What does a heat pump cost?"


class TestEmbeddingsAsAUnit(EmbeddingsUnitTests):
    """What LangChain asks of any embedding model's constructor."""

    @property
    def embeddings_class(self) -> type[Embeddings]:
        return RagCoverEmbeddings


class TestEmbeddingsInUse(EmbeddingsIntegrationTests):
    """What LangChain asks of any embedding model's vectors, awaited or not."""

    @property
    def embeddings_class(self) -> type[Embeddings]:
        return RagCoverEmbeddings
