"""Relevance, difficulty and the chance that follows from them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.routing import irt

numbers = st.floats(-1e6, 1e6)


@given(st.lists(numbers, min_size=3, max_size=3), st.floats(0.01, 100))
def test_relevance_is_a_distribution_however_large_the_scores(scores: list[float], temperature: float) -> None:
    relevance = irt.relevance([[1.0]], [[score] for score in scores], [0.0, 0.0, 0.0], temperature)

    assert abs(relevance.sum() - 1) < 1e-12
    assert (relevance >= 0).all()


@given(numbers)
def test_a_chance_and_its_opposite_sum_to_one(logit: float) -> None:
    assert abs(irt.probabilities(logit) + irt.probabilities(-logit) - 1) < 1e-12


def test_one_question_keeps_the_difficulty_it_has_among_others() -> None:
    embeddings, weights, mean = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, -1.0]]), np.array([0.5])

    together, alone = irt.difficulty(embeddings, weights, mean), irt.difficulty(embeddings[:1], weights, mean)

    assert alone.tolist() == together[:1].tolist() == [[-1.5]]


def test_skill_equal_to_difficulty_is_an_even_chance() -> None:
    assert irt.probabilities(irt.logits([1.0, 2.0], [1.0, 2.0], [0.3, 0.7])) == 0.5


def test_the_loss_penalises_an_agent_as_often_as_it_answers() -> None:
    logits, labels = [0.0, 0.0], [1.0, 0.0]

    loss = irt.loss(logits, labels, [[2.0], [2.0]], [[1.0], [0.0]], skill_penalty=0.1, difficulty_penalty=0.01)

    assert abs(loss - (np.log(2) + 0.1 * 4 + 0.01 * 1)) < 1e-12
