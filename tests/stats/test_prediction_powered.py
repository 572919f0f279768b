"""Prediction-powered shares: as sure as all rows with a perfect judge, as sure as the labels with a useless one, never more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.errors import InvalidValueError
from rag_cover.stats.intervals import Interval
from rag_cover.stats.prediction_powered import (
    Powered,
    count_labels_needed,
    estimate_labelled_share,
    estimate_powered_share,
    half_width_of_all,
)

Floats = NDArray[np.float64]
seeds = st.integers(0, 10_000)
few = settings(max_examples=25)


def half(interval: Interval) -> float:
    assert interval.lower is not None
    assert interval.upper is not None
    return (interval.upper - interval.lower) / 2


def powered(y: Floats, f: Floats, labelled: int, *, rows_per_key: int = 1) -> Powered:
    """Label the first rows."""
    keys = [row // rows_per_key for row in range(len(y))]
    return estimate_powered_share(y[:labelled], f[:labelled], keys[:labelled], f[labelled:], keys[labelled:])


def test_a_case_worked_by_hand() -> None:
    # y 1 0 1 0 with f 1 0 0 0; unlabelled f 1 1 0 0: a = ½ -½ ½ -½ over 4; b = ¾ -¼ -¼ -¼ over 4, and ∓½ over 4
    # Σab = ½·(¾+¼-¼+¼)/16 = ½/16; Σb² = (¾² + 3·¼² + 4·½²)/16 = 1.75/16; λ = 2/7; ½ - λ(¼ - ½) = 4/7
    found = estimate_powered_share([1, 0, 1, 0], [1, 0, 0, 0], "abcd", [1, 1, 0, 0], "efgh")

    assert found.weight == pytest.approx(2 / 7)
    assert found.share.estimate == pytest.approx(4 / 7)
    assert found.share.n == 8
    assert found.gap is not None
    assert found.gap.estimate == -0.25


def test_the_weight_is_that_of_the_paper_where_every_row_is_its_own_question() -> None:
    rng = np.random.default_rng(0)
    f = rng.random(1000)
    y = (rng.random(1000) < f).astype(float)

    found = powered(y, f, 200)

    inside, outside = f[:200], f[200:]
    covariance = np.mean((y[:200] - y[:200].mean()) * (inside - inside.mean()))
    assert found.weight == pytest.approx(covariance / (inside.var() + 200 / 800 * outside.var()))


@few
@given(seeds, st.integers(50, 200), st.floats(0.25, 0.75))
def test_with_a_perfect_judge_the_interval_is_that_of_all_rows(seed: int, labelled: int, share: float) -> None:
    y = (np.random.default_rng(seed).random(1000) < share).astype(float)

    found = powered(y, y, labelled).share

    every = estimate_labelled_share(y, range(len(y)))
    assert found.estimate == pytest.approx(every.estimate, abs=0.15 * half(every))
    assert half(found) == pytest.approx(half(every), rel=0.06)  # Student's t has the labelled questions' degrees of freedom


@few
@given(seeds, st.integers(50, 200))
def test_with_a_judge_that_says_nothing_the_interval_is_that_of_the_labels(seed: int, labelled: int) -> None:
    y = (np.random.default_rng(seed).random(1000) < 0.4).astype(float)

    found = powered(y, np.full(1000, 0.7), labelled)

    assert found.weight == 0
    assert found.share.estimate == y[:labelled].mean()
    assert half(found.share) == pytest.approx(half(estimate_labelled_share(y[:labelled], range(labelled))))


def test_with_a_judge_that_guesses_the_weight_goes_to_0() -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(60_000) < 0.4).astype(float)

    found = powered(y, rng.random(60_000), 20_000)

    assert found.weight < 0.02
    assert half(found.share) == pytest.approx(half(estimate_labelled_share(y[:20_000], range(20_000))), rel=0.001)


@few
@given(seeds)
def test_a_judge_that_says_the_opposite_is_not_used(seed: int) -> None:
    y = (np.random.default_rng(seed).random(500) < 0.5).astype(float)

    assert powered(y, 1 - y, 100).weight == 0


@few
@given(seeds, st.floats(0, 1))
def test_it_is_never_less_sure_than_the_labels_alone(seed: int, skill: float) -> None:
    rng = np.random.default_rng(seed)
    y = (rng.random(600) < 0.5).astype(float)
    f = np.where(rng.random(600) < skill, y, rng.random(600))

    found = powered(y, f, 150, rows_per_key=3)

    assert half(found.share) <= half(estimate_labelled_share(y[:150], [row // 3 for row in range(150)])) + 1e-12


@few
@given(seeds)
def test_rows_said_twice_make_nothing_surer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    f = rng.random(500)
    y = (rng.random(500) < f).astype(float)
    once = powered(y, f, 100)

    twice = powered(np.repeat(y, 2), np.repeat(f, 2), 200, rows_per_key=2)

    assert twice.share.estimate == pytest.approx(once.share.estimate)
    assert half(twice.share) == pytest.approx(half(once.share))


def test_a_question_may_have_labelled_and_unlabelled_rows() -> None:
    labels = [1, 0] * 30
    keys = list(range(60))

    apart = estimate_powered_share(labels, labels, keys, labels, [f"other {key}" for key in keys])
    together = estimate_powered_share(labels, labels, keys, labels, keys)

    assert together.weight == 0  # what the unlabelled rows say, the labels of their questions say already
    assert half(together.share) > 1.3 * half(apart.share)


def test_a_sample_that_is_not_random_shows_in_the_gap() -> None:
    f = np.concatenate([np.tile([0.9, 0.8], 50), np.tile([0.1, 0.2], 100)])

    gap = estimate_powered_share([1] * 99 + [0], f[:100], range(100), f[100:], range(100, 300)).gap

    assert gap is not None
    assert gap.estimate == pytest.approx(0.7)
    assert gap.lower is not None
    assert gap.lower > 0.6


def test_without_unlabelled_rows_the_labels_are_alone() -> None:
    found = estimate_powered_share([1, 0, 1, 0, 1], [0.9, 0.2, 0.8, 0.1, 0.9], range(5), [], [])

    assert (found.weight, found.gap) == (0, None)
    assert found.share == estimate_labelled_share([1, 0, 1, 0, 1], range(5))


@pytest.mark.parametrize(("labels", "judged", "keys"), [([], [], []), ([1], [0.5, 0.5], ["a"]), ([1], [0.5], ["a", "b"])])
def test_rows_that_do_not_fit_together_are_refused(labels: list[int], judged: list[float], keys: list[str]) -> None:
    with pytest.raises(InvalidValueError, match="a share needs labels"):
        estimate_powered_share(labels, judged, keys, [], [])


@pytest.mark.parametrize(("questions", "others", "rows"), [(60, 600, 1), (100, 1000, 1), (50, 200, 4)])
def test_nineteen_of_twenty_intervals_hold_the_truth(questions: int, others: int, rows: int) -> None:
    """Draw worlds in which questions differ, so that their rows are alike, and the judge is biased; the truth is known."""
    rng = np.random.default_rng(7)
    share, worlds, hits = 0.4, 1000, 0
    for _ in range(worlds):
        hardness = np.repeat(rng.beta(2, 3, questions + others), rows)
        y = (rng.random(len(hardness)) < hardness).astype(float)
        f = np.clip(0.15 + 0.5 * y + rng.normal(0, 0.25, len(y)), 0, 1)
        found = powered(y, f, questions * rows, rows_per_key=rows).share
        hits += abs(found.estimate - share) <= half(found)

    assert 0.93 <= hits / worlds <= 0.97


def test_the_bounds_of_a_share_stay_in_0_to_1() -> None:
    found = estimate_labelled_share([1] * 59 + [0], range(60))

    assert found.upper == 1
    assert found.lower is not None
    assert math.isclose(found.estimate, 59 / 60)


def _rows(n: int, share_right: float, seed: int = 0) -> tuple[list[bool], list[float]]:
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.5
    right = rng.random(n) < share_right
    return labels.tolist(), np.where(right, labels, ~labels).astype(float).tolist()


def test_a_better_judge_needs_fewer_labels() -> None:
    needed = []
    for share_right in (0.98, 0.8, 0.5):
        labels, judged = _rows(200, share_right)
        _, others = _rows(20_000, share_right, seed=1)
        keys, theirs = range(200), range(200, 20_200)
        needed.append(count_labels_needed(labels, judged, keys, others, theirs, half_width=0.05))

    assert needed[0] is not None
    assert needed[0] < 100 < (needed[1] or 0) < (needed[2] or 0) < 400


@pytest.mark.parametrize("share_right", [0.9, 0.6])
def test_as_many_labels_as_are_said_to_be_needed_give_the_width(share_right: float) -> None:
    labels, judged = _rows(5000, share_right)
    needed = count_labels_needed(labels[:60], judged[:60], range(60), judged[60:], range(60, 5000), half_width=0.06)

    assert needed is not None
    found = estimate_powered_share(labels[:needed], judged[:needed], range(needed), judged[needed:], range(needed, 5000)).share
    assert found.upper is not None
    assert found.upper - found.estimate == pytest.approx(0.06, rel=0.25)


def test_where_all_labels_would_not_be_enough_no_number_is_given() -> None:
    labels, judged = _rows(60, 0.8)

    assert count_labels_needed(labels, judged, range(60), [0.5] * 20, range(60, 80), half_width=0.05) is None
    assert half_width_of_all(labels, range(60), 80) > 0.05


def test_what_is_needed_cannot_be_told_from_nothing() -> None:
    with pytest.raises(InvalidValueError, match="there are none"):
        count_labels_needed([], [], [], [], [], half_width=0.05)
    with pytest.raises(InvalidValueError, match="there are none"):
        half_width_of_all([], [], 10)
