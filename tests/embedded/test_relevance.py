"""Token relevance: which words count, and what the shipped judge says of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.backends import Relevance, Span
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.relevance import find_content_words, words_of_tokens

QUESTION = "Which river flows through the town of Zell in Germany?"


@given(st.text())
def test_asked_words_stand_in_the_question_in_order(question: str) -> None:
    words = [*find_content_words(question), Span(len(question), len(question))]

    assert all(0 <= a.start < a.end <= b.start for a, b in pairwise(words))


def test_of_function_words_alone_all_count() -> None:
    assert [word.of("Who is it?") for word in find_content_words("Who is it?")] == ["Who", "is", "it"]


def test_every_piece_of_a_word_belongs_to_it_and_nothing_else_does() -> None:
    words = [Span(0, 4), Span(6, 10)]

    assert words_of_tokens(words, [(0, 2), (2, 4), (4, 5), (6, 10), (10, 11)]) == [0, 0, -1, 1, -1]


def test_the_judge_offers_relevance(judge: EmbeddedJudge) -> None:
    found = judge.token_relevance(QUESTION, ["Zell lies on the Moselle.", "", "Bananas ripen after harvest."])

    assert isinstance(judge, Relevance)
    assert found.tokens == ("river", "flows", "through", "town", "Zell", "Germany")
    assert found.values.shape == (3, 6)
    assert ((found.values >= 0) & (found.values <= 1)).all()
    assert not found.values[1].any()


def test_a_text_touches_the_words_it_speaks_of(judge: EmbeddedJudge) -> None:
    values = judge.token_relevance(
        QUESTION, ["Zell is a small town known for its wine.", "Bananas ripen after harvest."]
    ).values

    assert values[0, 4] > values[0, 1]
    assert values[0].mean() > values[1].mean()


def test_relevance_does_not_depend_on_the_other_texts(judge: EmbeddedJudge, passages: list[str]) -> None:
    together = judge.token_relevance(QUESTION, passages[:6]).values
    alone = np.concatenate([judge.token_relevance(QUESTION, [text]).values for text in passages[:6]])

    assert np.abs(together - alone).max() <= 1e-5


def test_nothing_asked_and_nothing_read_are_empty(judge: EmbeddedJudge) -> None:
    assert judge.token_relevance("", ["A text."]).values.shape == (1, 0)
    assert judge.token_relevance(QUESTION, []).values.shape == (0, 6)
