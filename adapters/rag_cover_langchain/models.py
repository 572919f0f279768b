"""The models of a LangChain application in the places of rag_cover's, and the names of rag_cover's own.

Wherever the adapter takes a model, it takes a name (``"embedded"``), an object that fits rag_cover's Protocols, or a LangChain
object: a language model generates, judges, reads and decomposes, a decision model judges, ``Embeddings`` embed, a retriever
retrieves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseLanguageModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.vectorstores import VectorStore
from numpy.typing import NDArray

from rag_cover import Models
from rag_cover.backends import Embedder, Entailer, Generator, Locator, Receiver, Relevance, Retriever, Scorer
from rag_cover.coverage import Decomposer
from rag_cover.errors import InvalidValueError
from rag_cover.integration import FrameworkModels, describe_argument, identity_of, unit_vectors
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
    """Finds passages by a LangChain retriever, within the run of whoever asks, and keeps nothing."""

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
    """Return a model as a generator.

    Raises:
        InvalidValueError: it is none.
    """
    return _LANGCHAIN.generator_of(model)


def embedder_of(model: str | Embedder | Embeddings) -> Embedder:
    """Return a model as an embedder: (n, d) vectors of unit length, float32; of `RagCoverEmbeddings` their own.

    Raises:
        InvalidValueError: it is none.
    """
    return _LANGCHAIN.embedder_of(model)


def retriever_of(model: Retriever | BaseRetriever | VectorStore | Runnable[str, Any]) -> Retriever:
    """Return a retriever as one of passages.

    Raises:
        InvalidValueError: it is none.
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


def models_of(
    *,
    judge: str | Scorer | Writer = "embedded",
    locator: str | Locator | Writer | None = None,
    relevance: str | Relevance | None = None,
    entailer: str | Entailer | None = None,
    receiver: str | Receiver | Writer | None = None,
    generator: str | Generator | Writer | None = None,
    decomposer: str | Path | Generator | Decomposer | Writer | None = None,
    embedder: str | Embedder | Embeddings | None = None,
) -> Models:
    """Return the models that measures ask, LangChain's own objects translated; `rag_cover.Models` explains the fields.

    A language model in several places is one model: what it refuses, and as a judge what it has judged, is known in all.
    Names are looked up when the models are opened.

    Raises:
        InvalidValueError: an object that cannot serve as what it is given as.
    """
    return _LANGCHAIN.models_of(
        judge=judge,
        locator=locator,
        relevance=relevance,
        entailer=entailer,
        receiver=receiver,
        generator=generator,
        decomposer=decomposer,
        embedder=embedder,
    )


def _written_by(model: object) -> Generator | None:
    return LangChainGenerator(model) if isinstance(model, Runnable) and writes(model) and not decides(model) else None


def _embedded_by(model: object) -> Embedder | None:
    if isinstance(model, RagCoverEmbeddings):
        return model.embedder
    return LangChainEmbedder(model) if isinstance(model, Embeddings) else None


def _judged_by(model: object) -> Scorer | None:
    return DecisionJudge(model) if isinstance(model, Runnable) and decides(model) else None


_LANGCHAIN = FrameworkModels(
    language_model="a chat model of LangChain",
    embedding_model="LangChain's Embeddings",
    written_by=_written_by,
    embedded_by=_embedded_by,
    judged_by=_judged_by,
)
