"""The arithmetic of a belief: what holds of it whatever the samples are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.belief.scoring import (
    Floats,
    Over,
    agreements_of,
    bootstrap_scores,
    cluster_masses,
    entropy_of,
    likelihood_weights,
    score_of,
    uniform_weights,
)
from rag_cover.errors import InvalidValueError

LOGPROBS = st.lists(st.lists(st.floats(-50, 0), min_size=1, max_size=4), min_size=1, max_size=8)
PROBABILITY = st.floats(0, 1)
overs = pytest.mark.parametrize("over", ["best", "mean"])


@st.composite
def weighed_kernels(draw: st.DrawFn) -> tuple[tuple[float, ...], Floats]:
    logprobs = draw(LOGPROBS)
    references = draw(st.integers(1, 3))
    row = st.lists(PROBABILITY, min_size=references, max_size=references)
    kernel = draw(st.lists(row, min_size=len(logprobs), max_size=len(logprobs)))
    return likelihood_weights(logprobs), np.array(kernel)


@given(LOGPROBS)
def test_weights_sum_to_one_and_follow_the_mean_log_probability(logprobs: list[list[float]]) -> None:
    weights = likelihood_weights(logprobs)

    means = [math.fsum(row) / len(row) for row in logprobs]
    assert math.fsum(weights) == pytest.approx(1)
    assert sorted(weights) == [weights[index] for index in sorted(range(len(means)), key=means.__getitem__)]


@overs
@given(weighed=weighed_kernels())
def test_a_score_lies_between_zero_and_one(over: Over, weighed: tuple[tuple[float, ...], Floats]) -> None:
    score = score_of(*weighed, over=over)

    assert 0 <= score <= 1


@overs
@given(weighed=weighed_kernels(), data=st.data())
def test_the_order_of_the_samples_does_not_change_the_score_by_a_bit(
    over: Over, weighed: tuple[tuple[float, ...], Floats], data: st.DataObject
) -> None:
    weights, kernel = weighed
    order = data.draw(st.permutations(range(len(weights))))

    shuffled = score_of([weights[index] for index in order], kernel[order], over=over)

    assert shuffled == score_of(weights, kernel, over=over)


@overs
@given(weighed=weighed_kernels(), data=st.data())
def test_more_agreement_never_lowers_the_score(
    over: Over, weighed: tuple[tuple[float, ...], Floats], data: st.DataObject
) -> None:
    weights, kernel = weighed
    raised = kernel.copy()
    row = data.draw(st.integers(0, kernel.shape[0] - 1))
    column = data.draw(st.integers(0, kernel.shape[1] - 1))
    raised[row, column] = data.draw(st.floats(float(kernel[row, column]), 1))

    assert score_of(weights, raised, over=over) >= score_of(weights, kernel, over=over)


@overs
@given(weighed=weighed_kernels())
def test_a_score_is_the_weighted_sum_of_what_each_answer_agrees(over: Over, weighed: tuple[tuple[float, ...], Floats]) -> None:
    weights, kernel = weighed

    agreements = agreements_of(weights, kernel, over=over)

    total = math.fsum(weight * agreement for weight, agreement in zip(weights, agreements, strict=True))
    assert total == pytest.approx(score_of(weights, kernel, over=over), abs=1e-12)


@overs
@given(weighed=weighed_kernels())
def test_resampled_scores_stay_within_the_agreements(over: Over, weighed: tuple[tuple[float, ...], Floats]) -> None:
    weights, kernel = weighed

    scores = bootstrap_scores(weights, kernel, over=over, seed=(0, 1), resamples=50)

    if len(weights) < 2:
        assert scores is None
    else:
        assert scores is not None
        defined = scores[~np.isnan(scores)]
        assert np.all((defined >= kernel.min() - 1e-9) & (defined <= kernel.max() + 1e-9))


def test_a_resampled_score_varies_as_the_mean_of_so_many_samples_does() -> None:
    kernel = np.array([[1.0], [0.0]] * 50)

    scores = bootstrap_scores(uniform_weights(100), kernel, over="best", seed=(0,))

    assert scores is not None
    assert scores.mean() == pytest.approx(0.5, abs=0.01)
    assert scores.std() == pytest.approx(math.sqrt(0.25 / 100), rel=0.1)


def test_the_interval_of_a_difference_holds_the_truth_about_as_often_as_it_says() -> None:
    rng, weights = np.random.default_rng(0), uniform_weights(20)
    held = 0

    for _ in range(300):
        sides = [(rng.random(20) < share).astype(float)[:, None] for share in (0.3, 0.6)]
        prior, posterior = (bootstrap_scores(weights, side, over="best", seed=(0, at)) for at, side in enumerate(sides))
        assert prior is not None
        assert posterior is not None
        lower, upper = np.quantile(posterior - prior, [0.025, 0.975])
        held += lower <= 0.3 <= upper

    assert 0.9 <= held / 300 <= 0.99


def test_an_unlikely_token_leaves_no_weight() -> None:
    weights = likelihood_weights([[-0.5, -math.inf], [-0.4]])

    assert weights == (0.0, 1.0)


def test_very_unlikely_samples_are_weighed_without_underflow() -> None:
    weights = likelihood_weights([[-5000.0], [-5000.0]])

    assert weights == (0.5, 0.5)


@pytest.mark.parametrize(
    ("logprobs", "said"),
    [
        ([], "there are no samples"),
        ([[-0.1], []], r"samples\[1\] has no token log-probabilities"),
        ([[-0.1, math.nan]], r"samples\[0\].token_logprobs\[1\] is nan"),
        ([[0.5]], r"samples\[0\].token_logprobs\[0\] is 0.5"),
        ([[-math.inf], [-math.inf, -0.1]], "all 2 samples have probability 0"),
    ],
)
def test_what_cannot_be_weighed_is_refused(logprobs: list[list[float]], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        likelihood_weights(logprobs)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_entropy_lies_between_one_meaning_and_all_equally_likely(clusters: list[int]) -> None:
    numbered = [sorted(set(clusters)).index(cluster) for cluster in clusters]

    entropy = entropy_of(cluster_masses(uniform_weights(len(numbered)), numbered))

    assert 0 <= entropy <= math.log(max(numbered) + 1) + 1e-12
