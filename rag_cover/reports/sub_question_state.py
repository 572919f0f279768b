"""How far a sub-question came on its way into the answer: one state, one word and one picture for it everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from rag_cover.coverage import CorpusSearch, CoverageResult, Loss, SubQuestionCoverage
from rag_cover.coverage.corpus_search import Remedy
from rag_cover.placeholder import Placeholder
from rag_cover.questions import Role
from rag_cover.reports.sanitise import one_line

__all__ = ["ROLES", "State", "by_role", "core_coverage", "describe_search", "describe_state", "has_lost_core", "state_of"]


class State(StrEnum):
    """Where a sub-question ended up, from the best to the worst."""

    ANSWERED = "answered"
    MEMORY = "answered, though not retrieved"
    UNUSED = "in the prompt, not used"
    SUB_ANSWER = "left out of a sub-answer"
    DROPPED = "retrieved, then dropped"
    MISSING = "not retrieved"
    ABSENT = "not in the corpus"
    FAILED = "its retrieval failed"
    UNCLEAR = "not answered; where it was lost is unclear"
    RETRIEVED = "retrieved; there is no answer to judge"
    UNKNOWN = "not answered; where it was lost is not known"

    @property
    def css(self) -> str:
        """Return the name of its style class: that of a passage that was not used, also where that was in a sub-answer."""
        return State.UNUSED.css if self is State.SUB_ANSWER else self.name.lower()


ROLES: tuple[str, ...] = (*Role, "untyped")
"""The order in which roles are shown."""

_LOST: Mapping[Loss, State] = {
    Loss.UNUSED: State.UNUSED,
    Loss.SUB_ANSWER: State.SUB_ANSWER,
    Loss.DROPPED: State.DROPPED,
    Loss.NOT_RETRIEVED: State.MISSING,
    Loss.NOT_IN_CORPUS: State.ABSENT,
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


def describe_state(sub_question: SubQuestionCoverage, *, limit: int = 100) -> str:
    """Say how far a sub-question came, and in which part of the pipeline it was lost where that is known."""
    state = state_of(sub_question)
    engine = sub_question.lost_by
    if state is State.MISSING and sub_question.corpus is not None:
        return describe_search(sub_question.corpus)
    is_named = state is State.SUB_ANSWER and engine is not None and Placeholder.read(engine) is None
    return f"{state} by {one_line(engine or '', limit=limit)}" if is_named else str(state)


_REMEDIES: Mapping[Remedy, str] = {
    "query": "this sub-question as a query would have brought it",
    "k": "a larger k would have brought it",
    "retriever": "another retriever would have brought it",
}


def describe_search(search: CorpusSearch) -> str:
    """Say that a sub-question is in the corpus, at which rank, and what would have brought it."""
    if search.error is not None:
        return f"{State.MISSING}; the search of the corpus failed"
    if (found := search.covering) is None or search.remedy is None:
        return str(State.ABSENT)
    place = f", at rank {found.question_rank} for the question" if found.question_rank is not None else ""
    return f"in the corpus, not retrieved: {_REMEDIES[search.remedy]}{place}"


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
