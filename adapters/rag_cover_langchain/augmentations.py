"""Augmentation (M1 to M4 of the coverage paper, and `auto`) over a LangChain retriever, whose own documents come back.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), as `rag_cover.coverage.Augmenter` does it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.runnables import Runnable
from langchain_core.vectorstores import VectorStore

from rag_cover.adaptation import augmenter_by
from rag_cover.backends import Generator, Receiver, Scorer
from rag_cover.coverage import Augmenter, Decomposer
from rag_cover.errors import InvalidValueError
from rag_cover.results import AugmentationMode
from rag_cover_langchain.models import Writer, generator_of, models_of, retriever_of

__all__ = ["Searched", "augmenter_of", "searched_by"]

Searched = Runnable[str, Any] | VectorStore
"""What can be searched: a retriever, another Runnable from a text to documents, or a vector store."""


def searched_by(retriever: Searched) -> Runnable[str, Any]:
    """Return a retriever, of a vector store its own, which finds as many documents as it is asked for.

    Raises:
        InvalidValueError: it is neither.
    """
    if isinstance(retriever, VectorStore):
        return retriever.as_retriever()
    if isinstance(retriever, Runnable):
        return retriever
    message = f"{type(retriever).__name__!r} finds no documents: give a LangChain retriever or vector store, such as "
    message += "store.as_retriever(), or a Runnable from a text to documents"
    raise InvalidValueError(message)


def augmenter_of(  # noqa: PLR0913  # what Augmenter takes, all by name
    retriever: Runnable[str, Any],
    *,
    mode: AugmentationMode,
    judge: str | Scorer | Writer,
    receiver: str | Receiver | Writer | None,
    generator: str | Generator | Writer | None,
    decomposer: str | Path | Generator | Decomposer | Writer | None,
    k: int,
    depth: int | None,
    max_tokens: int | None,
    max_calls: int | None,
    rounds: int,
    threshold: float | None,
) -> Augmenter:
    """Open the models and set up the augmentation; its generator, where there is one, leaves the answer to others.

    Raises:
        InvalidValueError: a model that cannot serve, or a setting that `rag_cover.coverage.Augmenter` refuses.
    """
    writer = None if generator is None else generator_of(generator)
    return augmenter_by(
        retriever_of(retriever),
        models_of(judge=judge, receiver=receiver, generator=writer, decomposer=decomposer),
        mode=mode,
        k=k,
        depth=depth,
        max_tokens=max_tokens,
        max_calls=max_calls,
        rounds=rounds,
        threshold=threshold,
    )
