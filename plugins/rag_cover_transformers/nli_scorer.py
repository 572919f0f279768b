"""Does this text answer this question, by a classifier that was trained for entailment alone.

The question becomes a statement about the text, and P(the text answers) is P(entailment) of it:

- a passage: the premise is the passage, the hypothesis ``This text answers the question: <question>``;
- a reply to a user's question: the same hypothesis, of the premise ``Question: <user question>``, ``Answer: <reply>``;
- with references: ``Question: <question>``, ``Answer: <text>`` is the premise and ``Question: <question>``,
  ``Answer: <reference>`` the hypothesis; of several references the likeliest counts.

A long text is read in windows as `NliEntailer` reads a premise, and the question stands before each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem
from rag_cover_transformers.cross_encoder import probability_cut
from rag_cover_transformers.entailer import NliEntailer

__all__ = ["HYPOTHESIS", "LEAD", "NliScorer", "statements"]

Floats = NDArray[np.float32]

HYPOTHESIS = "This text answers the question: {question}"
LEAD = "Question: {question}\nAnswer:"

_WORDING = 1
"""Of the fingerprint: another hypothesis or lead is another judge."""


class NliScorer:
    """A Scorer, with references too; thread-safe."""

    def __init__(self, entailer: NliEntailer, *, threshold: float = 0.5) -> None:
        self._entailer = entailer
        self.threshold = probability_cut(threshold)
        self.reads_references = True
        self.fingerprint = f"{entailer.fingerprint}:statements-{_WORDING}:{threshold}"

    def correctness(self, items: Sequence[ScoringItem]) -> Floats:
        """Return (n,) P(the text answers the question, as a reference does); 0 for a blank text."""
        asked = [(number, triple) for number, item in enumerate(items) for triple in statements(item)]
        entailed = self._entailer.entail_with_lead([triple for _, triple in asked])[:, 0]
        best = np.zeros(len(items), np.float32)
        np.maximum.at(best, np.array([number for number, _ in asked], np.intp), entailed)
        return best


def statements(item: ScoringItem) -> Iterator[tuple[str, str, str]]:
    r"""Write each (lead, premise, hypothesis) of an item.

    >>> list(statements(ScoringItem("Who wrote Emma?", "Jane Austen did.")))
    [('', 'Jane Austen did.', 'This text answers the question: Who wrote Emma?')]
    >>> list(statements(ScoringItem("Who wrote Emma?", "She did.", ("Jane Austen",))))
    [('Question: Who wrote Emma?\nAnswer:', 'She did.', 'Question: Who wrote Emma?\nAnswer: Jane Austen')]
    """
    if not item.references:
        lead = LEAD.format(question=item.user_question) if item.user_question else ""
        yield lead, item.text, HYPOTHESIS.format(question=item.question)
    lead = LEAD.format(question=item.question)
    for reference in item.references:
        yield lead, item.text, f"{lead} {reference}"
