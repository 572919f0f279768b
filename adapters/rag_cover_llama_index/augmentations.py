"""Augmentation (M1 to M4 of the coverage paper, and `auto`) over a LlamaIndex retriever, whose own nodes come back.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), as `rag_cover.coverage.Augmenter` does it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.base import BaseIndex
from llama_index.core.llms import LLM

from rag_cover.augmentation import Augmentation, AugmentationMode
from rag_cover.backends import Generator, Receiver, Scorer
from rag_cover.coverage import Augmenter, Decomposer
from rag_cover.errors import InvalidValueError
from rag_cover.integration import augmenter_by
from rag_cover_llama_index.models import models_of, retriever_of

__all__ = ["augmenter_of", "described", "searched_by"]


def searched_by(retriever: BaseRetriever | BaseIndex[Any], *, top_k: int) -> BaseRetriever:
    """Return a retriever, of an index one that finds so many nodes.

    Raises:
        InvalidValueError: it is neither.
    """
    if isinstance(retriever, BaseIndex):
        return retriever.as_retriever(similarity_top_k=top_k)
    if isinstance(retriever, BaseRetriever):
        return retriever
    message = (
        f"{type(retriever).__name__!r} finds no nodes: give a LlamaIndex retriever or index, such as index.as_retriever(…)"
    )
    raise InvalidValueError(message)


def augmenter_of(  # noqa: PLR0913  # what Augmenter takes, all by name
    retriever: BaseRetriever,
    *,
    mode: AugmentationMode,
    judge: str | Scorer | LLM | None,
    receiver: str | Receiver | LLM | None,
    generator: str | Generator | LLM | None,
    decomposer: str | Path | Generator | Decomposer | LLM | None,
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
    models = models_of(judge=judge or "embedded", receiver=receiver, generator=generator, decomposer=decomposer)
    return augmenter_by(
        retriever_of(retriever),
        models,
        mode=mode,
        k=k,
        depth=depth,
        max_tokens=max_tokens,
        max_calls=max_calls,
        rounds=rounds,
        threshold=threshold,
        judged=judge is not None,
    )


def described(augmentation: Augmentation) -> dict[str, Any]:
    """Describe an augmentation as JSON data: what was sought and whether it is covered, every search, and what failed.

    What is not defined is absent.
    """
    searches = [
        {"id": step.id, "query": step.query, "nodes": [passage.id for passage in step.passages], "error": step.error}
        for step in augmentation.steps
    ]
    return {
        "mode": augmentation.mode,
        "sub_questions": [_known(asdict(each)) for each in augmentation.sub_questions],
        "uncovered": list(augmentation.uncovered),
        "searches": [_known(search) for search in searches],
        "rounds": augmentation.rounds,
        "failures": [_known(asdict(failure)) for failure in augmentation.failures],
        "notes": list(augmentation.notes),
    }


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
