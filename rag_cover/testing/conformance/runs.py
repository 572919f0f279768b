"""Runs as a host reports them to a callback handler: events of nested runs, whole, broken and interleaved."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal
from uuid import UUID, uuid4

__all__ = ["KINDS", "Event", "FrameworkRun", "Kind", "events_of", "interleave", "random_run", "send"]

Kind = Literal["chain", "retriever", "chat_model", "llm", "tool"]

KINDS: Sequence[Kind] = ("chain", "retriever", "chat_model", "llm", "tool")
_DEEPEST = 4
_IGNORED = {
    "on_chain": "ignore_chain",
    "on_chat_model": "ignore_chat_model",
    "on_custom": "ignore_custom_event",
    "on_llm": "ignore_llm",
    "on_retriever": "ignore_retriever",
    "on_retry": "ignore_retry",
    "on_tool": "ignore_agent",
}


@dataclass(frozen=True, slots=True)
class Event:
    """One call of a handler's method."""

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def run_id(self) -> UUID:
        """Return which run it is of."""
        found: UUID = self.kwargs["run_id"]
        return found

    def with_more(self, **kwargs: Any) -> Event:
        """Return the same event with further keywords."""
        return replace(self, kwargs={**self.kwargs, **kwargs})


@dataclass(frozen=True, slots=True)
class FrameworkRun:
    """A run: what it was given and what came of it (an exception: it failed), and the runs inside.

    ``tokens`` are streamed by a model. What never ends has ``ends=False``.
    """

    kind: Kind
    given: Any
    made: Any
    inner: tuple[FrameworkRun, ...] = ()
    tokens: tuple[Any, ...] = ()
    ends: bool = True
    serialized: Any = None


def events_of(run: FrameworkRun, parent: UUID | None = None) -> list[Event]:
    """Return the events of a run and of those inside, in the order in which a host reports them."""
    run_id = uuid4()
    ids = {"run_id": run_id, "parent_run_id": parent}
    start = {"tags": ["seq:step:1"], "metadata": {"ls_retriever_name": "r"}, "name": f"a {run.kind}"}
    more = {"inputs": None} if run.kind == "tool" else {}
    return [
        Event(f"on_{run.kind}_start", (run.serialized, run.given), ids | start | more),
        *(event for inner in run.inner for event in events_of(inner, run_id)),
        *(Event("on_llm_new_token", (token,), ids | {"chunk": None}) for token in run.tokens),
        *([_ending(run, ids)] if run.ends else []),
    ]


def random_run(random: Random, values: Sequence[Callable[[Kind], Any]], *, ending: float = 1.0, depth: int = 0) -> FrameworkRun:
    """Return a run of a random shape, that failed or not; ``values`` make what it is given and what comes of it.

    The root ends, and the share ``ending`` of those inside.
    """
    kind: Kind = "chain" if depth == 0 else random.choice(KINDS)
    given, made = (random.choice(values)(kind) for _ in range(2))
    count = random.randrange(4) if kind in ("chain", "tool") and depth < _DEEPEST else 0
    inner = tuple(random_run(random, values, ending=ending, depth=depth + 1) for _ in range(count))
    failed = random.random() < 1 / 4
    ends = depth == 0 or random.random() < ending
    return FrameworkRun(kind, given, RuntimeError("it broke") if failed else made, inner, ends=ends)


def interleave(random: Random, runs: Sequence[Sequence[Event]]) -> list[Event]:
    """Mix the events of several runs; those of one run stay in their order."""
    left = [list(run) for run in runs]
    mixed = []
    while left := [run for run in left if run]:
        mixed.append(random.choice(left).pop(0))
    return mixed


def send(handler: Any, event: Event) -> None:
    """Report an event as LangChain does: not where the handler ignores its kind, and chats as texts where it reads no chats."""
    condition = next((attribute for begin, attribute in _IGNORED.items() if event.name.startswith(begin)), "")
    method = getattr(handler, event.name, None)
    if method is None or getattr(handler, condition, False):
        return
    try:
        _finish(method(*event.args, **event.kwargs))
    except NotImplementedError:
        if event.name != "on_chat_model_start":
            raise
        send(handler, Event("on_llm_start", (event.args[0], [str(event.args[1])]), event.kwargs))


def _ending(run: FrameworkRun, ids: Mapping[str, Any]) -> Event:
    kind = "llm" if run.kind == "chat_model" else run.kind
    ending = "error" if isinstance(run.made, BaseException) else "end"
    return Event(f"on_{kind}_{ending}", (run.made,), dict(ids))


def _finish(made: object) -> None:
    if inspect.isawaitable(made):
        asyncio.run(_await_value(made))


async def _await_value(made: Awaitable[object]) -> object:
    return await made
