"""Dimensions chosen without the questions that judge the choice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from rag_cover.routing import Caimira, Responses, dimension_choice
from rag_cover.routing.dimension_choice import choose_dimensions, predict_nested
from rag_cover.routing.training import Validation

pytest.importorskip("scipy", reason="needs rag-cover[skills]")

Floats = NDArray[np.float64]


def world(questions: int, agents: int, dimensions: int, *, seed: int = 0) -> tuple[Responses, Floats]:
    """Draw responses from a model whose dimensions are known."""
    rng = np.random.default_rng(seed)
    rows, skills = rng.normal(size=(questions, 12)), 1.5 * rng.normal(size=(agents, dimensions))
    relevance, difficulty = rng.normal(size=(dimensions, 12)), rng.normal(size=(dimensions, 12)) / 4
    truth = Caimira.from_parameters(skills, relevance, np.zeros(dimensions), difficulty, np.zeros(dimensions))
    values = (rng.random((questions, agents)) < truth.predict(rows)).astype(float)
    return Responses(truth.agents, [f"question {number}" for number in range(questions)], values), rows


def test_one_dimension_is_kept_where_more_tell_nothing() -> None:
    choice = choose_dimensions(*world(200, 5, 1))

    assert choice.model.dimensions == 1
    assert list(choice.losses) == [1, 2]


@pytest.mark.slow
def test_more_dimensions_are_taken_where_they_predict_clearly_better() -> None:
    choice = choose_dimensions(*world(400, 8, 2))

    assert choice.model.dimensions == 2
    assert choice.losses[2] < choice.losses[1]


def test_too_few_questions_leave_one_dimension() -> None:
    responses, rows = world(19, 3, 2)

    choice = choose_dimensions(responses, rows)

    assert (choice.model.dimensions, choice.losses) == (1, {})


def test_no_fold_is_predicted_by_a_choice_or_a_fit_that_saw_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []

    class Watched(Caimira):
        def cross_validate(self, responses: Responses, embeddings: ArrayLike) -> Validation:
            seen.append(set(responses.questions))
            return super().cross_validate(responses, embeddings)

        def predict(self, embeddings: ArrayLike, agents: Sequence[str] | None = None) -> Floats:
            asked.append({responses.questions[int(row)] for row in np.asarray(embeddings)[:, -1]})
            return super().predict(embeddings, agents)

    asked: list[set[str]] = []
    responses, rows = world(60, 3, 1)
    numbered = np.column_stack([rows, np.arange(60)])
    monkeypatch.setattr(dimension_choice, "Caimira", Watched)

    predicted, dimensions = predict_nested(responses, numbered, tried=(1,), folds=3)

    assert predicted.shape == (60, 3)
    assert dimensions == (1, 1, 1)
    assert all(not fitted & held for fitted, held in zip(seen, asked, strict=True))
    assert set().union(*asked) == set(responses.questions)
