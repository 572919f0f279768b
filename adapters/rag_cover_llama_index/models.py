"""The models of a LlamaIndex application in the places of rag_cover's, and the names of rag_cover's own.

Wherever the adapter takes a model, it takes a name (``"embedded"``), an object that fits rag_cover's Protocols, or a LlamaIndex
object: a language model generates, judges, reads and decomposes, an embedding model embeds, a retriever retrieves. The default
models of ``Settings`` are never asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray

from rag_cover import Models, open_embedder, open_generator, open_receiver, open_scorer
from rag_cover.backends import Embedder, Entailer, Generator, Locator, Receiver, Relevance, Retriever, Scorer
from rag_cover.belief import GeneratorReceiver
from rag_cover.coverage import Decomposer
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.judges import PromptedJudge
from rag_cover.questions import Passage
from rag_cover_llama_index.embeddings import RagCoverEmbedding
from rag_cover_llama_index.generators import LlamaIndexGenerator
from rag_cover_llama_index.passages import passage_of

__all__ = [
    "LlamaIndexEmbedder",
    "NodeSearch",
    "embedder_of",
    "generator_of",
    "locator_of",
    "models_of",
    "receiver_of",
    "retriever_of",
    "scorer_of",
]

T = TypeVar("T")

_LLM = "a LlamaIndex LLM"
_PLACES: Mapping[str, tuple[type[Any], str | None]] = {
    "judge": (Scorer, _LLM),
    "locator": (Locator, _LLM),
    "relevance": (Relevance, None),
    "entailer": (Entailer, None),
    "receiver": (Receiver, _LLM),
    "generator": (Generator, _LLM),
    "embedder": (Embedder, "a LlamaIndex BaseEmbedding"),
}
"""What must stand in each place of `Models`, and what LlamaIndex offers for it."""


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
        return f"llama-index:{type(self.model).__module__}.{type(self.model).__qualname__}:{self.name}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) vectors of unit length; a blank text is embedded as a space.

        Raises:
            ModelFailedError: the model failed, or gave something that has no direction.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        try:
            given = self.model.get_text_embedding_batch([text if text.strip() else " " for text in texts])
            vectors = np.array(given, dtype=np.float64).reshape(len(texts), -1)
        except Exception as broken:  # the plugin boundary
            message = f"the embedding model {self.name!r} failed: {broken}"
            raise ModelFailedError(message, kind=type(broken).__name__) from broken
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        for place in np.flatnonzero(~((lengths > 0) & (lengths < np.inf)))[:1]:
            message = f"the embedding model {self.name!r} gave no direction (zeros or NaN) for {texts[place][:80]!r}"
            raise ModelFailedError(message, kind="malformed")
        unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
        return unit


@dataclass(slots=True)
class NodeSearch:
    """Finds passages by a LlamaIndex retriever, and keeps their nodes (`rag_cover.backends.Retriever`).

    Make one for each question: its searches, from whatever threads, belong to the trace that it was made in, so that their
    spans are found under the span that asked.

    Attributes:
        retriever: what is asked; it must find k nodes by itself (``similarity_top_k``).
        question: what the searches are for; searched for itself, it keeps what else its bundle holds, such as an embedding.
        found: every search's nodes, by its query and then by `Passage.key`.
    """

    retriever: BaseRetriever
    question: QueryBundle | None = None
    found: dict[str, dict[str, NodeWithScore]] = field(default_factory=dict)
    context: Context = field(default_factory=copy_context)

    def retrieve(self, query: str, *, k: int) -> list[Passage]:
        """Return the first k nodes as passages."""
        asked = self.question if self.question and self.question.query_str == query else query
        nodes = self.context.copy().run(self.retriever.retrieve, asked)[:k]  # a copy: no two threads may be in one
        passages = [passage_of(node) for node in nodes]
        self.found[query] = {passage.key: node for passage, node in zip(passages, nodes, strict=True)}
        return passages

    def nodes(self, queries: Iterable[str]) -> dict[str, NodeWithScore]:
        """Return what these searches found, by `Passage.key`: of a node found by several, as the first of them scored it."""
        known: dict[str, NodeWithScore] = {}
        for query in queries:
            for key, node in self.found.get(query, {}).items():
                known.setdefault(key, node)
        return known


@dataclass(frozen=True, slots=True)
class _LlamaIndexRetriever:
    """Finds passages by a LlamaIndex retriever, within the trace of whoever asks, and keeps nothing."""

    retriever: BaseRetriever

    @property
    def fingerprint(self) -> str:
        """Return what names this retriever in caches: its class, which is honest only within one process."""
        return f"llama-index:{type(self.retriever).__module__}.{type(self.retriever).__qualname__}"

    def retrieve(self, query: str, *, k: int) -> list[Passage]:
        """Return the first k nodes as passages."""
        return [passage_of(node) for node in self.retriever.retrieve(query)[:k]]


def generator_of(model: str | Generator | LLM) -> Generator:
    """Return a model as a generator.

    Raises:
        InvalidValueError: it is none.
    """
    if isinstance(model, LLM):
        return LlamaIndexGenerator(model)
    return _named_or(model, Generator, open_generator, _LLM)


def embedder_of(model: str | Embedder | BaseEmbedding) -> Embedder:
    """Return a model as an embedder: (n, d) vectors of unit length, float32; of a `RagCoverEmbedding` its own.

    Raises:
        InvalidValueError: it is none.
    """
    if isinstance(model, RagCoverEmbedding):
        return model.embedder
    if isinstance(model, BaseEmbedding):
        return LlamaIndexEmbedder(model)
    return _named_or(model, Embedder, open_embedder, "a LlamaIndex BaseEmbedding")


def retriever_of(model: Retriever | BaseRetriever) -> Retriever:
    """Return a retriever as one of passages; a LlamaIndex retriever returns as many nodes as it is set to, k at most.

    Raises:
        InvalidValueError: it is none.
    """
    if isinstance(model, BaseRetriever):
        return _LlamaIndexRetriever(model)
    if isinstance(model, Retriever) and not isinstance(model, BaseQueryEngine):  # whose retrieve() takes no number
        return model
    message = f"{type(model).__name__!r} cannot serve as retriever: give a LlamaIndex BaseRetriever, such as "
    message += "index.as_retriever(), or an object with the methods of rag_cover.backends.Retriever"
    raise InvalidValueError(message)


def scorer_of(model: str | Scorer | LLM) -> Scorer:
    """Return a model as a judge; a language model judges by `rag_cover.judges.PromptedJudge`.

    Raises:
        InvalidValueError: it is none.
    """
    if isinstance(model, LLM):
        return PromptedJudge(LlamaIndexGenerator(model))
    return _named_or(model, Scorer, open_scorer, _LLM)


def locator_of(model: str | Scorer | LLM) -> Locator | None:
    """Return what a judge finds fragments by, None where it finds none.

    A judge made by `scorer_of` is itself one, which asks nothing again about what it has scored; a language model makes
    another.
    """
    judge = PromptedJudge(LlamaIndexGenerator(model)) if isinstance(model, LLM) else model
    found: Locator | None = Models(judge=judge).open(["locator"]).get("locator")
    return found


def receiver_of(model: str | Receiver | LLM) -> Receiver:
    """Return a model as the receiver whose belief is measured; a language model is sampled by `GeneratorReceiver`.

    Raises:
        InvalidValueError: it is none.
    """
    if isinstance(model, LLM):
        return GeneratorReceiver(LlamaIndexGenerator(model))
    return _named_or(model, Receiver, open_receiver, _LLM)


def models_of(
    *,
    judge: str | Scorer | LLM = "embedded",
    locator: str | Locator | LLM | None = None,
    relevance: str | Relevance | None = None,
    entailer: str | Entailer | None = None,
    receiver: str | Receiver | LLM | None = None,
    generator: str | Generator | LLM | None = None,
    decomposer: str | Path | Generator | Decomposer | LLM | None = None,
    embedder: str | Embedder | BaseEmbedding | None = None,
) -> Models:
    """Return the models that measures ask, LlamaIndex's own objects translated; `rag_cover.Models` explains the fields.

    A language model in several places is one model: what it refuses, and as a judge what it has judged, is known in all.
    Names are looked up when the models are opened.

    Raises:
        InvalidValueError: an object that cannot serve as what it is given as.
    """
    made: dict[tuple[int, str], Any] = {}

    def once(model: LLM, kind: str, make: Callable[[LlamaIndexGenerator], Any]) -> Any:
        asked = made.setdefault((id(model), "generator"), LlamaIndexGenerator(model))
        return made.setdefault((id(model), kind), make(asked))

    models = Models(
        judge=once(judge, "judge", PromptedJudge) if isinstance(judge, LLM) else judge,
        locator=once(locator, "judge", PromptedJudge) if isinstance(locator, LLM) else locator,
        relevance=relevance,
        entailer=entailer,
        receiver=once(receiver, "receiver", GeneratorReceiver) if isinstance(receiver, LLM) else receiver,
        generator=once(generator, "generator", lambda asked: asked) if isinstance(generator, LLM) else generator,
        decomposer=once(decomposer, "generator", lambda asked: asked) if isinstance(decomposer, LLM) else decomposer,
        embedder=embedder_of(embedder) if isinstance(embedder, BaseEmbedding) else embedder,
    )
    _refuse_unfit(models)
    return models


def _named_or(model: object, protocol: type[Any], open_by_name: Callable[[str], T], framework: str) -> T:
    if isinstance(model, str):
        return open_by_name(model)
    if isinstance(model, protocol):
        return cast("T", model)
    raise _unfit(model, protocol.__name__.lower(), framework)


def _refuse_unfit(models: Models) -> None:
    for place, (protocol, framework) in _PLACES.items():
        model = getattr(models, place)
        if not isinstance(model, str | protocol) and (model is not None or place == "judge"):
            raise _unfit(model, place, framework, protocol.__name__)
    if not isinstance(models.decomposer, str | Path | Generator):  # those take other models to open
        models.open(["decomposer"])


def _unfit(model: object, place: str, framework: str | None, protocol: str | None = None) -> InvalidValueError:
    fitting = f"an object with the methods of rag_cover.backends.{protocol or place.capitalize()}"
    offered = f"give the name of one, {fitting}, or {framework}" if framework else f"give the name of one, or {fitting}"
    return InvalidValueError(f"{type(model).__name__!r} cannot serve as {place}: {offered}")
