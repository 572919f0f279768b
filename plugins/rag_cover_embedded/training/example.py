"""One labelled pair, and what its labels mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover_embedded.inputs import Task

ENTAILMENT = {"entailment": 0, "neutral": 1, "contradiction": 2}
NOT_ENTAILED = 3  # neutral or contradiction, the data does not say which
NO_SPAN = (-1, -1)
ABSTAINS = {"no": 0, "partly": 1, "wholly": 2}


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled pair.

    ``label`` is a class for entailment and a probability otherwise; ``span`` are code points of the answer in ``second``,
    ``NO_SPAN`` where the text does not answer, None where the place is unknown. ``references`` belong to answer correctness.
    ``touched`` (for *answers*) is text whose words of the question ``second`` speaks of besides those it repeats, None where
    that is unknown. ``user_question`` is what a reply was given to; ``abstains`` is its class of abstention, None where
    unknown; a label of None trains no other head. ``weight`` scales the loss.
    """

    task: Task
    first: str
    second: str
    label: float | None
    span: tuple[int, int] | None = None
    references: tuple[str, ...] = ()
    touched: str | None = None
    user_question: str = ""
    abstains: int | None = None
    weight: float = 1.0


def answering(question: str, text: str, span: tuple[int, int] | None = None) -> Example:
    """Label a text that answers a question: it speaks of all the question's words."""
    return Example(Task.ANSWERS, question, text, 1.0, span, touched=question)


def not_answering(question: str, text: str, *, label: float = 0.0, touched: str = "") -> Example:
    """Label a text that does not answer a question: it speaks of the words that it repeats, and of those in ``touched``."""
    return Example(Task.ANSWERS, question, text, label, NO_SPAN, touched=touched)


def agreeing(question: str, references: Sequence[str], text: str, label: float) -> Example:
    """Label an answer with the probability that it agrees with the references."""
    return Example(Task.CORRECT, question, text, label, references=tuple(references))
