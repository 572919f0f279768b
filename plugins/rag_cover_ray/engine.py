"""The engine that runs on Ray Data: a pool of actors, each with the models open, on one machine or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from rag_cover.argument_checks import refuse_below, refuse_negative, without_none
from rag_cover.engines import Accountable
from rag_cover.errors import needs_extra
from rag_cover_ray.environment import prepare

__all__ = ["RayEngine"]

Item = TypeVar("Item")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class RayEngine:
    """Applies a function on Ray, in actors that open its models once (`rag_cover.engines.Engine`).

    The results are those of the local engine, in the same order. An actor or a node that is lost is replaced where there is
    room, and its items are done again; an item on which workers die four times ends the run.

    Items are handed to Ray in windows, so that a stream of any length fits: Ray's object store holds one window, and spills
    to disk what is more than its memory.

    Args:
        workers: actors; None: as many as the cluster has room for.
        address: a running cluster, ``"auto"`` for the one this machine belongs to (a new local one, where it belongs to none),
            None for a new local one. Where the process is connected to Ray already, that connection is used.
        cpus: processors of one actor; its models run as many threads.
        gpus: GPUs of one actor, which sees no others; 0.5 puts two on each, so that one computes while the other prepares.
        window: the most items that are handed to Ray at once.

    Raises:
        InvalidValueError: a number that cannot be.
    """

    workers: int | None = None
    address: str | None = None
    cpus: float = 1.0
    gpus: float = 0.0
    window: int = 2_048

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be."""
        refuse_below(1, **without_none(workers=self.workers, window=self.window))
        refuse_negative(**without_none(cpus=self.cpus, gpus=self.gpus))

    def run(self, function: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        """Yield what is made of each item, in order; Ray is started at the first, and stopped where it was not running.

        Raises:
            InvalidValueError: the function cannot travel, since a model was given as an object that cannot.
            EngineError: the cluster cannot be reached, or workers died again and again.
        """
        prepare(self.address)
        with needs_extra("ray", "ray", "pyarrow"):
            from rag_cover_ray.actor_pool import ActorPool
            from rag_cover_ray.clusters import connect
        stream = iter(items)
        if not (sent := list(islice(stream, self.window))):
            return
        with connect(self.address):
            pool = ActorPool.of(function, self.workers, cpus=self.cpus, gpus=self.gpus)
            ledger = function.ledger if isinstance(function, Accountable) else None
            while sent:
                for made, spending in pool.map(sent):
                    if ledger is not None and spending is not None:
                        ledger.take_over(spending)
                    yield made
                sent = list(islice(stream, self.window))
