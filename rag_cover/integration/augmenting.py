"""Augmentation (M1 to M4 of the coverage paper, and `auto`) over a framework's retriever; its own objects are returned.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), as `rag_cover.coverage.Augmenter` does it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from rag_cover.augmentation import Augmentation, AugmentationMode
from rag_cover.backends import Retriever
from rag_cover.coverage import Augmenter, by_rules
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.integration.choosing import OnRerankError
from rag_cover.questions import Passage
from rag_cover.registry import Models

__all__ = [
    "Augmented",
    "Finding",
    "augment_if_possible",
    "augment_question",
    "augmenter_by",
    "explain_by_search",
    "refuse_mode",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_LOG = logging.getLogger(__name__)

_RETRIEVING: tuple[AugmentationMode, ...] = ("retrieval", "auto")


class Finding(Protocol[T_co]):
    """A retriever that keeps what a framework found for it, such as `Search`."""

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        """Return the first k passages."""
        ...

    def first_found(self, queries: Sequence[str]) -> Mapping[str, T_co]:
        """Return what these searches found, by `Passage.key`."""
        ...


@dataclass(frozen=True, slots=True)
class Augmented(Generic[T]):
    """The result for one question: its augmentation, and all passages that were found, by `Passage.key`."""

    augmentation: Augmentation
    found: Mapping[str, T]

    @property
    def kept(self) -> list[T]:
        """Return the results that were kept, best first."""
        return self.of(self.augmentation.passages)

    @property
    def sources(self) -> list[T]:
        """Return the results that an answer is written from: all of them in the end-to-end mode, else those that were kept."""
        return self.of(self.augmentation.trace().prompt or ())

    def of(self, passages: Sequence[Passage]) -> list[T]:
        """Return the framework's results behind passages."""
        return [self.found[passage.key] for passage in passages]


def augmenter_by(  # noqa: PLR0913  # what Augmenter takes, all but two by name
    retriever: Retriever,
    models: Models,
    *,
    mode: AugmentationMode,
    k: int,
    depth: int | None,
    max_tokens: int | None,
    max_calls: int | None,
    rounds: int,
    feedback: int,
    threshold: float | None,
    judged: bool = True,
) -> Augmenter:
    """Open the models and set up the augmentation; its generator, where there is one, leaves the answer to others.

    Where rules split questions, they make sub-questions that need an earlier answer only if somebody reads answers.

    Args:
        retriever: finds the passages.
        models: the judge, receiver, generator and decomposer.
        mode: how sub-questions help; `rag_cover.coverage.augment` explains it, and the numbers.
        k: how many passages to keep.
        depth: how many each search asks for; k unless given.
        max_tokens: how many tokens the passages may have in all.
        max_calls: how many searches to make in all.
        rounds: how often ``"auto"`` searches again.
        feedback: how many of the first passages expand a question that was not taken apart.
        threshold: the probability from which a passage covers.
        judged: whether coverage is judged at all; modes that only prompt need no judge.

    Raises:
        InvalidValueError: a setting that `rag_cover.coverage.Augmenter` refuses.
    """
    if models.decomposer == "rules":
        answers = models.receiver is not None or models.generator is not None
        models = replace(models, decomposer=by_rules(answers=answers))
    models = replace(models, generator=models.open(["generator"]).get("generator"))  # once, for all that ask it
    opened = models.open(["scorer", "receiver", "decomposer", "generator"])
    return Augmenter(
        retriever=retriever,
        generator=opened.get("generator"),
        writes=False,
        mode=mode,
        scorer=opened["scorer"] if judged else None,
        decomposer=opened.get("decomposer"),
        receiver=opened.get("receiver"),
        k=k,
        depth=depth,
        max_tokens=max_tokens,
        max_calls=max_calls,
        rounds=rounds,
        feedback=feedback,
        threshold=threshold,
    )


def augment_question(augmenter: Augmenter, search: Finding[T], question: str) -> Augmented[T]:
    """Augment one question by a search of its own.

    Raises:
        ModelFailedError: every search failed, or the judge did.
    """
    made = replace(augmenter, retriever=search).augment(question)
    return Augmented(made, search.first_found([step.query for step in made.steps]))


def augment_if_possible(
    augmenter: Augmenter, search: Finding[T], question: str, *, on_error: OnRerankError
) -> Augmented[T] | None:
    """Augment one question; None where it is to be searched for as it is: it is blank, or something failed, which is logged.

    Raises:
        ModelFailedError: every search failed, or the judge did, and ``on_error`` is ``"raise"``.
    """
    if not question.strip():
        return None
    try:
        return augment_question(augmenter, search, question)
    except ModelFailedError as failed:
        if on_error == "raise":
            raise
        _LOG.warning("%r is searched for as it is: %s", question, failed)
        return None


def explain_by_search(made: Augmented[T], explain: Callable[[T, list[str]], T]) -> list[T]:
    """Return the results that were kept, each explained by the questions whose searches found it."""
    found_for: dict[str, list[str]] = {}
    for step in made.augmentation.steps:
        for passage in step.passages:
            found_for.setdefault(passage.key, []).append(step.query)
    kept = zip(made.augmentation.passages, made.kept, strict=True)
    return [explain(each, found_for.get(passage.key, [])) for passage, each in kept]


def refuse_mode(mode: str, *, instead: str) -> None:
    """Refuse a mode that does more than retrieve; ``instead`` names what supports it.

    Raises:
        InvalidValueError: the mode is neither ``"retrieval"`` nor ``"auto"``.
    """
    if mode not in _RETRIEVING:
        message = f"a retriever augments by 'retrieval' or 'auto', not {mode!r}; other modes write the answer's prompt, too: "
        raise InvalidValueError(message + instead)
