"""Questions read as set queries by a language model, held to what the question speaks of.

What the model was asked once is remembered, in the cache of the run where it has one. The question is fenced as data: it can
change which sets are read out of it, and nothing else.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Self

from rag_cover.backends import Failure, Generator, fingerprint_of
from rag_cover.errors import InvalidValueError
from rag_cover.llm.memory import Memory
from rag_cover.llm.prompt_safety import fence
from rag_cover.llm.prompts import Conversation, conversation
from rag_cover.llm.session import LLMSession, bind_models
from rag_cover.llm.structured import replies_to
from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.opinions import pool_opinion
from rag_cover.setqueries.parsing import ParsedQuery, parse
from rag_cover.setqueries.written import SetQueryReply, query_in
from rag_cover.traces import content_hash

__all__ = ["UNREADABLE", "GeneratedParser"]

UNREADABLE = "unreadable"
"""The kind of a failure whose reason is the question."""

_UNREAD = "the question could not be read as a set query"
_PROMPT = Path(__file__).with_name("prompt.toml")


class GeneratedParser:
    """Reads questions as set queries by asking a Generator.

    Thread-safe: the same question in two threads is asked once. Failures are remembered within a run. How the confidence of a
    reading comes about is told in `rag_cover.setqueries.opinions`.

    Args:
        generator: the model to ask.
        run: whose cache, ledger and clock it goes by.
    """

    def __init__(self, generator: Generator, *, run: LLMSession | None = None) -> None:
        self._generator = generator
        self._memory = Memory(self._ask, self._key, _pack, _unpack, run)

    @property
    def source(self) -> str:
        """Return the name of the reader, as the readings' ``source`` has it."""
        return f"model:{getattr(self._generator, 'name', None) or fingerprint_of(self._generator)}"

    @property
    def fingerprint(self) -> str:
        """Return what names this parser in caches: the model and its instructions."""
        return f"{fingerprint_of(self._generator)}:set-query:{content_hash(_instructions())[:16]}"

    def for_run(self, run: LLMSession) -> Self:
        """Return the same parser, going by this run's cache, ledger and clock; it begins without memories."""
        return type(self)(bind_models({"generator": self._generator}, run)["generator"], run=run)

    def __call__(self, question: str) -> ParsedQuery:
        """Read one question; one without a set operation is one atom, as it was asked.

        Raises:
            InvalidValueError: it is blank, or only says what is not wanted.
            ModelFailedError: the model failed, or what it wrote could not be used even when it was asked again.
        """
        (found,) = self.parse_all([question])
        if isinstance(found, Failure):
            raise InvalidValueError(found.message) if found.kind == UNREADABLE else found.error()
        return found

    def parse_all(self, questions: Sequence[str]) -> list[ParsedQuery | Failure]:
        """Read questions, all in one call, each distinct one once; in place of one that could not be read, why.

        Raises:
            InvalidValueError: one is blank.
        """
        if any(not question.strip() for question in questions):
            message = "a blank question asks for nothing; ask for what is to be found, such as 'birds of Chile but not of Peru'"
            raise InvalidValueError(message)
        parses = zip(questions, self._memory.make_all(questions), strict=True)
        return [each if isinstance(each, Failure) else self._weigh(question, each) for question, each in parses]

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to another process without memories: a lock cannot."""
        return type(self), (self._generator,)

    def _ask(self, questions: Sequence[str]) -> list[SetQuery | Failure]:
        def read(index: int, reply: str) -> SetQuery:
            return query_in(reply, questions[index])

        prompts = list(map(_prompt, questions))
        replies = replies_to(prompts, self._generator, read, schema=SetQueryReply, purpose="set-query")
        return [each.about(_UNREAD) if isinstance(each, Failure) else each for each in replies]

    def _weigh(self, question: str, query: SetQuery) -> ParsedQuery | Failure:
        """Estimate how sure a reading is; a failure for a question without set operation that the grammar refuses."""
        try:
            read = parse(question)
        except InvalidValueError as refused:
            if query.operator == "atom":
                return Failure(UNREADABLE, str(refused))
            read = None
        return pool_opinion(question, query, self.source, read)

    def _key(self, question: str) -> str:
        return content_hash({"set-query": question, "by": self.fingerprint})


@cache
def _instructions() -> str:
    return str(tomllib.loads(_PROMPT.read_text(encoding="utf-8"))["parse"])


def _prompt(question: str) -> Conversation:
    instruction = "Write the question above as set algebra. Reply with the JSON only."
    return conversation(_instructions(), [fence("question", question), instruction])


def _pack(query: SetQuery) -> bytes:
    return json.dumps(query.to_dict(), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _unpack(answer: bytes) -> SetQuery | None:
    try:
        return SetQuery.from_dict(json.loads(answer))
    except ValueError:  # damaged, or of another version: asked again
        return None
