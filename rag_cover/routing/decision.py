"""What a question asks of a pipeline, by its retrieval complexity: one passage, several together, another corpus."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from rag_cover.complexity import Complexity, Standing, standing_of

__all__ = ["ROUTES", "Demand", "complexity_score", "demand_of", "evidence_lines"]

Demand = Literal["direct", "complex", "unanswerable"]
"""One passage suffices, the passages answer only together, or this corpus does not answer."""

ROUTES: Mapping[Demand, str] = MappingProxyType({"direct": "direct", "complex": "decompose", "unanswerable": "abstain"})
"""The names that routes have by default."""

_DEMANDS: Mapping[Standing, Demand] = {
    Standing.ANSWERABLE: "direct",
    Standing.COMPLEX: "complex",
    Standing.UNANSWERABLE: "unanswerable",
}


def complexity_score(complexity: Complexity) -> float:
    """Return what a cut is compared with: P(complex) where one was fitted, else 1 - the best answer probability.

    Without any passage it is 1.
    """
    if complexity.probability is not None:
        return complexity.probability
    return 1.0 - (complexity.max_answer_probability or 0.0)


def demand_of(complexity: Complexity, *, cut: float | None = None) -> tuple[Demand, str]:
    """Decide what a question needs of the pipeline, with the reason in one sentence.

    Args:
        complexity: of the question.
        cut: on `complexity_score`; decides between direct and complex in place of the thresholds.
    """
    best, demand = complexity.max_answer_probability, _DEMANDS[standing_of(complexity)]
    if best is None:
        return demand, "Nothing was retrieved for it."
    lacks = f"No single passage answers it (the best with {best:.2f}, where {complexity.t_ans:.2f} would suffice)"
    if demand == "unanswerable":
        return demand, f"{lacks}, nor are the passages about all of it (completeness {_completeness(complexity)})."
    if cut is not None:
        return _by_cut(complexity, cut)
    if complexity.constraints == "completeness":
        return demand, f"Decided by completeness alone: {_completeness(complexity)}."
    if demand == "direct":
        return demand, f"The best passage answers it with a probability of {best:.2f}, where {complexity.t_ans:.2f} suffices."
    together = f", but together they are about all of it (completeness {_completeness(complexity)})"
    return demand, f"{lacks}{together if complexity.complete and complexity.constraints == 'both' else ''}."


def evidence_lines(complexity: Complexity, cut: float | None) -> list[str]:
    """Write out, for people, the numbers that a question's demand rests on."""
    best = complexity.max_answer_probability
    return [
        f"best answer probability: {'none' if best is None else f'{best:.2f}'} (answerable from {complexity.t_ans:.2f})",
        f"completeness: {_completeness(complexity)}; read as {complexity.reading}",
        f"{_score_name(complexity)}: {complexity_score(complexity):.2f} "
        + ("(no cut)" if cut is None else f"(complex from {_cut_text(cut)})"),
        f"thresholds: {complexity.calibration or 'not fitted'}; decided by {complexity.constraints}",
    ]


def _by_cut(complexity: Complexity, cut: float) -> tuple[Demand, str]:
    score, name = complexity_score(complexity), _score_name(complexity)
    if score >= cut:
        return "complex", f"{name} = {score:.2f} reaches the cut of {_cut_text(cut)}."
    return "direct", f"{name} = {score:.2f} is below the cut of {_cut_text(cut)}."


def _completeness(complexity: Complexity) -> str:
    if complexity.completeness is None:
        return "not known"
    return f"{complexity.completeness:.2f}, where {complexity.t_com:.2f} is asked"


def _score_name(complexity: Complexity) -> str:
    return "1 - P(a passage answers)" if complexity.probability is None else "P(complex)"


def _cut_text(cut: float) -> str:
    return f"{cut:.2f}" if math.isfinite(cut) else "never"
