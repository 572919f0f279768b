"""LlamaIndex's language models, embedding models and retrievers as the models of rag_cover.

Wherever the adapter takes a model, it takes a name (``"embedded"``), an object that fits rag_cover's Protocols, or a LlamaIndex
object: a language model generates, judges, reads and decomposes, an embedding model embeds, a retriever retrieves. The default
models of ``Settings`` are never asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.indices.base import BaseIndex
from llama_index.core.llms import LLM
from llama_index.core.retrievers import BaseRetriever
from numpy.typing import NDArray

from rag_cover import Models
from rag_cover.backends import Embedder, Generator, Retriever
from rag_cover.coverage import SEARCH_DEPTH
from rag_cover.errors import InvalidValueError
from rag_cover.integration import (
    FrameworkModels,
    ModelOptions,
    describe_argument,
    document_model_options,
    identity_of,
    refuse_unknown_models,
    unit_vectors,
)
from rag_cover.questions import Passage
from rag_cover_llama_index.embeddings import RagCoverEmbedding
from rag_cover_llama_index.generators import LlamaIndexGenerator
from rag_cover_llama_index.passages import passage_of

__all__ = [
    "LlamaIndexEmbedder",
    "embedder_of",
    "generator_of",
    "models_of",
    "retriever_of",
]


@dataclass(frozen=True, slots=True)
class LlamaIndexEmbedder:
    """Embeds by a LlamaIndex embedding model, every text as a document (`rag_cover.backends.Embedder`)."""

    model: BaseEmbedding

    @property
    def name(self) -> str:
        """Return the model's name, its class where it has none."""
        name = self.model.model_name
        return name if name and name != "unknown" else type(self.model).__name__

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches: its class and its name."""
        return identity_of(self.model, self.name, framework="llama-index")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) vectors of unit length; a blank text is embedded as a space.

        Raises:
            ModelFailedError: the model failed, or gave something that has no direction.
        """
        return unit_vectors(texts, self.model.get_text_embedding_batch, name=self.name)


@dataclass(frozen=True, slots=True)
class _LlamaIndexRetriever:
    """Finds passages by a LlamaIndex retriever, within the current trace, and keeps nothing."""

    retriever: BaseRetriever

    @property
    def fingerprint(self) -> str:
        """Return what names this retriever in caches: its class, which is honest only within one process."""
        return f"llama-index:{type(self.retriever).__module__}.{type(self.retriever).__qualname__}"

    def retrieve(self, query: str, *, k: int) -> list[Passage]:
        """Return the first k nodes as passages."""
        return [passage_of(node) for node in self.retriever.retrieve(query)[:k]]


def generator_of(model: str | Generator | LLM) -> Generator:
    """Return a model, or the one that a name opens, as a generator.

    Raises:
        InvalidValueError: the model cannot generate text.
    """
    return _LLAMA_INDEX.generator_of(model)


def embedder_of(model: str | Embedder | BaseEmbedding) -> Embedder:
    """Return a model, or the one that a name opens, as an embedder; of a `RagCoverEmbedding` its own.

    It returns (n, d) vectors of unit length, float32.

    Raises:
        InvalidValueError: the model cannot embed.
    """
    return _LLAMA_INDEX.embedder_of(model)


def retriever_of(model: Retriever | BaseRetriever) -> Retriever:
    """Return a retriever of passages; a LlamaIndex retriever returns as many nodes as it is set to, k at most.

    Raises:
        InvalidValueError: the object cannot retrieve.
    """
    if isinstance(model, BaseRetriever):
        return _LlamaIndexRetriever(model)
    if isinstance(model, Retriever) and not isinstance(model, BaseQueryEngine | type):  # whose retrieve() takes no number
        return model
    message = f"{describe_argument(model)} cannot serve as retriever: give a LlamaIndex BaseRetriever, such as "
    message += "index.as_retriever(), or an object with the methods of rag_cover.backends.Retriever"
    raise InvalidValueError(message)


@document_model_options
def models_of(**options: Unpack[ModelOptions[LLM, BaseEmbedding]]) -> Models:
    """Return the models that measures ask, with LlamaIndex's own objects translated.

    A language model in several places becomes one model, which remembers in all of them what parameters it refuses and, as a
    judge, what it has judged. Names are looked up when the models are opened.

    Args:
        **options: the models, as `ModelOptions` describes them.

    Raises:
        InvalidValueError: an object cannot serve in its place.
        UnknownOptionError: there is no such place; the message names the nearest one.
    """
    refuse_unknown_models(options, taken_by="models_of")
    return _LLAMA_INDEX.models_of(**options)


def _make_generator(model: object) -> Generator | None:
    return LlamaIndexGenerator(model) if isinstance(model, LLM) else None


def _make_retriever(corpus: object) -> Retriever | None:
    """Make a retriever or an index one that finds many nodes; a retriever returns as many as it is set to."""
    if isinstance(corpus, BaseIndex):
        return _LlamaIndexRetriever(corpus.as_retriever(similarity_top_k=SEARCH_DEPTH))
    return _LlamaIndexRetriever(corpus) if isinstance(corpus, BaseRetriever) else None


def _make_embedder(model: object) -> Embedder | None:
    if isinstance(model, RagCoverEmbedding):
        return model.embedder
    return LlamaIndexEmbedder(model) if isinstance(model, BaseEmbedding) else None


_LLAMA_INDEX = FrameworkModels(
    language_model="a LlamaIndex LLM",
    embedding_model="a LlamaIndex BaseEmbedding",
    make_generator=_make_generator,
    make_embedder=_make_embedder,
    make_retriever=_make_retriever,
)
