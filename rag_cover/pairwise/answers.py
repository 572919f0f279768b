"""What is compared pair by pair: of each pipeline the first answer to each question, with its coverage rating."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from rag_cover.backends import Failure
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.pairwise.win_rates import UnjudgedPair
from rag_cover.question_keys import question_key

__all__ = ["Answer", "AnswerPair", "AnswersByQuestion"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, None where the trace has none; where ``rating`` is None, ``unrated_because`` says why.

    ``sub_questions`` are those that it was rated by.
    """

    question: str
    text: str | None
    rating: float | None = None
    unrated_because: str = "coverage was not measured"
    rating_failed: bool = False
    sub_questions: frozenset[str] = frozenset()

    @classmethod
    def of(cls, result: TraceResult) -> Self:
        """Take the answer of a trace, and what coverage says of it."""
        question, text, coverage = result.trace.question.text, result.trace.answer, result.coverage
        if coverage is None:
            return cls(question, text, None, _why_unrated(result), "coverage" in result.failures)
        because = "no sub-question has both a role and a verdict on the answer" if coverage.rating is None else ""
        return cls(
            question, text, coverage.rating, because, sub_questions=frozenset(each.text for each in coverage.sub_questions)
        )


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """Two pipelines' answers to one question, to be judged; ``question`` is what tells questions apart."""

    question: str
    a: str
    b: str
    answer_a: Answer
    answer_b: Answer

    @property
    def is_rated_alike(self) -> bool:
        """Return whether both were rated, by the same sub-questions."""
        return bool(self.answer_a.sub_questions) and self.answer_a.sub_questions == self.answer_b.sub_questions

    def leave_unjudged(self, reason: str, *, failed: bool = False) -> UnjudgedPair:
        """Leave the pair without a verdict."""
        return UnjudgedPair(self.question, self.a, self.b, reason, failed)


@dataclass(slots=True)
class AnswersByQuestion:
    """One evaluation's answers, the first to each question; ``repeated`` are the questions that have more."""

    first: dict[str, Answer] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    pipelines: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Iterable[TraceResult]) -> Self:
        """Gather the answers of an evaluation, in one pass."""
        answers = cls()
        for result in results:
            key = question_key(result.trace.question)
            if key in answers.first:
                answers.repeated.add(key)
            else:
                answers.first[key] = Answer.of(result)
            if result.trace.pipeline:
                answers.pipelines[result.trace.pipeline] = None
        return answers


def _why_unrated(result: TraceResult) -> str:
    match result.outcomes.get("coverage"):
        case NotApplicable(reason):
            return reason
        case Failure(kind, message):
            return f"{kind}: {message}"
        case _:
            return "coverage was not measured"
