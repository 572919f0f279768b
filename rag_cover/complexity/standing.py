"""Where a question stands with what retrieval brought back for it, and how that is written into a data set."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from rag_cover.backends import Failure
from rag_cover.complexity.question_types import kinds_of
from rag_cover.complexity.result import Complexity
from rag_cover.measures import NotApplicable, TraceResult

__all__ = ["Standing", "description_of", "hardness", "standing_of"]


class Standing(StrEnum):
    """Where a question stands, from the hardest on.

    What neither answers it nor is about all of it leaves it unanswerable by its corpus; so does nothing at all.
    """

    COMPLEX = "complex"
    UNANSWERABLE = "unanswerable"
    ANSWERABLE = "answerable"


def standing_of(complexity: Complexity) -> Standing:
    """Return where a question stands.

    >>> standing_of(Complexity(0.9, answerable=True, completeness=0.5, complete=False, is_complex=False, t_ans=0.15, t_com=0.8))
    <Standing.ANSWERABLE: 'answerable'>
    """
    if complexity.is_complex and complexity.max_answer_probability is not None:
        return Standing.COMPLEX
    return Standing.ANSWERABLE if complexity.answerable else Standing.UNANSWERABLE


def hardness(complexity: Complexity) -> tuple[int, float]:
    """Return what sorts questions from the easiest to the hardest.

    Complex ones are hardest, then the unanswerable; within these goes P(complex), or how little the best passage answers.
    """
    rank = len(Standing) - list(Standing).index(standing_of(complexity))
    if complexity.probability is not None:
        return rank, complexity.probability
    return rank, 1 - (complexity.max_answer_probability or 0.0)


def description_of(result: TraceResult) -> Mapping[str, Any]:
    """Describe a question as JSON data: where it stands and by which figures, or why that is not known, and its kinds."""
    kinds = {"kinds": [str(kind) for kind in kinds_of(result.trace.question.text)]}
    match result.outcomes.get("complexity"):
        case Complexity() as found:
            return {
                "standing": str(standing_of(found)),
                "is_complex": found.is_complex,
                "answerable": found.answerable,
                "complete": found.complete,
                "max_answer_probability": found.max_answer_probability,
                "completeness": found.completeness,
                "probability": found.probability,
                "references": found.references,
            } | kinds
        case NotApplicable(reason):
            return {"not_applicable": reason} | kinds
        case Failure(kind, message):
            return {"failed": f"{kind}: {message}"} | kinds
        case _:
            return kinds
