"""What a summary or a comparison needs of the results, gathered by question in one pass."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag_cover.complexity.descriptions import Standing, standing_of
from rag_cover.coverage import CoverageTable, statistics_as_rated, statistics_of, table_of
from rag_cover.questions import Question, Role
from rag_cover.measures import TraceResult
from rag_cover.results import Complexity, CoverageResult, GroundednessResult, Loss, TraceUtility
from rag_cover.stand_ins import StandIn
from rag_cover.summaries.rows import QuestionRows

__all__ = ["Sums", "question_key"]

Floats = NDArray[np.float64]

_NO_COVERAGE: Floats = statistics_of(CoverageTable())
_COLUMNS = len(_NO_COVERAGE) + 12  # those of coverage, then those of the other measures


@dataclass(slots=True)
class Sums:
    """By question: a row of additive quantities (as `metrics` lays them out), and core losses."""

    rows: QuestionRows = field(default_factory=lambda: QuestionRows(_COLUMNS))
    losses: QuestionRows = field(init=False)

    def __post_init__(self) -> None:
        """Count losses beside the rows."""
        self.losses = QuestionRows(len(Loss), places=self.rows.places)

    def add(self, result: TraceResult) -> None:
        """Add one trace's result to its question's row."""
        key = question_key(result.trace.question)
        parts = (_covered(result.coverage), _grounded(result.groundedness), _useful(result.utility), _hard(result.complexity))
        self.rows.add(key, np.concatenate(parts))
        if result.coverage:
            lost = [each.loss for each in result.coverage.sub_questions if each.role == Role.CORE]
            self.losses.add(key, [lost.count(loss) for loss in Loss])

    def losses_of(self, questions: Iterable[str]) -> dict[Loss, int]:
        """Count where these questions' core sub-questions were lost."""
        return {loss: int(total) for loss, total in zip(Loss, self.losses.sums_of(questions), strict=True)}


def question_key(question: Question) -> str:
    """Tell questions apart: by id where there is one, else by text up to case, width and white space.

    >>> question_key(Question("Why  is the sky blue?")) == question_key(Question("why is the sky BLUE?"))
    True
    """
    if question.id is not None:
        return f"id:{question.id}"
    if (told := StandIn.read(question.text)) and told.asked_as:
        return f"text:{told.asked_as}"
    return "text:" + " ".join(unicodedata.normalize("NFKC", question.text).casefold().split())


def _covered(coverage: CoverageResult | None) -> Floats:
    return statistics_as_rated(table_of(coverage), coverage.rating) if coverage else _NO_COVERAGE


def _grounded(grounded: GroundednessResult | None) -> list[float]:
    sentences = grounded.sentences if grounded else ()
    return [sum(sentence.supported for sentence in sentences), len(sentences)]


def _useful(utility: TraceUtility | None) -> list[float]:
    if utility is None:
        return [0.0] * 4
    return [utility.total.value, 1.0, sum(step.marginal.value < 0 for step in utility.steps), len(utility.steps)]


def _hard(complexity: Complexity | None) -> list[float]:
    if complexity is None:
        return [0.0] * 6
    completeness = [0.0, 0.0] if complexity.completeness is None else [complexity.completeness, 1.0]
    return [standing_of(complexity) == Standing.COMPLEX, 1.0, complexity.answerable, 1.0, *completeness]
