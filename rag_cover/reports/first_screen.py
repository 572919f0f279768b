"""The few questions to read first: what was asked, what the answer says, and a core sub-question that it leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.questions import Role
from rag_cover.reports.question_page import QuestionView, SubQuestionView
from rag_cover.reports.sub_question_state import State

__all__ = ["WorstQuestion", "pick_worst_questions"]

_SHOWN = 160  # characters of a question: two lines at most
_SHOWN_OF_ANSWER = 260  # of which the page shows two lines
_LOST = frozenset(
    (State.UNUSED, State.SUB_ANSWER, State.DROPPED, State.MISSING, State.ABSENT, State.FAILED, State.UNCLEAR, State.UNKNOWN)
)


@dataclass(frozen=True, slots=True)
class WorstQuestion:
    """One question with a lost core sub-question; ``count`` says how many did better, of all.

    ``answer`` is None where there is none, and ``count`` is of retrieved ones then; ``more`` counts further losses.
    """

    name: str
    question: str
    pipeline: str
    answer: str | None
    count: str
    came: str
    lost: SubQuestionView
    lost_text: str
    more: int

    @property
    def target(self) -> str:
        """Return the anchor of the lost sub-question: of both its texts where the loss is unclear."""
        return f"{self.name}-{'u' if self.lost.state is State.UNCLEAR else 's'}{self.lost.number}"


def pick_worst_questions(questions: Sequence[QuestionView], *, limit: int = 3) -> list[WorstQuestion]:
    """Pick the questions with the largest share of core sub-questions lost; of equal ones those with more named losses."""
    lossy = [(question, lost) for question in questions if (lost := _describe_loss(question))]
    ordered = sorted(lossy, key=lambda pair: (-len(pair[1]) / len(_core(pair[0])), -sum(map(_is_named, pair[1]))))
    return [_worst_question(question, lost) for question, lost in ordered[:limit]]


def _core(question: QuestionView) -> list[SubQuestionView]:
    return [each for each in question.sub_questions if each.role == Role.CORE]


def _describe_loss(question: QuestionView) -> list[SubQuestionView]:
    """List the core sub-questions that were lost, those with a named loss first."""
    return sorted((each for each in _core(question) if each.state in _LOST), key=lambda each: not _is_named(each))


def _is_named(sub_question: SubQuestionView) -> bool:
    return sub_question.state not in (State.UNCLEAR, State.UNKNOWN)


def _worst_question(question: QuestionView, lost: Sequence[SubQuestionView]) -> WorstQuestion:
    total = len(_core(question))
    return WorstQuestion(
        name=question.name,
        question=_start_of(question.text, _SHOWN),
        pipeline=question.pipeline,
        answer=None
        if question.answer is None
        else _start_of("".join(piece.text for piece in question.answer), _SHOWN_OF_ANSWER),
        count=f"{total - len(lost)}/{total}",
        came="retrieved" if question.answer is None else "answered",
        lost=lost[0],
        lost_text=_start_of(lost[0].text, _SHOWN),
        more=len(lost) - 1,
    )


def _start_of(text: str, limit: int) -> str:
    words = " ".join(text[: 4 * limit].split())
    return f"{words[:limit]}…" if len(words) > limit else words
