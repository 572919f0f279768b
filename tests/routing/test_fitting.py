"""What is minimised, and that its gradient is its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from rag_cover.routing import irt
from rag_cover.routing.fitting import BATCH, Layout, Priors, objective_of, observations_of


def test_the_gradient_is_that_of_the_objective() -> None:
    rng = np.random.default_rng(0)
    layout, features = Layout(4, 3, 5), rng.normal(size=(30, 5))
    values = np.where(rng.random((30, 4)) < 0.2, np.nan, rng.integers(0, 2, (30, 4)))
    objective = objective_of(observations_of(features, values), layout, Priors(0.001, 0.002, 0.3, 0.4, 0.5, 0.6, 0.7), 0.7)
    point, steps = rng.normal(size=layout.size), 1e-6 * np.eye(layout.size)

    measured = [(objective(point + step)[0] - objective(point - step)[0]) / 2e-6 for step in steps]

    assert objective(point)[1] == pytest.approx(measured, abs=1e-7)


def test_without_priors_it_is_the_loss_of_the_paper() -> None:
    rng = np.random.default_rng(1)
    layout, features = Layout(2, 3, 4), rng.normal(size=(10, 4))
    values, point = rng.integers(0, 2, (10, 2)).astype(float), rng.normal(size=layout.size)
    skills, weights, bias, content = layout.split(point)
    relevance, difficulty = irt.relevance(features, weights, bias), irt.difficulty(features, content, np.zeros(3))

    said, _ = objective_of(observations_of(features, values), layout, Priors(skill=1e-5, difficulty=1e-5), 1.0)(point)

    rows = [(skills[agent], difficulty[j], relevance[j], values[j, agent]) for j in range(10) for agent in range(2)]
    s, d, r, y = (np.array(column) for column in zip(*rows, strict=True))
    scale = BATCH / len(rows)  # the paper's batches hold 512 responses, these 20
    assert said == pytest.approx(
        irt.loss(irt.logits(s, d, r), y, s, d, skill_penalty=1e-5 * scale, difficulty_penalty=1e-5 * scale), abs=1e-6
    )
