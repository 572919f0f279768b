"""Which passages cover which sub-questions, each pair judged once however often it is looked at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Scorer, ScoringItem
from rag_cover.model_calls import ask_probabilities, threshold_in_range
from rag_cover.questions import Passage, prepend_title

__all__ = ["PassageEvidence"]


class PassageEvidence:
    """What a scorer says of passages, and the cut from which one covers a sub-question.

    Args:
        scorer: the judge.
        threshold: the probability from which a passage covers; the scorer's own unless given.

    Raises:
        InvalidValueError: a threshold outside [0, 1].
    """

    def __init__(self, scorer: Scorer, threshold: float | None = None) -> None:
        self._scorer = scorer
        self.threshold = threshold_in_range(scorer.threshold if threshold is None else threshold)
        self._known: dict[ScoringItem, float] = {}

    def judge(self, texts: Iterable[str], passages: Sequence[Passage]) -> None:
        """Judge every pair of a sub-question and a passage that is not known yet, in one call.

        Raises:
            ModelFailedError: the scorer failed, or returned something that is no verdict.
        """
        items = [item for text in texts for passage in passages if (item := _item(text, passage)).text]
        self._known |= ask_probabilities(self._scorer, (item for item in items if item not in self._known))

    def probabilities(self, texts: Sequence[str], passages: Sequence[Passage]) -> NDArray[np.float64]:
        """Return (texts, passages) P(covers) of pairs that were judged, NaN of others: a passage without a text is not."""
        rows = [[self._known.get(_item(text, passage), math.nan) for passage in passages] for text in texts]
        return np.array(rows, dtype=np.float64).reshape(len(texts), len(passages))

    def covering(self, texts: Sequence[str], passages: Sequence[Passage], *, sure: float | None = None) -> NDArray[np.bool_]:
        """Return (texts, passages) which passages, all of which were judged, cover what.

        Where some passage surely covers a sub-question, from the probability ``sure`` on, those that may do so do not count.
        """
        found = self.probabilities(texts, passages)
        cuts = np.full((len(texts), 1), self.threshold)
        if sure is not None and len(passages):
            cuts[np.fmax.reduce(found, axis=1) >= sure] = max(sure, self.threshold)
        return np.asarray(found >= cuts)

    def best(self, text: str, passages: Sequence[Passage]) -> float | None:
        """Return the highest P(covers) of those passages that were judged, None where none was."""
        return max((known for each in passages if (known := self._known.get(_item(text, each))) is not None), default=None)

    def covers(self, text: str, passages: Sequence[Passage], *, cut: float | None = None) -> bool:
        """Check whether a passage that was judged covers a sub-question, by another cut if one is given."""
        best = self.best(text, passages)
        return best is not None and best >= (self.threshold if cut is None else cut)


def _item(text: str, passage: Passage) -> ScoringItem:
    return ScoringItem(text, prepend_title(passage.title, passage.text) if passage.text.strip() else "")
