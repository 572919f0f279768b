"""LangChain's language models, embeddings and retrievers as the models of rag_cover.

Wherever the adapter takes a model, it takes a name (``"embedded"``), an object that fits rag_cover's Protocols, or a LangChain
object: a language model generates, judges, reads and decomposes, a decision model judges, ``Embeddings`` embed, a retriever
retrieves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseLanguageModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.vectorstores import VectorStore
from numpy.typing import NDArray

from rag_cover import Models
from rag_cover.backends import Embedder, Generator, Retriever, Scorer
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
from rag_cover_langchain.decisions import DecisionJudge, decides
from rag_cover_langchain.embeddings import RagCoverEmbeddings
from rag_cover_langchain.generators import LangChainGenerator, writes
from rag_cover_langchain.passages import passages_of
from rag_cover_langchain.searches import first_documents

__all__ = [
    "LangChainEmbedder",
    "Writer",
    "embedder_of",
    "generator_of",
    "models_of",
    "retriever_of",
]

Writer = Runnable[Any, Any]
"""A chat model, a completion model, or a Runnable that takes messages and returns one."""


@dataclass(frozen=True, slots=True)
class LangChainEmbedder:
    """Embeds by LangChain's ``Embeddings``, every text as a document (`rag_cover.backends.Embedder`)."""

    model: Embeddings

    @property
    def name(self) -> str:
        """Return the model's name, its class where it has none."""
        named = (getattr(self.model, field, None) for field in ("model", "model_name", "model_id"))
        return next((name for name in named if isinstance(name, str) and name), type(self.model).__name__)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches: its class and its name."""
        return identity_of(self.model, self.name, framework="langchain")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) vectors of unit length; a blank text is embedded as a space.

        Raises:
            ModelFailedError: the model failed, or gave something that has no direction.
        """
        return unit_vectors(texts, self.model.embed_documents, name=self.name)


@dataclass(frozen=True, slots=True)
class _LangChainRetriever:
    """Finds passages by a LangChain retriever, within the current run, and keeps nothing."""

    retriever: Runnable[str, Any]

    @property
    def fingerprint(self) -> str:
        """Return what names this retriever in caches: its class, which is honest only within one process."""
        return f"langchain:{type(self.retriever).__module__}.{type(self.retriever).__qualname__}"

    def retrieve(self, query: str, *, k: int) -> list[Passage]:
        """Return the first k documents as passages.

        Raises:
            InvalidValueError: the retriever gave something else than documents.
        """
        return list(passages_of(first_documents(self.retriever, query, k)))


def generator_of(model: str | Generator | Writer) -> Generator:
    """Return a model, or the one that a name opens, as a generator.

    Raises:
        InvalidValueError: the model cannot generate text.
    """
    return _LANGCHAIN.generator_of(model)


def embedder_of(model: str | Embedder | Embeddings) -> Embedder:
    """Return a model, or the one that a name opens, as an embedder; of `RagCoverEmbeddings` their own.

    It returns (n, d) vectors of unit length, float32.

    Raises:
        InvalidValueError: the model cannot embed.
    """
    return _LANGCHAIN.embedder_of(model)


def retriever_of(model: Retriever | BaseRetriever | VectorStore | Runnable[str, Any]) -> Retriever:
    """Return a retriever of passages: of rag_cover's, or made of LangChain's.

    Raises:
        InvalidValueError: the object cannot retrieve.
    """
    if isinstance(model, VectorStore):
        return _LangChainRetriever(model.as_retriever())
    if isinstance(model, Runnable) and not isinstance(model, BaseLanguageModel):
        return _LangChainRetriever(model)
    if isinstance(model, Retriever) and not isinstance(model, type):
        return model
    message = f"{describe_argument(model)} cannot serve as retriever: give a LangChain BaseRetriever, such as "
    message += "store.as_retriever(), a Runnable from a text to documents, or an object with the methods of "
    message += "rag_cover.backends.Retriever"
    raise InvalidValueError(message)


@document_model_options
def models_of(**options: Unpack[ModelOptions[Writer, Embeddings]]) -> Models:
    """Return the models that measures ask, with LangChain's own objects translated.

    A language model in several places becomes one model, which remembers in all of them what parameters it refuses and, as a
    judge, what it has judged. Names are looked up when the models are opened.

    Args:
        **options: the models, as `ModelOptions` describes them.

    Raises:
        InvalidValueError: an object cannot serve in its place.
        UnknownOptionError: there is no such place; the message names the nearest one.
    """
    refuse_unknown_models(options, taken_by="models_of")
    return _LANGCHAIN.models_of(**options)


def _make_generator(model: object) -> Generator | None:
    return LangChainGenerator(model) if isinstance(model, Runnable) and writes(model) and not decides(model) else None


def _make_embedder(model: object) -> Embedder | None:
    if isinstance(model, RagCoverEmbeddings):
        return model.embedder
    return LangChainEmbedder(model) if isinstance(model, Embeddings) else None


def _make_retriever(corpus: object) -> Retriever | None:
    """Make a retriever or a vector store one that finds as many documents as it is asked for, where it can."""
    return retriever_of(corpus) if isinstance(corpus, VectorStore | BaseRetriever) else None


def _make_judge(model: object) -> Scorer | None:
    return DecisionJudge(model) if isinstance(model, Runnable) and decides(model) else None


_LANGCHAIN = FrameworkModels(
    language_model="a chat model of LangChain",
    embedding_model="LangChain's Embeddings",
    make_generator=_make_generator,
    make_embedder=_make_embedder,
    make_judge=_make_judge,
    make_retriever=_make_retriever,
)
