"""The rule that ships for routing: the question's steps, and whether a judge finds them answered in what was retrieved.

A question that names its steps (`rag_cover.decomposition.multihop.hops_of`: "Who directed the film that …?") or asks several
things ("What does it cost, and when does it open?") needs several passages: it is complex where its steps are answered, else
unanswerable. Any other question is direct where the passages answer it, else unanswerable.
Both probabilities are those of a logistic regression on what the judge says, fitted for one judge
(`benchmarks/routing/mixed_stream.py`) and centred on even odds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from rag_cover.backends import Scorer, numbers_for
from rag_cover.complexity import Complexity, complexity_of
from rag_cover.decomposition.multihop import hops_of
from rag_cover.decomposition.multihop.slots import slots_in
from rag_cover.decomposition.rules import decompose_by_rules
from rag_cover.english.indirect import ask_plainly
from rag_cover.questions import Passage, Role
from rag_cover.routing.decision import Demand
from rag_cover.stats.calibrations import read_shipped_numbers
from rag_cover.stats.logistic import logit_of, probabilities_of

__all__ = ["EVIDENCE_NUMBERS", "EvidenceRule", "QuestionSteps", "evidence_rule_for", "read_steps", "steps_in"]

EVIDENCE_NUMBERS = Path(__file__).with_name("evidence.json")

_EDGE = 0.005  # a probability nearer to 0 or 1 is taken for this far from it
_BEST = 5
_EVEN = 0.5
_MOST_STEPS = 6


@dataclass(frozen=True, slots=True)
class QuestionSteps:
    """The steps of a question, ``#1`` for the answer of the first.

    ``answered`` is, for each step that stands alone, the probability in [0, 1] that the best passage answers it.
    """

    texts: tuple[str, ...] = ()
    answered: tuple[float, ...] = ()

    @property
    def is_nested(self) -> bool:
        """Return whether the question has several steps."""
        return len(self.texts) > 1


@dataclass(frozen=True, slots=True)
class EvidenceRule:
    """The weights (1 + k,) of both regressions, the intercept first, and what they were fitted on.

    ``single`` weighs `single_columns`, ``nested`` weighs `nested_columns`.
    """

    single: tuple[float, ...]
    nested: tuple[float, ...]
    name: str
    n: int

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the numbers that ship."""
        return cls(tuple(data["single"]), tuple(data["nested"]), data["name"], data["n"])

    def probability(self, complexity: Complexity, steps: QuestionSteps) -> float:
        """Return P(what was retrieved answers the question), in [0, 1]."""
        if steps.is_nested:
            return float(probabilities_of(self.nested, [self.nested_columns(complexity, steps)])[0])
        return float(probabilities_of(self.single, [self.single_columns(complexity)])[0])

    def decide(self, complexity: Complexity, steps: QuestionSteps) -> tuple[Demand, str]:
        """Decide what a question needs of the pipeline, with the reason in one sentence."""
        if complexity.max_answer_probability is None:
            return "unanswerable", "Nothing was retrieved for it."
        found = self.probability(complexity, steps)
        if found < _EVEN:
            what = "its steps" if steps.is_nested else "it"
            return "unanswerable", f"The passages hardly answer {what}: P(answered) = {found:.2f}."
        if steps.is_nested:
            return "complex", f"It has {len(steps.texts)} steps, which the passages answer: P(answered) = {found:.2f}."
        return "direct", f"It has one step, which the passages answer: P(answered) = {found:.2f}."

    @staticmethod
    def single_columns(complexity: Complexity) -> list[float]:
        """Return the (9,) columns of a question of one step.

        The log-odds of the best three passages, and the mean of the best five; then, each from 0 to 1, how far all passages
        cover the question's words (mean, least word), how far the best passage does (mean, least word), and the gap of means.
        """
        ordered = sorted(complexity.answer_probabilities, reverse=True)
        odds = [logit_of(value, edge=_EDGE) for value in (*ordered, *[0.0] * _BEST)[: max(len(ordered), _BEST)]]
        relevance = np.array(complexity.relevance or ((0.0,),), dtype=np.float64)
        best = relevance[int(np.argmax(complexity.answer_probabilities))] if complexity.relevance else relevance[0]
        whole = relevance.max(axis=0)
        words = [whole.mean(), whole.min(), best.mean(), best.min(), whole.mean() - best.mean()]
        return [*odds[:3], float(np.mean(odds[:_BEST])), *map(float, words)]

    @staticmethod
    def nested_columns(complexity: Complexity, steps: QuestionSteps) -> list[float]:
        """Return (2,) columns: log-odds of the best and of the least answered step that stands alone."""
        answered = steps.answered or (complexity.max_answer_probability or 0.0,)
        return [logit_of(max(answered), edge=_EDGE), logit_of(min(answered), edge=_EDGE)]


def steps_in(question: str) -> tuple[str, ...]:
    """Split a question into its steps, or into what it asks in so many words; () where it asks one thing.

    >>> steps_in("When was the director of film Jaws born?")
    ('Who is the director of film Jaws?', 'When was #1 born?')
    >>> steps_in("What does a day pass cost, and when does the shop open?")
    ('What does a day pass cost?', 'When does the shop open?')
    """
    if hops := hops_of(question):
        return tuple(hops)
    parts = decompose_by_rules(question, most=_MOST_STEPS)
    core = tuple(part.text for part in parts if part.role is Role.CORE)
    return core if len(core) > 1 else ()


def read_steps(question: str, passages: Sequence[Passage], scorer: Scorer) -> QuestionSteps:
    """Split a question into its steps, and ask the judge about those that stand alone, where there are several.

    Raises:
        ModelFailedError: the scorer failed on every passage.
    """
    texts = steps_in(ask_plainly(question))
    alone = [text for position, text in enumerate(texts, 1) if not slots_in(text, position=position)]
    found = [complexity_of(text, passages, scorer, references=()) for text in alone]
    return QuestionSteps(texts, tuple(each.max_answer_probability or 0.0 for each in found))


def evidence_rule_for(fingerprint: str) -> EvidenceRule | None:
    """Return the rule that was fitted for a judge, known by its fingerprint; None for a judge that none was fitted for."""
    return numbers_for(fingerprint, _shipped_rules())


@cache
def _shipped_rules() -> Mapping[str, EvidenceRule]:
    return {name: EvidenceRule.from_dict(each) for name, each in read_shipped_numbers(EVIDENCE_NUMBERS).items()}
