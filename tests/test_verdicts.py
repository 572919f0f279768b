"""Models asked once for each distinct item, and held to what they must return."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem, Span
from rag_cover.errors import ModelFailedError
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer
from rag_cover.verdicts import entailments, fragments, probabilities

ITEM = ScoringItem("Why is the sky blue?", "The sky is blue: air scatters short waves.")


class WrongScorer:
    """Returns what it is told to."""

    threshold = 0.5
    fingerprint = "wrong"

    def __init__(self, values: Sequence[float]) -> None:
        self.values = values

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        del items
        return np.array(self.values, dtype=np.float32)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([float("nan")], "returned nan, which is no probability"),
        ([1.5], "returned 1.5, which is no probability"),
        ([-0.5], "returned -0.5, which is no probability"),
        ([0.5, 0.5], r"returned shape \(2,\) where \(1,\) was asked for"),
        ([], r"returned shape \(0,\) where \(1,\) was asked for"),
    ],
)
def test_a_scorer_that_returns_no_probabilities_has_failed(values: list[float], complaint: str) -> None:
    scorer = WrongScorer(values)

    with pytest.raises(ModelFailedError, match=rf"WrongScorer \(wrong\): correctness {complaint}"):
        probabilities(scorer, [ITEM])


class WrongLocator:
    """Returns what it is told to."""

    fingerprint = "wrong"

    def __init__(self, spans: list[Span | None]) -> None:
        self.spans = spans

    def locate(self, items: Sequence[ScoringItem]) -> list[Span | None]:
        del items
        return self.spans


@pytest.mark.parametrize(
    ("spans", "complaint"),
    [([Span(3, 99)], "for a text of 42 characters"), ([Span(5, 3)], "for a text"), ([], "0 fragments for 1 texts")],
)
def test_a_locator_that_points_outside_its_text_has_failed(spans: list[Span | None], complaint: str) -> None:
    locator = WrongLocator(spans)

    with pytest.raises(ModelFailedError, match=complaint):
        fragments(locator, [ITEM])


def test_an_empty_fragment_is_none() -> None:
    locator = WrongLocator([Span(3, 3)])

    found = fragments(locator, [ITEM])

    assert found == {ITEM: None}


def test_every_distinct_item_is_asked_once() -> None:
    scorer = KeywordScorer()
    other = ScoringItem("Why is grass green?", ITEM.text)

    asked = probabilities(scorer, [ITEM, other, ITEM])

    assert list(asked) == [ITEM, other]
    assert scorer.asked.items == 2


def test_single_precision_reads_as_written() -> None:
    scorer = WrongScorer([0.7])

    asked = probabilities(scorer, [ITEM])

    assert asked == {ITEM: 0.7}


def test_rounding_above_one_is_one() -> None:
    scorer = WrongScorer([1.000001])

    asked = probabilities(scorer, [ITEM])

    assert asked == {ITEM: 1.0}


def test_without_items_no_model_is_asked() -> None:
    scorer, locator, entailer = KeywordScorer(), KeywordLocator(), KeywordEntailer()

    nothing = probabilities(scorer, []), fragments(locator, []), entailments(entailer, [])

    assert nothing == ({}, {}, {})
    assert scorer.asked.calls == locator.asked.calls == entailer.asked.calls == 0
