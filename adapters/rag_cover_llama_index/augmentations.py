"""Augmentation (M1 to M4 of the coverage paper, and `auto`) over a LlamaIndex retriever, whose own nodes come back.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), as `rag_cover.coverage.Augmenter` does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.base import BaseIndex
from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore, QueryBundle

from rag_cover.backends import Generator, Receiver, Scorer
from rag_cover.coverage import Augmenter, Decomposer, by_rules
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage
from rag_cover.results import Augmentation, AugmentationMode
from rag_cover_llama_index.models import NodeSearch, generator_of, models_of, retriever_of

__all__ = ["Augmented", "augmented", "augmenter_of", "described", "searched_by"]


@dataclass(frozen=True, slots=True)
class Augmented:
    """What came of one question: its augmentation, and every node that was found, by `Passage.key`."""

    augmentation: Augmentation
    found: dict[str, NodeWithScore]

    @property
    def nodes(self) -> list[NodeWithScore]:
        """Return the nodes that were kept, best first."""
        return self.of(self.augmentation.passages)

    @property
    def sources(self) -> list[NodeWithScore]:
        """Return the nodes that an answer is written from: end-to-end all that were found, else those that were kept."""
        return self.of(self.augmentation.trace().prompt or ())

    def of(self, passages: Sequence[Passage]) -> list[NodeWithScore]:
        """Return the nodes of passages."""
        return [self.found[passage.key] for passage in passages]


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
    writer = None if generator is None else generator_of(generator)
    split = by_rules(answers=receiver is not None or writer is not None) if decomposer == "rules" else decomposer
    models = models_of(judge=judge or "embedded", receiver=receiver, generator=writer, decomposer=split)
    opened = models.open(["scorer", "receiver", "decomposer"])
    return Augmenter(
        retriever=retriever_of(retriever),
        generator=writer,
        writes=False,
        mode=mode,
        scorer=opened["scorer"] if judge is not None else None,
        decomposer=opened.get("decomposer"),
        receiver=opened.get("receiver"),
        k=k,
        depth=depth,
        max_tokens=max_tokens,
        max_calls=max_calls,
        rounds=rounds,
        threshold=threshold,
    )


def augmented(augmenter: Augmenter, retriever: BaseRetriever, query: QueryBundle) -> Augmented:
    """Augment one question, within the trace of whoever asks.

    Raises:
        ModelFailedError: every search failed, or the judge did.
    """
    search = NodeSearch(retriever, query)
    made = replace(augmenter, retriever=search).augment(query.query_str)
    return Augmented(made, search.nodes(step.query for step in made.steps))


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
