"""Does this text answer this question, by a model that writes yes or no (`seq2seq`).

It is asked `templates.ANSWERS`; an item with references is asked `templates.AGREES` once for each of them, and the likeliest
counts. For a reply the user's question stands below the question that is judged. Every window of a text is asked about, and the
best speaks for it; what stands before the text is read up to half of an input.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem, is_part
from rag_cover_transformers.cross_encoder import best_answers, probability_cut
from rag_cover_transformers.seq2seq import Seq2SeqModel
from rag_cover_transformers.templates import AGREES, ANSWERS

__all__ = ["Seq2SeqScorer", "heads"]

Floats = NDArray[np.float32]


class Seq2SeqScorer:
    """A Scorer, with references too; thread-safe. ``order`` is what the two words mean."""

    def __init__(
        self, model: Seq2SeqModel, order: Sequence[str], *, words: Sequence[str] | None = None, threshold: float = 0.5
    ) -> None:
        self._order = tuple(order)
        self._answers, self._agrees = (model.classifier(template, words) for template in (ANSWERS, AGREES))
        self.threshold = probability_cut(threshold)
        self.reads_references = True
        self.fingerprint = f"{self._answers.fingerprint}:{','.join(order)}:{threshold}"

    def correctness(self, items: Sequence[ScoringItem]) -> Floats:
        """Return (n,) P(the text answers the question, as a reference does); 0 for a blank text."""
        asked = [(number, item, head) for number, item in enumerate(items) for head in heads(item)]
        encoders = [(self._agrees if item.references else self._answers).encoder for _, item, _ in asked]
        found = best_answers(
            self._answers,
            self._order,
            [(encoder, head, item.text) for encoder, (_, item, head) in zip(encoders, asked, strict=True)],
        )
        best = np.zeros(len(items), np.float32)
        np.maximum.at(best, np.array([number for number, *_ in asked], np.intp), found)
        return best


def heads(item: ScoringItem) -> list[str]:
    r"""Write what stands before the text: the question, and what else it is to be judged by.

    >>> heads(ScoringItem("Who wrote Emma?", "Austen.", ("Jane Austen", " ")))
    ['Who wrote Emma?\nCorrect answer: Jane Austen']
    >>> heads(ScoringItem("Who wrote Emma?", "Austen.", user_question="Who wrote Emma, and when?"))
    ['Who wrote Emma?\nThe text is a reply to: Who wrote Emma, and when?']
    """
    if item.references:
        return [f"{item.question}\nCorrect answer: {reference}" for reference in item.references]
    if not is_part(item.question, item.user_question):
        return [item.question]
    return [f"{item.question}\nThe text is a reply to: {item.user_question}"]
