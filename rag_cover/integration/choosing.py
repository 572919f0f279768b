"""Reranking and filtering of what a framework retrieved, by coverage or utility; a pipeline goes on where a model fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from rag_cover.belief import Attribution
from rag_cover.coverage import EstimatedUtility, Reranking, estimate_utilities, rerank
from rag_cover.integration.lazy_models import LazyModels
from rag_cover.integration.refusals import refuse_blank
from rag_cover.questions import Passage
from rag_cover.registry import Models

__all__ = ["OnRerankError", "rerank_or_keep", "rerank_passages", "select_useful"]

OnRerankError = Literal["keep", "raise"]
"""What is done where a model fails: keep to what the retriever said, and log it, or raise."""

T = TypeVar("T")

_LOG = logging.getLogger(__name__)


def rerank_or_keep(
    choose: Callable[[Sequence[T], str, Models], list[T]],
    given: Sequence[T],
    question: str,
    models: LazyModels,
    *,
    called: tuple[str, str],
    on_error: OnRerankError,
    most: int | None = None,
) -> list[T]:
    """Choose among things by models that are open; where these fail, return the first ``most`` as they came.

    Args:
        choose: chooses among things, for a question, by models.
        given: the things; of none, none is chosen, and no model opened.
        question: what they were retrieved for.
        models: opened when there are things.
        called: the name of who chooses and of the things, for the log.
        on_error: ``keep``, which logs the failure as a warning, or ``raise``.
        most: how many are returned then; all unless given.

    Raises:
        RagCoverError: a model cannot be opened.
        InvalidValueError: the question is blank, where errors are raised.
    """
    if not given:
        return []
    opened = models.get()
    try:
        refuse_blank(question)
        return choose(given, question, opened)
    except Exception as broken:
        if on_error == "raise":
            raise
        failed = f"{type(broken).__name__}: {broken}"
        name, things = called
        things = things.removesuffix("s") if len(given) == 1 else things
        _LOG.warning("%s left %d %s in the retriever's order: %s", name, len(given), things, failed)
        return list(given[:most])


def rerank_passages(
    models: Models,
    question: str,
    passages: Sequence[Passage],
    *,
    k: int,
    retrieval_weight: float | None,
    samples: int,
    seed: int,
) -> Reranking:
    """Order passages by what each adds, by models that are open (`rag_cover.coverage.rerank`).

    Raises:
        ModelFailedError: the judge failed.
    """
    opened = models.open(["scorer", "decomposer", "receiver"])
    return rerank(
        question,
        passages,
        opened["scorer"],
        k=k,
        decomposer=opened.get("decomposer"),
        receiver=opened.get("receiver"),
        retrieval_weight=retrieval_weight,
        samples=samples,
        seed=seed,
    )


def select_useful(  # all but three by name
    models: Models,
    question: str,
    passages: Sequence[Passage],
    *,
    attribution: Attribution,
    samples: int,
    seed: int,
    min_utility: float,
    keep: int,
) -> tuple[list[int], EstimatedUtility]:
    """Return the places of the passages to keep, and what these are worth.

    What is left out by leaving one out is left out one at a time, the least useful first, and the others are measured again: of
    two that say the same each is worth nothing beside the other, and one of them stays.

    Raises:
        ModelFailedError: the receiver or the entailer failed.
    """
    kept = list(range(len(passages)))
    while True:
        left = [passages[place] for place in kept]
        found = _estimate(models, question, left, attribution=attribution, samples=samples, seed=seed)
        if attribution != "leave-one-out":
            return [kept[place] for place in found.keeping(left, min_utility=min_utility, keep=keep)], found
        worst = found.find_least_useful(left, min_utility=min_utility)
        if worst is None or len(kept) <= keep:
            return kept, found
        del kept[worst]


def _estimate(
    models: Models, question: str, passages: Sequence[Passage], *, attribution: Attribution, samples: int, seed: int
) -> EstimatedUtility:
    """Estimate what passages are worth, by models that are open (`rag_cover.coverage.estimate_utilities`).

    Raises:
        ModelFailedError: the receiver or the entailer failed.
    """
    opened = models.open(["receiver", "entailer", "decomposer"])
    return estimate_utilities(
        question,
        passages,
        receiver=opened["receiver"],
        entailer=opened["entailer"],
        decomposer=opened.get("decomposer"),
        attribution=attribution,
        n=samples,
        seed=seed,
    )
