"""Whether a question is complex for what was retrieved for it: the two constraints and their verdict (RRCP).

Gabburo et al., "Measuring retrieval complexity in question answering systems" (ACL Findings 2024). With s_i the probability
that document i contains a correct answer, and S_D the completeness of the retrieved set (`rag_cover.complexity.completeness`):

    Ans = 1 iff max_i s_i ≥ T_ans        Com = 1 iff S_D ≥ T_com        complex iff Ans = 0 and Com = 1

what was retrieved is about the whole question, but no single document answers it. Without documents Ans = 0 and S_D = 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from rag_cover.complexity.choices import AnswerSource, CompletenessMethod, Constraints
from rag_cover.complexity.completeness import completeness_of, relevance_matrix
from rag_cover.errors import InvalidValueError

__all__ = [
    "T_ANS",
    "T_COM",
    "ComplexityDecision",
    "Evidence",
    "Evidential",
    "refuse_improbable",
    "verdict_of",
]

T_ANS = 0.15
T_COM = 0.80
"""The paper's thresholds, which hold for its own model: with relevance that is nearly flat, nearly all sets are complete."""


class Evidential(Protocol):
    """Whatever tells of each retrieved document how likely it answers, and its relevance to each token of the question."""

    @property
    def answer_probabilities(self) -> tuple[float, ...]:
        """Return (D,) probabilities."""
        ...

    @property
    def relevance(self) -> tuple[tuple[float, ...], ...] | None:
        """Return (D, Q) relevance, at least 0; None where no model tells."""
        ...

    @property
    def references(self) -> AnswerSource:
        """Return what right answers were judged by."""
        ...

    @property
    def twofold(self) -> bool:
        """True if each probability is P(correct | references) times P(correct): the scorer was asked twice."""
        ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """What retrieved documents say of a question, in numbers: (D,) answer probabilities, (D, Q) relevance or None.

    ``references`` and ``twofold`` tell how the scorer was asked (`rag_cover.complexity.evidence`).
    """

    answer_probabilities: tuple[float, ...]
    relevance: tuple[tuple[float, ...], ...] | None = None
    references: AnswerSource = "none"
    twofold: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no probability, and relevance of another shape."""
        refuse_improbable(self.answer_probabilities)
        if self.relevance is not None:
            relevance_matrix(self.relevance, documents=len(self.answer_probabilities))


@dataclass(frozen=True, slots=True)
class ComplexityDecision:
    """The two constraints, what each rests on, and whether they make the question complex."""

    max_answer_probability: float | None
    answerable: bool
    completeness: float | None
    complete: bool | None
    is_complex: bool


def verdict_of(
    answer_probabilities: Sequence[float],
    relevance: ArrayLike | None,
    *,
    t_ans: float = T_ANS,
    t_com: float = T_COM,
    reading: CompletenessMethod = "token-entropy",
    temperature: float | None = None,
    constraints: Constraints = "both",
) -> ComplexityDecision:
    """Decide whether a question is complex.

    >>> verdict = verdict_of([0.10, 0.05], [[2, 1, 1], [1, 1, 2]])
    >>> verdict.answerable, round(verdict.completeness, 3), verdict.is_complex
    (False, 0.946, True)

    Args:
        answer_probabilities: (D,), in [0, 1].
        relevance: (D, Q), at least 0; None where no model tells: completeness is None then, and answerability decides alone.
        t_ans: the probability from which a document answers the question.
        t_com: the completeness from which the set is about the whole question.
        reading: how completeness is read from relevance.
        temperature: peaks relevance first; None leaves it as it is.
        constraints: which of the two decide; with one alone, complex iff not answerable, or iff complete.

    Raises:
        InvalidValueError: what is no probability, relevance of another shape or below 0, or completeness asked to decide
            alone without relevance.
    """
    refuse_improbable(answer_probabilities)
    if relevance is None and constraints == "completeness":
        message = "completeness cannot decide without relevance; name a relevance model, or ask for answerability"
        raise InvalidValueError(message)
    best = max(answer_probabilities, default=None)
    answerable = best is not None and best >= t_ans
    completeness = None
    if relevance is not None:
        completeness = completeness_of(relevance, documents=len(answer_probabilities), reading=reading, temperature=temperature)
    complete = None if completeness is None else completeness >= t_com
    return ComplexityDecision(best, answerable, completeness, complete, _decide(answerable, complete, constraints))


def _decide(answerable: bool, complete: bool | None, constraints: Constraints) -> bool:  # noqa: FBT001  # the two facts
    match constraints:
        case "both":
            return not answerable and complete is not False
        case "answerability":
            return not answerable
        case "completeness":
            return complete is True


def refuse_improbable(probabilities: Sequence[float]) -> None:
    """Refuse a list in which something is no probability.

    Raises:
        InvalidValueError: a value outside [0, 1], or NaN.
    """
    array = np.asarray(probabilities, dtype=np.float64)
    if array.ndim != 1:
        message = f"answer probabilities are one number per document, not an array of shape {array.shape}"
        raise InvalidValueError(message)
    for place, value in enumerate(array.tolist()):
        if not (math.isfinite(value) and 0 <= value <= 1):
            message = f"answer_probabilities[{place}] is {value}; a probability lies in [0, 1]"
            raise InvalidValueError(message)
