"""How far a sub-question came on its way into the answer: one state, one word and one picture for it everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from rag_cover.coverage import CoverageResult, Loss, SubQuestionCoverage
from rag_cover.questions import Role

__all__ = ["ROLES", "State", "by_role", "core_coverage", "has_lost_core", "state_of"]


class State(StrEnum):
    """Where a sub-question ended up, from the best to the worst."""

    ANSWERED = "answered"
    MEMORY = "answered, though not retrieved"
    UNUSED = "in the prompt, not used"
    DROPPED = "retrieved, then dropped"
    MISSING = "not retrieved"
    FAILED = "its retrieval failed"
    UNCLEAR = "not answered; where it was lost is unclear"
    RETRIEVED = "retrieved; there is no answer to judge"
    UNKNOWN = "not answered; where it was lost is not known"

    @property
    def css(self) -> str:
        """Return the name of its style class."""
        return self.name.lower()


ROLES: tuple[str, ...] = (*Role, "untyped")
"""The order in which roles are shown."""

_LOST: Mapping[Loss, State] = {
    Loss.UNUSED: State.UNUSED,
    Loss.DROPPED: State.DROPPED,
    Loss.NOT_RETRIEVED: State.MISSING,
    Loss.FAILED: State.FAILED,
}


def state_of(sub_question: SubQuestionCoverage) -> State:
    """Tell how far a sub-question came."""
    if sub_question.answer is not None and sub_question.answer.covered:
        return State.MEMORY if sub_question.retrieved is False else State.ANSWERED
    if sub_question.loss is not None:
        return _LOST[sub_question.loss] if sub_question.is_loss_clear else State.UNCLEAR
    if sub_question.answer is None and sub_question.retrieved is not None:
        return State.RETRIEVED if sub_question.retrieved else State.MISSING
    return State.UNKNOWN


def by_role(coverage: CoverageResult) -> list[tuple[int, SubQuestionCoverage]]:
    """Number the sub-questions as they are shown: core ones first, those without a role last."""
    ordered = sorted(coverage.sub_questions, key=lambda sub_question: ROLES.index(sub_question.role or "untyped"))
    return list(enumerate(ordered, 1))


def core_coverage(coverage: CoverageResult | None) -> tuple[int, int] | None:
    """Count the answered and the judged core sub-questions of one trace; None where none was judged."""
    verdicts = [] if coverage is None else [s.answer for s in coverage.sub_questions if s.role == Role.CORE and s.answer]
    return (sum(verdict.covered for verdict in verdicts), len(verdicts)) if verdicts else None


def has_lost_core(coverage: CoverageResult | None) -> bool:
    """Tell whether a core sub-question was judged and is not in the answer."""
    counts = core_coverage(coverage)
    return counts is not None and counts[0] < counts[1]
