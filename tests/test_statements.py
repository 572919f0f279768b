"""Statements that a text makes word for word, and those that a judge is asked about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.statements import StatementItem, judge_statements


class Unsure:
    """An entailer that is sure of nothing, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        self.asked += pairs
        return np.full((len(pairs), 3), (0.4, 0.5, 0.1), dtype=np.float32)


@pytest.mark.parametrize(
    "text",
    [
        "A day pass costs 14 euros.",
        "Hello. A day pass  costs 14 Euros! The deposit is 50.",
        "- A day pass costs 14 euros\n- Bye",
    ],
)
def test_what_stands_there_word_for_word_is_stated_without_asking(text: str) -> None:
    judge = Unsure()

    (verdict,) = judge_statements(judge, [StatementItem("A day pass costs 14 euros.", text)]).values()

    assert verdict.probability == 1.0
    assert verdict.fragment is not None
    assert "14" in verdict.fragment.of(text)
    assert not judge.asked


@pytest.mark.parametrize("text", ["A day pass costs 14 euros more than it did.", "A day pass does not cost 14 euros.", ""])
def test_the_judge_is_asked_about_what_stands_there_otherwise(text: str) -> None:
    (verdict,) = judge_statements(Unsure(), [StatementItem("A day pass costs 14 euros.", text)]).values()

    assert verdict.probability == pytest.approx(0.4)
