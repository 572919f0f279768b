"""Questions split into sub-questions: by rules, by a language model, or as a file or a function of the user's gives them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

from rag_cover.argument_checks import refuse_below, without_none
from rag_cover.backends import Embedder, Failure, Generator
from rag_cover.decomposition.generated import MOST, GeneratedDecomposer
from rag_cover.decomposition.prompts import DecompositionPrompts
from rag_cover.decomposition.rules import decompose_by_rules
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Question, RoleSource, SubQuestion
from rag_cover.traces import Trace, content_hash

__all__ = ["BatchDecomposer", "Decomposer", "GivenDecomposer", "decompose", "source_of", "split_failures"]

MOST_BY_RULES = 12

Decomposer = Callable[[Question], Sequence[SubQuestion]]
"""Splits a question into sub-questions, as `decompose` does without a model."""


@runtime_checkable
class BatchDecomposer(Protocol):
    """A decomposer that is better asked about many questions at once, says which it failed on, and remembers the others."""

    @property
    def source(self) -> RoleSource:
        """Return the name of what makes the sub-questions."""
        ...

    def split(self, questions: Sequence[Question]) -> Sequence[Sequence[SubQuestion] | Failure]:
        """Split questions; in place of one that could not be split, why."""
        ...


def decompose(
    question: Question | str,
    *,
    generator: Generator | None = None,
    embedder: Embedder | None = None,
    prompts: DecompositionPrompts | None = None,
    max_sub_questions: int | None = None,
) -> tuple[SubQuestion, ...]:
    """Split a question into typed sub-questions, by rules unless a generator is given.

    Rules put core first, then background, then follow-up; a model's stay in its order. Every sub-question ends with a
    question mark and none occurs twice. By rules a question of no known shape has itself as its only one.

    >>> [sub.text for sub in decompose("What is photosynthesis and why is it important?") if sub.role == "core"][:2]
    ['What is photosynthesis?', 'Why is photosynthesis important?']

    Args:
        question: what to split; a blank text has no sub-questions.
        generator: the model that splits and types, in two calls.
        embedder: tells sub-questions of the model that mean the same.
        prompts: the model's instructions; the shipped ones unless given.
        max_sub_questions: 12 by rules and 20 by a model, unless given.

    Raises:
        InvalidValueError: ``max_sub_questions`` is less than 1.
        ModelFailedError: the model failed, or what it wrote could not be read even when it was asked again.
    """
    refuse_below(1, **without_none(max_sub_questions=max_sub_questions))
    text = question if isinstance(question, str) else question.text
    if generator is None or not text.strip():
        return decompose_by_rules(text, most=max_sub_questions or MOST_BY_RULES)
    decomposer = GeneratedDecomposer(generator, embedder=embedder, prompts=prompts, max_sub_questions=max_sub_questions or MOST)
    return decomposer(Question(text=text))


@dataclass(frozen=True)
class GivenDecomposer:
    """Splits questions as somebody did before: a person, or a run whose decompositions were kept in a file."""

    by_id: Mapping[str, tuple[SubQuestion, ...]]
    by_text: Mapping[str, tuple[SubQuestion, ...]]

    @classmethod
    def of(cls, traces: Iterable[Trace]) -> Self:
        """Take the sub-questions of traces, such as those of a file that ``rag-cover decompose`` wrote.

        Raises:
            InvalidValueError: one question is split in two ways.
        """
        by_id: dict[str, tuple[SubQuestion, ...]] = {}
        by_text: dict[str, tuple[SubQuestion, ...]] = {}
        for trace in traces:
            if trace.sub_questions is None:
                continue
            known = by_text.setdefault(_plain(trace.question.text), trace.sub_questions)
            if trace.question.id is not None:
                known = by_id.setdefault(trace.question.id, known)
            if known != trace.sub_questions:
                message = f"the question {trace.question.text[:100]!r} is split in two ways; leave one of them out"
                raise InvalidValueError(message)
        return cls(by_id, by_text)

    @property
    def source(self) -> RoleSource:
        """Return the name of what makes the sub-questions."""
        return "given"

    @property
    def fingerprint(self) -> str:
        """Return what names these decompositions in caches."""
        texts = {text: [each.model_dump() for each in subs] for text, subs in self.by_text.items()}
        return f"given:{content_hash([texts, sorted(self.by_id)])[:16]}"

    def __call__(self, question: Question) -> tuple[SubQuestion, ...]:
        """Look up one question.

        Raises:
            ModelFailedError: it was not split before.
        """
        found = self._find(question)
        if found is None:
            message = "the file of decompositions holds no sub-questions of this question"
            raise ModelFailedError(message, kind="not decomposed")
        return found

    def split(self, questions: Sequence[Question]) -> list[tuple[SubQuestion, ...] | Failure]:
        """Look up questions, by id where they have one that is known, else by their text."""
        missing = Failure("not decomposed", "the file of decompositions holds no sub-questions of this question")
        return [missing if (found := self._find(question)) is None else found for question in questions]

    def _find(self, question: Question) -> tuple[SubQuestion, ...] | None:
        known = self.by_id.get(question.id) if question.id is not None else None
        return known if known is not None else self.by_text.get(_plain(question.text))


def split_failures(traces: Sequence[Trace], decomposer: Decomposer | None) -> dict[int, Failure]:
    """Split the questions of traces without sub-questions and nuggets, all at once where the decomposer can; say which failed.

    A decomposer that can remembers the others, so that asking it for one of them costs nothing. Of one that cannot, no
    failure is known before it is asked.
    """
    bare = [index for index, trace in enumerate(traces) if trace.sub_questions is None and trace.nuggets is None]
    if not bare or not isinstance(decomposer, BatchDecomposer):
        return {}
    split = decomposer.split([traces[index].question for index in bare])
    return {index: each for index, each in zip(bare, split, strict=True) if isinstance(each, Failure)}


def source_of(decomposer: Decomposer | None) -> RoleSource:
    """Name what makes the sub-questions: rules, a model and which, or just some model."""
    if decomposer is None:
        return "rules"
    return decomposer.source if isinstance(decomposer, BatchDecomposer) else "model"


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
