"""What the remote models of one run share: the cache of their answers, the ledger of their use, the clock they go by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from rag_cover.errors import StoreError
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.usage import UsageMeter

__all__ = ["LLMSession", "Remote", "ResponseCache", "bind_models"]

Kind = TypeVar("Kind", bound=str)


class ResponseCache(Protocol):
    """Answers by content key; safe to use from many threads."""

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Return the answers that are known, by key.

        Raises:
            StoreError: the cache cannot be read.
        """
        ...

    def put(self, answers: Mapping[str, bytes]) -> None:
        """Keep answers; what is there already stays.

        Raises:
            StoreError: the cache cannot be written.
        """
        ...


@dataclass(frozen=True, slots=True)
class LLMSession:
    """One run's cache (None: answers are not kept), ledger and clock.

    With ``asks_once``, a reply that cannot be used has failed and is not asked for again: no more calls are made than were
    planned. A server that fails ``gives_up_after`` calls in a row, each with all its attempts, is not asked again; None: every
    call is made.
    """

    cache: ResponseCache | None = None
    ledger: UsageMeter = field(default_factory=UsageMeter)
    clock: Deadline = field(default_factory=Deadline)
    asks_once: bool = False
    gives_up_after: int | None = None

    @classmethod
    def over(cls, run: Self | None, cache: ResponseCache | None) -> Self:
        """Return the session with ``cache`` as its cache, or a new session if there is none."""
        return cls(cache) if run is None else replace(run, cache=cache or run.cache)

    def recall(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Return the answers that are known; a cache that cannot be read is noted, and costs no answer."""
        if self.cache is None:
            return {}
        try:
            return self.cache.get(keys)
        except StoreError as unusable:
            self.ledger.note(str(unusable))
            return {}

    def keep(self, answers: Mapping[str, bytes]) -> None:
        """Keep answers; a cache that cannot be written is noted, and costs no answer."""
        if self.cache is None or not answers:
            return
        try:
            self.cache.put(answers)
        except StoreError as unusable:
            self.ledger.note(str(unusable))


@runtime_checkable
class Remote(Protocol):
    """A model that is asked over a network, or wraps one that is."""

    def for_run(self, run: LLMSession) -> Self:
        """Return the same model, going by this run's cache, ledger and clock."""
        ...


def bind_models(models: Mapping[Kind, Any], run: LLMSession) -> dict[Kind, Any]:
    """Bind those models that are remote to a run; one object in two roles stays one object."""
    distinct = {id(model): model for model in models.values()}
    ready = {name: model.for_run(run) if isinstance(model, Remote) else model for name, model in distinct.items()}
    return {kind: ready[id(model)] for kind, model in models.items()}
