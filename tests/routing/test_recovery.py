"""A fit finds the skills and difficulties that responses were drawn from."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from rag_cover.routing import Caimira, Responses


@pytest.mark.slow
def test_skills_and_difficulties_are_recovered_from_enough_responses() -> None:
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    rng = np.random.default_rng(0)
    rows, skills = rng.normal(size=(2000, 8)), rng.normal(size=(20, 2))
    relevance, difficulty = rng.normal(size=(2, 8)) * 0.7, rng.normal(size=(2, 8)) * 0.4
    truth = Caimira.from_parameters(skills, relevance, [0.0, 0.0], difficulty, (rows @ difficulty.T).mean(axis=0))
    values = (rng.random((2000, 20)) < truth.predict(rows)).astype(float)

    model = Caimira(2).fit(Responses(truth.agents, [str(number) for number in range(2000)], values), rows)

    order = max(map(list, permutations(range(2))), key=lambda each: alike(skills, model.skills[:, each]))
    effective = (model.relevance(rows) * model.difficulty(rows))[:, order]
    lower, upper = np.moveaxis(model.skill_intervals[:, order], -1, 0)
    assert alike(skills, model.skills[:, order]) > 0.95
    assert alike(truth.relevance(rows) * truth.difficulty(rows), effective) > 0.95
    assert ((lower < skills) & (skills < upper)).mean() > 0.85  # 40 intervals of 95%: fewer than 34 has a chance below 0.001


def alike(a: object, b: object) -> float:
    return float(np.corrcoef(np.ravel(np.asarray(a)), np.ravel(np.asarray(b)))[0, 1])
