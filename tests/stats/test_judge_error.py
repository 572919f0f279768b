"""Shares, differences and losses with the judge's errors in their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover.calibration_shift import CalibrationShift
from rag_cover.errors import InvalidValueError
from rag_cover.stats.intervals import Interval
from rag_cover.stats.judge_error import (
    difference_interval,
    estimate_shift,
    fit_shift,
    loss_intervals,
    share_interval,
    update_shift,
)
from rag_cover.stats.logistic import probabilities

SURE = CalibrationShift(0.0, 1e-6, 20, 2000, 1900)
VAGUE = CalibrationShift(0.0, 1.0, 20, 2000, 1400)
TOO_LOW = CalibrationShift(1.0, 1e-6, 20, 2000, 1400)
RNG = np.random.default_rng(0)
LOGITS = 1.5 * RNG.standard_normal(400)
JUDGED = probabilities(LOGITS)
QUESTIONS = [number // 4 for number in range(400)]


def test_the_shift_of_a_set_is_found() -> None:
    labels = np.random.default_rng(1).random(20_000)
    logits = np.random.default_rng(2).standard_normal(20_000)

    shift, variance = estimate_shift(probabilities(logits), labels < probabilities(logits + 0.7))

    assert shift == pytest.approx(0.7, abs=0.05)
    assert variance < 0.001


def test_labels_of_one_kind_do_not_shift_without_bound() -> None:
    shift, variance = estimate_shift([0.4, 0.5, 0.6], [1, 1, 1])

    assert 0 < shift < 4
    assert variance > 0.5


@pytest.mark.parametrize("spread", [0.2, 1.0])
def test_the_spread_between_sets_is_found(spread: float) -> None:
    rng = np.random.default_rng(3)
    sets = []
    for _ in range(40):
        logits, shift = rng.standard_normal(500), 0.3 + spread * rng.standard_normal()
        sets.append((probabilities(logits), rng.random(500) < probabilities(logits + shift)))

    found = fit_shift(sets)

    assert found.shift == pytest.approx(0.3, abs=0.4 * spread + 0.1)
    assert found.spread == pytest.approx(spread, rel=0.3)
    assert (found.sets, found.labels) == (40, 20_000)
    assert 0.5 < found.agreed / found.labels < 0.9


def test_a_judge_that_lies_off_nowhere_leaves_the_error_of_sampling_alone() -> None:
    interval = _whole(share_interval(JUDGED, QUESTIONS, SURE))

    assert interval.estimate == pytest.approx(JUDGED.mean(), abs=0.005)
    assert interval.n == 100
    assert _width(interval) == pytest.approx(2 * 1.96 * JUDGED.std() / 20, rel=0.2)


def test_a_judge_known_to_say_too_little_is_corrected() -> None:
    interval = _whole(share_interval(JUDGED, QUESTIONS, TOO_LOW))

    assert interval.estimate == pytest.approx(probabilities(LOGITS + 1).mean(), abs=0.01)


def test_a_judge_that_lies_off_by_unknown_shifts_widens_the_interval() -> None:
    assert _width(_whole(share_interval(JUDGED, QUESTIONS, VAGUE))) > 4 * _width(
        _whole(share_interval(JUDGED, QUESTIONS, SURE))
    )


def test_more_verdicts_do_not_undo_the_judges_errors() -> None:
    many = share_interval(np.tile(JUDGED, 50), range(20_000), VAGUE)

    assert _width(_whole(many)) > 0.5 * _width(_whole(share_interval(JUDGED, QUESTIONS, VAGUE)))


def test_labels_of_the_texts_make_the_shift_surer_and_move_it() -> None:
    labels = np.random.default_rng(5).random(400) < probabilities(LOGITS - 1)

    updated, own = update_shift(VAGUE, JUDGED, labels), update_shift(None, JUDGED, labels)

    assert updated.spread < 0.2
    assert updated.shift == pytest.approx(-1, abs=0.3)
    assert own.shift < updated.shift < VAGUE.shift
    assert (updated.labels, updated.agreed) == (own.labels, own.agreed) == (400, int(((JUDGED >= 0.5) == labels).sum()))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0, 2))
@settings(max_examples=20, deadline=None)
def test_an_interval_lies_in_0_to_1_and_holds_its_estimate(judged: list[float], spread: float) -> None:
    interval = _whole(share_interval(judged, range(len(judged)), CalibrationShift(0.1, spread, 9, 100, 80)))

    assert interval.lower is not None
    assert interval.upper is not None
    assert 0 <= interval.lower <= interval.estimate <= interval.upper <= 1


def test_errors_that_are_alike_on_both_sides_cancel_in_a_difference() -> None:
    better = probabilities(LOGITS + 0.8)

    interval = _whole(difference_interval((JUDGED, QUESTIONS), (better, QUESTIONS), VAGUE))

    assert interval.estimate == pytest.approx(better.mean() - JUDGED.mean(), abs=0.03)
    assert interval.lower is not None
    assert interval.lower > 0
    assert _width(interval) < 0.6 * _width(_whole(share_interval(JUDGED, QUESTIONS, VAGUE)))


def test_losses_are_counted_as_people_would() -> None:
    evidence = [(0.01, 0.99, 0.99)] * 30 + [(0.01, 0.01, 0.99)] * 20 + [(0.01, 0.01, 0.01)] * 10 + [(0.99, 0.5, 0.5)] * 40

    found = loss_intervals(evidence, range(100), SURE, SURE)

    assert found is not None
    assert [round(each.estimate) for each in found] == [30, 20, 10]
    assert all(each.upper is not None and each.upper > each.estimate for each in found)


def test_nothing_has_no_interval() -> None:
    assert share_interval([], [], SURE) is None
    assert difference_interval(([], []), ([0.5], ["q"]), SURE) is None
    assert loss_intervals([], [], SURE, SURE) is None


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="three|3"):
        fit_shift([([0.5], [1])] * 2)
    with pytest.raises(InvalidValueError, match="labels"):
        estimate_shift([], [])
    with pytest.raises(InvalidValueError, match="one for each"):
        update_shift(SURE, [0.5], [1, 0])


def _whole(interval: Interval | None) -> Interval:
    assert interval is not None
    return interval


def _width(interval: Interval) -> float:
    assert interval.lower is not None
    assert interval.upper is not None
    return interval.upper - interval.lower
