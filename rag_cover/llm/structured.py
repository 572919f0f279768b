"""One question to a language model, asked once more where its reply cannot be read, and a counted failure after that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from rag_cover.backends import Failure, Generation, Generator, Message, Sampling
from rag_cover.errors import MalformedReplyError, ModelFailedError
from rag_cover.llm.prompts import Conversation

__all__ = ["MALFORMED", "Reader", "replies_to"]

MALFORMED = "malformed"
"""The kind of a failure whose reason is what the model wrote."""

SAMPLING = Sampling(max_tokens=4096)
_QUOTED = 8_000  # characters of a bad reply that are shown to the model again

T = TypeVar("T")
Reader = Callable[[int, str], T]
"""Reads the reply to the prompt with this index, or raises a `MalformedReplyError`."""


@dataclass(frozen=True, slots=True)
class _Unread:
    problem: str
    raw: str

    def failure(self, attempts: int) -> Failure:
        return Failure(MALFORMED, self.problem, attempts, self.raw)


def replies_to(
    prompts: Sequence[Conversation],
    generator: Generator,
    read: Reader[T],
    *,
    at_last: Reader[T] | None = None,
    schema: type[BaseModel],
    purpose: str,
) -> list[T | Failure]:
    """Ask all the prompts in one call, and those whose reply cannot be read in a second one.

    A generator that repairs replies itself, and says that one is malformed, is not asked again.

    ``at_last`` reads the replies of the second call, where less is enough.

    Raises:
        ModelFailedError: the generator broke its word and did not return one generation for each prompt.
    """
    found = _read(range(len(prompts)), prompts, generator, read, schema, purpose)
    bad = {index: reply for index, reply in found.items() if isinstance(reply, _Unread)}
    again = [_repairing(prompts[index], unread) for index, unread in bad.items()]
    found |= _read(list(bad), again, generator, at_last or read, schema, purpose)
    return [reply.failure(2) if isinstance(reply := found[index], _Unread) else reply for index in range(len(prompts))]


def _read(
    indices: Sequence[int],
    prompts: Sequence[Conversation],
    generator: Generator,
    read: Reader[T],
    schema: type[BaseModel],
    purpose: str,
) -> dict[int, T | Failure | _Unread]:
    generations = generator.generate(prompts, SAMPLING, schema=schema, purpose=purpose) if prompts else []
    if len(generations) != len(prompts):
        message = f"the generator returned {len(generations)} replies to {len(prompts)} prompts"
        raise ModelFailedError(message)
    return {index: _reply(index, made, read) for index, made in zip(indices, generations, strict=True)}


def _reply(index: int, made: Generation, read: Reader[T]) -> T | Failure | _Unread:
    if made.failure is not None:
        return _salvage_reply(index, made.failure, read)
    text = made.samples[0].text if made.samples else ""
    try:
        return read(index, text)
    except MalformedReplyError as malformed:
        return _Unread(str(malformed), text)


def _salvage_reply(index: int, failure: Failure, read: Reader[T]) -> T | Failure:
    """Read what the generator could not: it knows the schema, and nothing of lists in other words."""
    if failure.kind != MALFORMED or not failure.raw:
        return failure
    try:
        return read(index, failure.raw)
    except MalformedReplyError:
        return failure


def _repairing(prompt: Conversation, unread: _Unread) -> Conversation:
    remark = f"Your reply could not be used: {unread.problem}. Reply again, with the JSON described above and nothing else."
    said = unread.raw.strip()[:_QUOTED]
    return (*prompt, *((Message("assistant", said),) if said else ()), Message("user", remark))
