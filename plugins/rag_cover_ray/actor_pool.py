"""A function applied to many items by a pool of Ray Data's actors."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, cast

import numpy as np
import ray
from ray import data
from ray.data import ActorPoolStrategy, DataContext
from ray.exceptions import RayError

from rag_cover.engines import Accountable
from rag_cover.errors import EngineError, InvalidValueError, RagCoverError
from rag_cover.llm.usage import UsageReport
from rag_cover.processors import allot

__all__ = ["ActorPool"]

ATTEMPTS = 4
"""How often an item is tried whose worker dies; after that the item is taken to be what kills it."""

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parcel:
    """One value on its way: Arrow leaves it as it is."""

    content: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """What the function raised instead of making something."""

    error: RagCoverError


class Attempts:
    """Counts, in an actor of its own, how often each item was begun: one that kills its workers comes back."""

    def __init__(self) -> None:
        self._begun: Counter[int] = Counter()

    def begin(self, number: int) -> int:
        """Count an attempt at an item, and return the number of attempts so far."""
        self._begun[number] += 1
        return self._begun[number]


class ActorWorker:
    """The worker in a Ray actor: opens the function once, then applies it to one item at a time."""

    def __init__(self, function: ray.ObjectRef, attempts: ray.actor.ActorHandle, cpus: float) -> None:
        allot(cpus)
        self._function = _fetch_function(function)
        self._attempts = attempts

    def __call__(self, batch: _Row) -> _Row:
        """Apply the function to the one item of a batch, and add what it spent."""
        (number,), (item,) = batch["number"], batch["item"]
        if ray.get(self._attempts.begin.remote(int(number))) > ATTEMPTS:
            return {"made": _column([Parcel((Raised(_deadly(number)), None))])}
        try:
            made = self._function(item.content)
        except RagCoverError as told:  # travels as it is: what Ray raises for it would say more than the user wants to know
            made = Raised(told)
        spending = self._function.ledger.drain() if isinstance(self._function, Accountable) else None
        return {"made": _column([Parcel((made, spending))])}


@dataclass(frozen=True, slots=True)
class ActorPool:
    """A function in Ray's object store, and the actors that are to apply it."""

    function: ray.ObjectRef
    workers: int
    cpus: float
    gpus: float

    @classmethod
    def of(cls, function: Callable[..., Any], workers: int | None, *, cpus: float, gpus: float) -> ActorPool:
        """Send the function on its way.

        Raises:
            InvalidValueError: it cannot travel.
            EngineError: the cluster has no room for a single worker.
        """
        room = _room(cpus, gpus)
        try:
            return cls(ray.put(Parcel(function)), min(workers or room, room), cpus, gpus)
        except TypeError as stays:
            message = (
                f"A model, measure or function cannot be sent to Ray's workers ({_describe_cause(stays)}); "
                "give models by name, such as 'embedded' or 'openai:gpt-4.1-mini', or as objects that can be pickled"
            )
            raise InvalidValueError(message) from stays

    def map(self, items: Sequence[Any]) -> Iterator[tuple[Any, UsageReport | None]]:
        """Yield, in order, what is made of each item, and what that spent.

        Raises:
            EngineError: workers died again and again on one item, or Ray itself failed.
            RagCoverError: what the function raised.
        """
        _set_up()
        attempts = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(Attempts).remote()
        rows = [{"number": number, "item": Parcel(item)} for number, item in enumerate(items)]
        dataset = data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            ActorWorker,
            fn_constructor_args=(self.function, attempts, self.cpus),
            compute=ActorPoolStrategy(size=min(self.workers, len(items))),
            batch_size=1,  # an item; Ray wants to be told where there are GPUs
            num_cpus=self.cpus,
            num_gpus=self.gpus or None,
        )
        try:
            for batch in dataset.iter_batches(batch_size=None, prefetch_batches=1, batch_format="numpy"):
                (parcel,) = batch["made"]
                made, _ = parcel.content
                if isinstance(made, Raised):
                    raise made.error
                yield parcel.content
        except RayError as failed:
            message = (
                f"Ray could not go on: {_describe_cause(failed)}. Where there is a store, --resume goes on with what it holds"
            )
            raise EngineError(message) from failed


def _fetch_function(function: ray.ObjectRef) -> Callable[[Any], Any]:
    """Take the function out of the object store; one that cannot be taken out says so for every item."""
    try:
        return cast("Callable[[Any], Any]", ray.get(function).content)
    except RayError as unopened:
        message = (
            f"A worker cannot open what it was sent: {_describe_cause(unopened)}. Install on every machine of the cluster what "
            "is installed here, and keep models of your own in a module that can be imported there"
        )
        return partial(_raise_for_item, EngineError(message))


def _raise_for_item(error: EngineError, _item: object) -> NoReturn:
    raise error


def _deadly(number: int) -> EngineError:
    message = (
        f"Workers died {ATTEMPTS} times on item {number + 1} of those that were sent; their logs are in the session folder of "
        "Ray. What was done before is kept where there is a store"
    )
    return EngineError(message)


def _room(cpus: float, gpus: float) -> int:
    """Count the workers that the cluster has room for."""
    has = ray.cluster_resources()
    rooms = [int(has.get(name, 0.0) / each) for name, each in (("CPU", cpus), ("GPU", gpus)) if each]
    if (room := min(rooms, default=1)) < 1:
        message = (
            f"The cluster has {has.get('CPU', 0):g} processors and {has.get('GPU', 0):g} GPUs, too few for one worker of "
            f"{cpus:g} processors and {gpus:g} GPUs; ask for less for each"
        )
        raise EngineError(message)
    return room


def _set_up() -> None:
    """Keep order, and leave the terminal to others."""
    context = DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)


def _column(values: Sequence[Any]) -> Any:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _describe_cause(error: BaseException) -> str:
    """Return the root cause of an error in one line; Ray wraps it and adds a traceback."""
    inner = getattr(error, "cause", None) or error.__cause__
    if isinstance(inner, BaseException):
        return _describe_cause(inner)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = [line for line in lines if _NAMED.match(line)]
    return (named or lines or [type(error).__name__])[-1 if named else 0]


_NAMED = re.compile(r"[\w.]+(Error|Exception): ")
"""The line of a traceback that says what was raised."""
