"""Cuts on P(complex) that meet a target of quality or cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover.errors import InvalidValueError
from rag_cover.routing.thresholds import RoutingThreshold, fit_cut

N = 200


def outcomes(n: int = N) -> tuple[list[float], np.ndarray, np.ndarray]:
    """Make questions of which those scored above 0.5 are answered only by the complex route, which costs 5 instead of 1."""
    scores = [(number + 0.5) / n for number in range(n)]
    quality = np.array([[float(score < 0.5), 1.0] for score in scores])
    return scores, quality, np.tile([1.0, 5.0], (n, 1))


def test_a_quality_is_reached_at_the_least_cost() -> None:
    fit = fit_cut(*outcomes(), target_quality=1.0)

    assert fit.cut == pytest.approx(0.5, abs=0.01)
    assert fit.fitted.quality.estimate == 1.0
    assert fit.fitted.cost.estimate == pytest.approx(3.0)
    assert fit.always_complex.cost.estimate == 5.0
    assert fit.always_direct.quality.estimate == 0.5


def test_within_a_cost_the_best_quality_is_taken() -> None:
    fit = fit_cut(*outcomes(), target_cost=2.0)

    assert fit.fitted.cost.estimate <= 2.0
    assert fit.fitted.quality.estimate == pytest.approx(0.75, abs=0.01)


def test_the_estimate_comes_from_questions_that_did_not_choose_the_cut() -> None:
    rng = np.random.default_rng(3)
    scores = rng.random(60)
    quality = rng.random((60, 2))  # the score tells nothing

    fit = fit_cut(scores, quality, np.tile([1.0, 5.0], (60, 1)), target_cost=3.0)

    assert fit.fitted.quality.estimate > fit.estimate.quality.estimate
    assert fit.estimate.quality.lower is not None


def test_a_cut_of_never_is_infinite_and_null_in_json() -> None:
    scores, quality, cost = outcomes()

    fit = fit_cut(scores, quality, cost, target_quality=0.4)

    assert fit.cut == float("inf")
    assert fit.to_dict()["cut"] is None
    assert fit.estimate.complex_share == 0.0


def test_a_quality_out_of_reach_names_the_best_there_is() -> None:
    with pytest.raises(InvalidValueError, match=r"No cut reaches .* 1\.2 .* the best is 1, at a cost of 3"):
        fit_cut(*outcomes(), target_quality=1.2)


def test_a_cost_out_of_reach_names_the_cheapest_there_is() -> None:
    with pytest.raises(InvalidValueError, match=r"cost of 0\.5 .* the cheapest costs 1\."):
        fit_cut(*outcomes(), target_cost=0.5)


def test_a_target_that_only_its_own_questions_meet_is_noted() -> None:
    rng = np.random.default_rng(0)
    scores, quality = rng.random(40), rng.random((40, 2))
    best = max(float(np.where(scores >= cut, quality[:, 1], quality[:, 0]).mean()) for cut in [*scores, 2.0])

    fit = fit_cut(scores, quality, np.ones((40, 2)), target_quality=best)

    assert not fit.meets_target
    assert fit.notes[-1] == "On questions that did not choose the cut, the target is missed."


def test_rephrasings_of_a_question_stay_in_one_fold() -> None:
    scores, quality, cost = outcomes(40)

    fit = fit_cut(scores, quality, cost, target_quality=0.9, groups=[number // 2 for number in range(40)])

    assert fit.questions == 20
    assert fit.estimate.quality.n == 20


def test_a_costlier_direct_route_is_avoided() -> None:
    scores, quality, cost = outcomes()

    fit = fit_cut(scores, quality, cost[:, ::-1], target_quality=1.0)

    assert fit.cut == 0.0
    assert fit.estimate.complex_share == 1.0


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ({}, "give one target"),
        ({"target_quality": 1.0, "target_cost": 1.0}, "give one target"),
        ({"target_cost": float("nan")}, "finite"),
    ],
)
def test_exactly_one_finite_target_is_asked_for(targets: dict[str, float], words: str) -> None:
    with pytest.raises(InvalidValueError, match=words):
        fit_cut(*outcomes(), **targets)  # type: ignore[arg-type]


def test_arrays_that_do_not_fit_together_are_refused() -> None:
    scores, quality, cost = outcomes()

    for bad in (
        (scores[:-1], quality, cost),
        (scores, quality[:, :1], cost),
        (scores, quality, -cost),
        (scores, quality * np.nan, cost),
    ):
        with pytest.raises(InvalidValueError):
            fit_cut(*bad, target_quality=0.5)


def test_nine_questions_are_too_few() -> None:
    with pytest.raises(InvalidValueError, match="10 questions at least, not 9"):
        fit_cut(*outcomes(9), target_quality=0.5)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.floats(1.0, 5.0))
def test_no_other_cut_has_a_better_quality_within_the_cost(seed: int, target: float) -> None:
    rng = np.random.default_rng(seed)
    scores, quality, cost = rng.integers(0, 6, 12) / 5, rng.random((12, 2)), np.tile([1.0, 5.0], (12, 1))

    fit: RoutingThreshold = fit_cut(scores, quality, cost, target_cost=target)

    for cut in [*scores, 9.0]:
        above = scores >= cut
        if np.where(above, 5.0, 1.0).mean() <= target:
            assert np.where(above, quality[:, 1], quality[:, 0]).mean() <= fit.fitted.quality.estimate + 1e-8
