"""One labelled pair, and what its labels mean."""

from __future__ import annotations

from dataclasses import dataclass

from rag_cover_embedded.inputs import Task

ENTAILMENT = {"entailment": 0, "neutral": 1, "contradiction": 2}
NOT_ENTAILED = 3  # neutral or contradiction, the data does not say which
NO_SPAN = (-1, -1)


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled pair.

    ``label`` is a class for entailment and a probability otherwise; ``span`` are code points of the answer in ``second``,
    ``NO_SPAN`` where the text does not answer, None where the place is unknown.
    """

    task: Task
    first: str
    second: str
    label: float
    span: tuple[int, int] | None = None
