"""Which passages cover which sub-questions, each pair judged once however often it is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Scorer, ScoringItem
from rag_cover.coverage.passages import titled
from rag_cover.questions import Passage
from rag_cover.verdicts import probabilities, threshold_in_range

__all__ = ["Evidence"]


class Evidence:
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
        self._known |= probabilities(self._scorer, (item for item in items if item not in self._known))

    def probabilities(self, texts: Sequence[str], passages: Sequence[Passage]) -> NDArray[np.float64]:
        """Return (texts, passages) P(covers) of pairs that were judged; a passage without a text covers nothing."""
        rows = [[self._known.get(_item(text, passage), 0.0) for passage in passages] for text in texts]
        return np.array(rows, dtype=np.float64).reshape(len(texts), len(passages))

    def best(self, text: str, passages: Sequence[Passage]) -> float:
        """Return the highest P(covers) of passages that were judged, 0 without any."""
        return float(self.probabilities([text], passages).max(initial=0.0))

    def covers(self, text: str, passages: Sequence[Passage], *, cut: float | None = None) -> bool:
        """Tell whether one of the passages, all of which were judged, covers a sub-question, by another cut if one is given."""
        return bool(passages) and self.best(text, passages) >= (self.threshold if cut is None else cut)


def _item(text: str, passage: Passage) -> ScoringItem:
    return ScoringItem(text, titled(passage.title, passage.text) if passage.text.strip() else "")
