"""LangChain's own conformance suites, run on the embedding model."""

from __future__ import annotations

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langchain_tests", reason="needs the development dependency langchain-tests")

from langchain_core.embeddings import Embeddings
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from rag_cover_langchain.embeddings import RagCoverEmbeddings


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
