"""The embedded judge as the first of a cascade."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover import Passage
from rag_cover.backends import ScoringItem
from rag_cover.cascade import CascadeJudge, CascadeSettings
from rag_cover.complexity import complexity_of
from rag_cover_embedded.judge import EmbeddedJudge

SHOWN = [Passage("The Eiffel Tower was completed in 1889."), Passage("The Seine flows through Paris.")]


class Yes:
    """A model that says yes to everything."""

    threshold = 0.5
    fingerprint = "yes"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        return np.ones(len(items), dtype=np.float32)


@pytest.mark.parametrize(
    "question", ["When was the Eiffel Tower completed?", "Who designed the Eiffel Tower, and who wrote Emma?"]
)
def test_within_a_budget_complexity_is_that_of_the_first_judge(judge: EmbeddedJudge, question: str) -> None:
    cascade = CascadeJudge(judge, Yes(), CascadeSettings(max_calls=2))

    assert complexity_of(question, SHOWN, cascade, references=()) == complexity_of(question, SHOWN, judge, references=())
