"""The engine Protocol: who applies the block function to blocks of traces, in parallel and in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from rag_cover.results import TraceResult
from rag_cover.traces import Trace

__all__ = ["Block", "BlockFunction", "Engine"]

Block = Sequence[Trace]
BlockFunction = Callable[[Block], Sequence[TraceResult]]


class Engine(Protocol):
    """Runs a block function over blocks of traces."""

    def run(self, measure_block: BlockFunction, blocks: Iterable[Block]) -> Iterator[Sequence[TraceResult]]:
        """Yield each block's results, in the blocks' order, holding only a few blocks in memory at a time."""
        ...
