"""What the LlamaIndex adapter's tests share; they are skipped where LlamaIndex is not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from llama_index.core import VectorStoreIndex

    from tests.llama_index.parts import ScriptedLLM


@pytest.fixture
def index() -> VectorStoreIndex:
    """An index of the small corpus by shared words."""
    from llama_index.core import VectorStoreIndex

    from tests.llama_index.parts import WordEmbedding, corpus_nodes

    return VectorStoreIndex(corpus_nodes(), embed_model=WordEmbedding())


@pytest.fixture
def llm() -> ScriptedLLM:
    """A language model that answers about the sky."""
    from tests.llama_index.parts import ScriptedLLM

    return ScriptedLLM(script={"sky": "The sky is blue because air scatters blue light."})
