"""Which statements follow from which texts: the matrix that claims and citations are measured by, asked for in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from rag_cover.backends import Entailer
from rag_cover.grounding.statements import Statement, normalise, normalise_sentences, read_after_question, strip_markup
from rag_cover.model_calls import ask_relations
from rag_cover.questions import Passage, prepend_title

__all__ = ["EntailmentMatrix", "Premise", "ask_entailments"]


@dataclass(frozen=True, slots=True)
class Premise:
    """A text from which statements may follow, and its own sentences, which follow without asking."""

    text: str
    own: frozenset[str] = field(compare=False, repr=False)

    @classmethod
    def of(cls, text: str) -> Self:
        """Make a text a premise."""
        return cls(text, normalise_sentences(text))

    @classmethod
    def of_passages(cls, passages: Iterable[Passage]) -> Self:
        """Make passages, read one after the other, each after its title, one premise."""
        return cls.of("\n".join(prepend_title(passage.title, passage.text) for passage in passages))

    @classmethod
    def of_answer(cls, text: str, question: str) -> Self:
        """Make an answer a premise: without markup and citations, after its question where it has but a few words."""
        plain = strip_markup(text)
        return cls.of(read_after_question(plain, question) if plain else "")

    def quotes(self, statement: Statement) -> bool:
        """Tell whether the text has a statement word for word, as a sentence or a line of its own."""
        words = normalise(statement.words)
        return bool(words) and words in self.own


@dataclass(frozen=True, slots=True)
class EntailmentMatrix:
    """P(entailment) of pairs of premise and hypothesis that were asked about."""

    related: Mapping[tuple[str, str], tuple[float, float, float]]

    def probability(self, premise: Premise, statement: Statement) -> float:
        """Return how probable it is that a statement follows, in [0, 1].

        The best reading of the statement speaks, of a reading the weakest part. A sentence of the text itself follows, from a
        blank text nothing does.
        """
        if premise.quotes(statement):
            return 1.0
        if not premise.text.strip():
            return 0.0
        return max(min(self.related[premise.text, part][0] for part in reading) for reading in statement.readings)


def ask_entailments(entailer: Entailer, pairs: Iterable[tuple[Premise, Statement]]) -> EntailmentMatrix:
    """Ask whether statements follow from texts, all in one call.

    Raises:
        ModelFailedError: the entailer returned something that is no probability.
    """
    return EntailmentMatrix(ask_relations(entailer, (asked for pair in pairs for asked in _pairs_of(*pair))))


def _pairs_of(premise: Premise, statement: Statement) -> list[tuple[str, str]]:
    if not premise.text.strip() or premise.quotes(statement):
        return []
    return [(premise.text, hypothesis) for hypothesis in statement.hypotheses]
