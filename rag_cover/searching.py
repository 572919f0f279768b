"""Many searches for one question: in parallel, within one number of calls, each kept as a retrieval step.

A retriever is code of somebody else's: one that raises for a query costs that query alone, whose step carries the error. Where
one returns a passage twice, or more passages than it was asked for, the first k distinct ones are read, and nothing beyond. One
that does not return is waited for: a time limit is its own to keep.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from rag_cover.backends import Retriever
from rag_cover.questions import Passage, plain_query
from rag_cover.traces import RetrievalStep

__all__ = ["Searches"]


class Searches:
    """What a retriever brought back for one question after the other, in the order in which they were asked.

    Args:
        retriever: who is asked.
        k: how many passages to ask for, unless a search says another number.
        most: how many times to ask at most; None is as often as wanted.
        workers: how many searches run at a time.
    """

    def __init__(self, retriever: Retriever, *, k: int, most: int | None, workers: int) -> None:
        self._retriever, self._k, self._most, self._workers = retriever, k, most, workers
        self.steps: list[RetrievalStep] = []
        self.unasked: list[str] = []
        self.batches = 0

    @property
    def known(self) -> frozenset[str]:
        """Return the queries searched for, or left out for want of room, each as `plain_query` writes it."""
        return frozenset(map(plain_query, [*(step.query for step in self.steps), *self.unasked]))

    @property
    def room(self) -> int | None:
        """Return how many searches may still be made; None where there is no limit."""
        return None if self._most is None else max(0, self._most - len(self.steps))

    @property
    def found(self) -> list[RetrievalStep]:
        """Return the searches that did not fail."""
        return [step for step in self.steps if step.error is None]

    def search(self, queries: Sequence[str], *, k: int | None = None) -> list[RetrievalStep]:
        """Search for queries that were not searched for before; those that the number of calls leaves no room for are not."""
        asked = {plain_query(query): query for query in reversed(queries)}  # of equal ones the first
        known = self.known
        new = [
            query for query in dict.fromkeys(queries) if asked[plain_query(query)] == query and plain_query(query) not in known
        ]
        room = len(new) if self.room is None else self.room
        self.unasked += new[room:]
        with ThreadPoolExecutor(max(1, min(self._workers, len(new))), thread_name_prefix="rag-cover-search") as pool:
            made = list(pool.map(partial(self._step, k=k or self._k), new[:room]))
        self.batches += bool(made)
        steps = [step.model_copy(update={"id": f"step-{number}"}) for number, step in enumerate(made, len(self.steps) + 1)]
        self.steps += steps
        return steps

    def step_of(self, query: str) -> RetrievalStep | None:
        """Return the search for a query, if it was made."""
        return next((step for step in self.steps if plain_query(step.query) == plain_query(query)), None)

    def _step(self, query: str, *, k: int) -> RetrievalStep:
        try:
            passages = _first(k, _read(self._retriever.retrieve(query, k=k)))
        except Exception as broken:  # noqa: BLE001  # the plugin boundary: recorded in the step
            return RetrievalStep(query=query, error=f"{type(broken).__name__}: {broken}")
        return RetrievalStep(query=query, passages=passages)


def _read(found: object) -> Iterator[Passage]:
    """Take what a retriever returned for passages; a plain string among them is one."""
    if isinstance(found, str | bytes | Mapping | Passage) or not isinstance(found, Iterable):
        message = f"retrieve returned {type(found).__name__}; it must return a sequence of passages"
        raise TypeError(message)
    for each in found:
        if not isinstance(each, Passage | str | Mapping):
            message = f"retrieve returned {type(each).__name__} among its passages; each must be a Passage, or its text"
            raise TypeError(message)
        yield each if isinstance(each, Passage) else Passage.model_validate(each)


def _first(k: int, passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Read passages until there are k distinct ones."""
    found: dict[str, Passage] = {}
    for passage in passages:
        found.setdefault(passage.key, passage)
        if len(found) == k:
            break
    return tuple(found.values())
