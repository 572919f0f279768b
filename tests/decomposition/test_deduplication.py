"""Of questions that mean the same the first is kept; of those that only look alike, all."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.decomposition.deduplication import distinct_questions, plain_wording


@dataclass
class OneDirection:
    """An embedder to which everything means the same."""

    asked: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


class Apart:
    """An embedder to which nothing means the same."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.eye(len(texts), dtype=np.float32)


def test_articles_number_and_punctuation_make_no_difference() -> None:
    texts = ["What is a heat pump?", "How loud is it?", "what are heat pumps", "What is the heat pump?"]

    assert distinct_questions(texts) == ["What is a heat pump?", "How loud is it?"]


def test_what_is_close_in_meaning_and_names_the_same_is_kept_once() -> None:
    texts = ["What causes tides?", "What are the causes of tides?", "What are the causes of ocean tides?"]

    assert distinct_questions(texts, OneDirection()) == ["What causes tides?"]
    assert distinct_questions(texts, Apart()) == texts


@pytest.mark.parametrize(
    "pair",
    [
        ("How healthy are fresh vegetables?", "How healthy are frozen vegetables?"),
        ("What are the reasons to buy a house?", "What are the reasons not to buy a house?"),
        ("What are the effects of sleep on mood?", "What are the effects of mood on sleep?"),
        ("How does one travel from Rome to Paris?", "How does one travel from Paris to Rome?"),
        ("What does tea with milk taste like?", "What does tea without milk taste like?"),
    ],
)
def test_what_names_something_else_is_kept_however_close(pair: tuple[str, str]) -> None:
    assert distinct_questions(pair, OneDirection()) == list(pair)


def test_a_single_question_is_not_embedded() -> None:
    embedder = OneDirection()

    assert distinct_questions(["Why?", "why"], embedder) == ["Why?"]
    assert embedder.asked == []


@given(st.lists(st.text(max_size=20), max_size=8))
def test_order_is_kept_and_nothing_is_made_up(texts: list[str]) -> None:
    for embedder in (None, Apart(), OneDirection()):
        kept = distinct_questions(texts, embedder)

        places = [texts.index(text) for text in kept]
        assert places == sorted(set(places))
        assert len({plain_wording(text) for text in kept}) == len(kept)
        assert bool(kept) == bool(texts)
