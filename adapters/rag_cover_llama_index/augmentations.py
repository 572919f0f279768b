"""Augmentation (M1 to M4 of the coverage paper, and `auto`) over a LlamaIndex retriever; its own nodes are returned.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), as `rag_cover.coverage.Augmenter` does it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import LLM

from rag_cover.augmentation import Augmentation, AugmentationMode
from rag_cover.backends import Generator, Receiver, Scorer
from rag_cover.coverage import Augmenter, Decomposer
from rag_cover.integration import augmenter_by
from rag_cover_llama_index.models import models_of, retriever_of

__all__ = ["augmenter_of", "describe_augmentation"]


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
    feedback: int,
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
        feedback=feedback,
        threshold=threshold,
        judged=judge is not None,
    )


def describe_augmentation(augmentation: Augmentation) -> dict[str, Any]:
    """Describe an augmentation as JSON data: its sub-questions, which of them are uncovered, every search, and what failed.

    What is not defined is absent.
    """
    searches = [
        {"id": step.id, "query": step.query, "nodes": [passage.id for passage in step.passages], "error": step.error}
        for step in augmentation.steps
    ]
    return {
        "mode": augmentation.mode,
        "sub_questions": [_drop_none(asdict(each)) for each in augmentation.sub_questions],
        "uncovered": list(augmentation.uncovered),
        "searches": [_drop_none(search) for search in searches],
        "rounds": augmentation.rounds,
        "failures": [_drop_none(asdict(failure)) for failure in augmentation.failures],
        "notes": list(augmentation.notes),
    }


def _drop_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
