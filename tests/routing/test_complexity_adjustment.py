"""Predicted success adjusted by what retrieval brought back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rag_cover.complexity import Complexity
from rag_cover.errors import InvalidValueError
from rag_cover.routing.complexity_adjustment import Adjustment, complexity_evidence, fit_adjustment
from rag_cover.routing.irt import probabilities

AGENTS = ("single", "decomposing")
N = 400


def simulated(weight: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make logits, success and evidence, of which the first agent's success depends on the first column with this weight."""
    rng = np.random.default_rng(seed)
    evidence = np.column_stack([rng.normal(0, 2, N), rng.random(N)])
    logits = rng.normal(0, 1, (N, 2))
    true = logits + np.column_stack([weight * evidence[:, 0], np.zeros(N)])
    return logits, (rng.random((N, 2)) < probabilities(true)).astype(float), evidence


def complexity(best: float | None, completeness: float | None) -> Complexity:
    return Complexity(best, False, completeness, None, True, 0.15, 0.8)  # noqa: FBT003


def test_evidence_that_tells_is_kept_and_tells_of_the_right_agent() -> None:
    fit = fit_adjustment(*simulated(0.6), AGENTS)

    assert fit.helps
    assert fit.gain.estimate == pytest.approx(fit.without - fit.with_evidence)
    assert fit.adjustment.weights[0, 0] / fit.adjustment.scales[0] == pytest.approx(0.6, abs=0.2)
    assert abs(fit.adjustment.weights[1, 0]) < 0.4


def test_evidence_that_tells_nothing_does_not_help() -> None:
    assert not any(fit_adjustment(*simulated(0.0, seed), AGENTS).helps for seed in range(4))


def test_what_was_not_observed_counts_in_nothing() -> None:
    logits, values, evidence = simulated(0.6)
    values[::3, 0] = np.nan
    evidence[5] = np.nan

    fit = fit_adjustment(logits, values, evidence, AGENTS)

    assert fit.questions == N - 1
    assert fit.helps


def test_a_question_without_evidence_is_an_average_one() -> None:
    adjustment = fit_adjustment(*simulated(0.6), AGENTS).adjustment

    unknown = adjustment.adjust([[0.3, 0.3]], [[np.nan, np.nan]])

    assert unknown == pytest.approx(adjustment.adjust([[0.3, 0.3]], [adjustment.means]))


def test_some_agents_may_be_adjusted_alone_and_in_another_order() -> None:
    adjustment = fit_adjustment(*simulated(0.6), AGENTS).adjustment

    whole = adjustment.adjust([[0.1, 0.2]], [[1.0, 0.5]])

    assert adjustment.adjust([[0.2, 0.1]], [[1.0, 0.5]], AGENTS[::-1]) == pytest.approx(whole[:, ::-1])
    with pytest.raises(InvalidValueError, match="no adjustment was fitted for 'other'"):
        adjustment.adjust([[0.2]], [[1.0, 0.5]], ["other"])


def test_an_adjustment_travels_as_json() -> None:
    adjustment = fit_adjustment(*simulated(0.6), AGENTS).adjustment

    read = Adjustment.from_dict(json.loads(json.dumps(adjustment.to_dict())))

    assert read.adjust([[0.1, 0.2]], [[1.0, 0.5]]).tolist() == adjustment.adjust([[0.1, 0.2]], [[1.0, 0.5]]).tolist()


def test_evidence_is_the_logit_of_the_best_answer_and_completeness() -> None:
    evidence = complexity_evidence([complexity(0.5, 0.9), complexity(None, 1.0), complexity(0.5, None), None])

    assert evidence[0].tolist() == [0.0, 0.9]
    assert evidence[1, 0] < -5
    assert np.isnan(evidence).tolist() == [[False, False], [False, False], [False, True], [True, True]]


def test_too_few_questions_and_wrong_shapes_are_refused() -> None:
    logits, values, evidence = simulated(0.6)

    with pytest.raises(InvalidValueError, match="30 questions with evidence at least, not 20"):
        fit_adjustment(logits[:20], values[:20], evidence[:20], AGENTS)
    with pytest.raises(InvalidValueError, match="evidence"):
        fit_adjustment(logits, values, evidence[:20], AGENTS)
