"""Traces made from multi-hop questions, for timing: ordinary ones and long documents.

Only questions that were never trained on: 2WikiMultihopQA of the test buckets, MuSiQue and HotpotQA. A trace depends on its
number and the seed alone, so that any number of them can be made one by one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.support.datasets import Hop, hops_of, multihop_rows, paragraphs_of
from rag_cover import Passage, Question, RetrievalStep, Role, SubQuestion, Trace
from rag_cover.texts import sentences

SUB_QUESTIONS = 8
ANSWERED = 6
PASSAGES = 5
PASSAGE_WORDS = 120
LONGEST_PARAGRAPH = 110
DOCUMENT_SUB_QUESTIONS = 20
DOCUMENT_ANSWERED = 10
DOCUMENT_WORDS = 20_000


@dataclass(frozen=True)
class Material:
    """What traces are made of: single-hop questions and paragraphs."""

    hops: tuple[Hop, ...]
    paragraphs: tuple[str, ...]

    @classmethod
    def read(cls, data: Path) -> Material:
        """Read the multi-hop questions of the test part."""
        rows = multihop_rows(data, "test")
        hops = {hop.question: hop for row in rows for hop in hops_of(row) if _words(hop.paragraph) <= LONGEST_PARAGRAPH}
        return cls(tuple(hops.values()), tuple(dict.fromkeys(text for row in rows for _, text in paragraphs_of(row))))

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Return the sentences of all paragraphs."""
        return tuple(span.of(text) for text in self.paragraphs for span in sentences(text))

    def short(self, number: int, seed: int) -> Trace:
        """Make a trace of 8 sub-questions, 5 passages of about 120 words that answer them, and an answer to 6 of them."""
        rng = random.Random(f"short {seed} {number}")  # noqa: S311  # a sample, not a secret
        hops = rng.sample(self.hops, SUB_QUESTIONS)
        answer = " ".join(hop.answer for hop in rng.sample(hops, ANSWERED))
        return _trace(number, hops, self._passages(hops, rng), answer)

    def long(self, number: int, seed: int) -> Trace:
        """Make a trace of 20 sub-questions and one document of about 20,000 words that answers 10 of them, anywhere."""
        rng = random.Random(f"long {seed} {number}")  # noqa: S311  # a sample, not a secret
        hops = rng.sample(self.hops, DOCUMENT_SUB_QUESTIONS)
        answering = {hop.paragraph for hop in hops}
        parts = list(dict.fromkeys(hop.paragraph for hop in hops[:DOCUMENT_ANSWERED]))
        others = [text for text in rng.sample(self.paragraphs, len(self.paragraphs)) if text not in answering]
        words = sum(map(_words, parts))
        while words < DOCUMENT_WORDS:
            parts.append(others.pop())
            words += _words(parts[-1])
        rng.shuffle(parts)
        return _trace(number, hops, ["\n\n".join(parts)], None)

    def _passages(self, hops: Sequence[Hop], rng: random.Random) -> list[str]:
        """Spread the answering paragraphs over five passages and fill these up with sentences from elsewhere."""
        passages: list[list[str]] = [[] for _ in range(PASSAGES)]
        for paragraph in sorted({hop.paragraph for hop in hops}, key=lambda text: (-_words(text), text)):
            min(passages, key=lambda parts: sum(map(_words, parts))).append(paragraph)
        for parts in passages:
            while sum(map(_words, parts)) < PASSAGE_WORDS:
                parts.append(rng.choice(self.sentences))
            rng.shuffle(parts)
        return [" ".join(parts) for parts in passages]


def traces(material: Material, case: str, count: int, seed: int) -> Iterator[Trace]:
    """Make traces of one case, one by one."""
    make = material.short if case == "short" else material.long
    return (make(number, seed) for number in range(count))


def texts_of(trace: Trace) -> list[str]:
    """Return the texts that are judged for each sub-question of a trace."""
    return [*(passage.text for passage in trace.chunks), *([trace.answer] if trace.answer is not None else [])]


def _trace(number: int, hops: Sequence[Hop], passages: Sequence[str], answer: str | None) -> Trace:
    question = f"What is known about these {len(hops)} things?"
    return Trace(
        id=f"{number}",
        question=Question(question),
        steps=(RetrievalStep(query=question, passages=tuple(map(Passage, passages))),),
        sub_questions=tuple(SubQuestion(hop.question, role=Role.CORE) for hop in hops),
        answer=answer,
    )


def _words(text: str) -> int:
    return len(text.split())
