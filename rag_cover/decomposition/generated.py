"""A question split into sub-questions by a language model, in the paper's two steps: write about 20, then type them.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), §3.1. What the model was asked once is remembered, in the cache
of the run where it has one: a dataset is decomposed once, whatever is measured of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Self, TypedDict

from rag_cover.argument_checks import refuse_below
from rag_cover.backends import Embedder, Failure, Generator, fingerprint_of
from rag_cover.decomposition.deduplication import ALIKE, distinct_questions
from rag_cover.decomposition.prompts import DecompositionPrompts
from rag_cover.decomposition.replies import SubQuestionsReply, TypesReply, roles_in, sub_questions_in
from rag_cover.errors import MalformedReplyError
from rag_cover.llm.memory import Memory
from rag_cover.llm.session import LLMSession, bind_models
from rag_cover.llm.structured import replies_to
from rag_cover.questions import Question, Role, SubQuestion
from rag_cover.traces import content_hash

__all__ = ["MOST", "GeneratedDecomposer"]

MOST = 20
"""Sub-questions of one question, by default; the paper asks for about as many."""

Decomposed = tuple[SubQuestion, ...]
Roles = tuple[Role | None, ...]


class _Options(TypedDict):
    embedder: Embedder | None
    prompts: DecompositionPrompts
    max_sub_questions: int


class GeneratedDecomposer:
    """Splits questions by asking a Generator.

    Thread-safe: the same question in two threads is asked once. Failures are remembered within a run.

    Args:
        generator: the model to ask.
        embedder: tells sub-questions that mean the same; without one only words do.
        prompts: the instructions; the shipped ones unless given.
        max_sub_questions: at most so many are asked for and kept.
        run: whose cache, ledger and clock it goes by.
    """

    def __init__(
        self,
        generator: Generator,
        *,
        embedder: Embedder | None = None,
        prompts: DecompositionPrompts | None = None,
        max_sub_questions: int = MOST,
        run: LLMSession | None = None,
    ) -> None:
        refuse_below(1, max_sub_questions=max_sub_questions)
        self._generator, self._embedder = generator, embedder
        self._prompts = prompts or DecompositionPrompts.read()
        self._most = max_sub_questions
        self._options: _Options = {
            "embedder": embedder,
            "prompts": self._prompts,
            "max_sub_questions": max_sub_questions,
        }
        self._memory = Memory(self._ask, self._key, _pack, _unpack, run)

    @property
    def source(self) -> str:
        """Return the name of what makes the sub-questions, as their ``role_source`` has it."""
        return f"model:{getattr(self._generator, 'name', None) or fingerprint_of(self._generator)}"

    @property
    def fingerprint(self) -> str:
        """Return what names this decomposer in caches: the model, its prompts, and how its replies are worked on."""
        alike = fingerprint_of(self._embedder) if self._embedder else "words"
        settings = content_hash([self._prompts.decompose, self._prompts.type, self._most, alike, ALIKE])
        return f"{fingerprint_of(self._generator)}:decompose:{settings[:16]}"

    def for_run(self, run: LLMSession) -> Self:
        """Return the same decomposer, going by this run's cache, ledger and clock; it begins without memories."""
        models = bind_models({"generator": self._generator, "embedder": self._embedder}, run)
        return type(self)(models["generator"], **(self._options | {"embedder": models["embedder"]}), run=run)

    def __call__(self, question: Question) -> Decomposed:
        """Split one question.

        Raises:
            ModelFailedError: the model failed, or what it wrote could not be read even when it was asked again.
        """
        (found,) = self.split([question])
        if isinstance(found, Failure):
            raise found.error()
        return found

    def split(self, questions: Sequence[Question]) -> list[Decomposed | Failure]:
        """Split questions, each distinct text once; in place of one that could not be split, why."""
        return self._memory.make_all([question.text for question in questions])

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to another process without memories: a lock cannot."""
        return partial(type(self), self._generator, **self._options), ()

    def _ask(self, texts: Sequence[str]) -> list[Decomposed | Failure]:
        prompts = [self._prompts.splitting(text, most=self._most) for text in texts]
        written = replies_to(prompts, self._generator, _sub_questions, schema=SubQuestionsReply, purpose="decompose")
        lists = {
            index: distinct_questions(each, self._embedder)[: self._most]
            for index, each in enumerate(written)
            if not isinstance(each, Failure)
        }
        typed = self._assign_roles([(texts[index], each) for index, each in lists.items()])
        joined = dict(zip(lists, typed, strict=True))
        return [
            each.about("the question could not be split") if isinstance(each, Failure) else joined[index]
            for index, each in enumerate(written)
        ]

    def _assign_roles(self, split: Sequence[tuple[str, Sequence[str]]]) -> list[Decomposed | Failure]:
        prompts = [self._prompts.typing(text, subs) for text, subs in split]

        def read(index: int, reply: str) -> Roles:
            return roles_in(reply, len(split[index][1]))

        def read_all(index: int, reply: str) -> Roles:
            return _complete(read(index, reply), reply)

        roles = replies_to(prompts, self._generator, read_all, at_last=read, schema=TypesReply, purpose="type")
        return [
            each.about("its sub-questions could not be typed") if isinstance(each, Failure) else self._join_roles(subs, each)
            for (_, subs), each in zip(split, roles, strict=True)
        ]

    def _join_roles(self, subs: Sequence[str], roles: Roles) -> Decomposed:
        """Put texts and roles together; what the model left untyped is typed as any untyped sub-question is."""
        return tuple(
            SubQuestion(text=text, role=role, role_source=self.source if role else None)
            for text, role in zip(subs, roles, strict=True)
        )

    def _key(self, text: str) -> str:
        return content_hash({"decomposed": text, "by": self.fingerprint})


def _pack(sub_questions: Decomposed) -> bytes:
    return json.dumps([each.model_dump(exclude_defaults=True) for each in sub_questions], ensure_ascii=False).encode()


def _unpack(answer: bytes) -> Decomposed | None:
    try:
        return tuple(SubQuestion.model_validate(each) for each in json.loads(answer))
    except ValueError:  # damaged, or of another version: asked again
        return None


def _sub_questions(_index: int, reply: str) -> list[str]:
    return sub_questions_in(reply)


def _complete(roles: Roles, reply: str) -> Roles:
    if missing := [str(number) for number, role in enumerate(roles, 1) if role is None]:
        message = f"it gives no single type to sub-question {', '.join(missing)}"
        raise MalformedReplyError(message, raw=reply)
    return roles
