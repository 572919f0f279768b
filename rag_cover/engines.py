"""The engine Protocol: who applies one function to many items, in parallel and in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from rag_cover.llm.usage import UsageMeter
from rag_cover.measures import TraceResult
from rag_cover.traces import Trace

__all__ = ["Accountable", "Block", "BlockFunction", "Engine"]

Item = TypeVar("Item")
Made = TypeVar("Made")

Block = Sequence[Trace]
BlockFunction = Callable[[Block], Sequence[TraceResult]]


class Engine(Protocol):
    """Applies a function, such as a `BlockFunction`, to items, such as blocks of traces."""

    def run(self, function: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        """Yield what the function makes of each item, in the items' order, holding only a few of them in memory at a time.

        An engine that runs in other processes sends the function there; one that is `Accountable` gets back what it spent.
        """
        ...


@runtime_checkable
class Accountable(Protocol):
    """A function that asks remote models, and counts in ``ledger`` what it asks of them."""

    @property
    def ledger(self) -> UsageMeter:
        """Return the ledger of the process that this object lives in."""
        ...
