"""A fit is kept where it is clearly better on other questions, and refused with its reason otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from rag_cover.judge_fit.fitting import LabelledFeatures, fit_mode
from rag_cover.score_fits import ScoreFeatures
from rag_cover.stats.logistic import probabilities

KNOWN = {"replies": (0.8, 0.0, 0.0, 0.0, -0.2), "long_replies": (0.6, 0.0, 0.0, 0.5, -0.5)}
SHIFTED = (0.8, 0.0, 0.0, 0.0, -1.6)


def _rows(
    true: tuple[float, ...], *, labels: int = 300, questions: int = 30, kind: str = "replies", seed: int = 1
) -> list[LabelledFeatures]:
    """Draw labels whose log-odds are the true weights · features."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(labels):
        values = (float(rng.normal(0, 2.5)), 0.0, float(rng.normal(4.0, 0.6)), 0.0, 1.0)
        covered = rng.random() < probabilities(np.dot(true, values))
        rows.append(LabelledFeatures(ScoreFeatures(kind, values), bool(covered), number % questions))
    return rows


def test_labels_of_a_shifted_domain_are_fitted_and_hold_on_labels_that_had_no_part() -> None:
    fit = fit_mode("reply", _rows(SHIFTED), KNOWN, cut=0.5)

    assert fit.fitted is not None
    assert fit.log_loss is not None
    assert fit.log_loss.is_better
    fresh = _rows(SHIFTED, labels=2_000, seed=2)
    before, after = (_agreement(fresh, weights) for weights in (KNOWN["replies"], fit.fitted.weights["replies"]))
    assert after > before + 0.03


def test_the_shift_of_a_fit_is_small_and_its_spread_holds_few_questions() -> None:
    many = fit_mode("reply", _rows(SHIFTED), KNOWN, cut=0.5).fitted
    few = fit_mode("reply", _rows(SHIFTED, labels=150, questions=20), KNOWN, cut=0.5).fitted

    assert many is not None
    assert few is not None
    assert abs(many.shift.shift) < 0.3
    assert 0.05 < many.shift.spread < few.shift.spread < 0.8
    assert (many.shift.sets, many.shift.labels) == (1, 300)


def test_labels_at_random_are_refused_though_believing_nothing_lowers_the_log_loss() -> None:
    fit = fit_mode("reply", _rows((0.0, 0.0, 0.0, 0.0, 0.0)), KNOWN, cut=0.5)

    assert fit.fitted is None
    assert fit.log_loss is not None
    assert fit.log_loss.is_better
    assert fit.refused_because is not None
    assert "hardly depend on the texts" in fit.refused_because or "opposite" in fit.refused_because


def test_labels_that_agree_with_the_judge_are_refused_as_no_clear_gain() -> None:
    fit = fit_mode("reply", _rows(KNOWN["replies"]), KNOWN, cut=0.5)

    assert fit.fitted is None
    assert fit.refused_because is not None
    assert "not clearly better" in fit.refused_because


def test_labels_with_exchanged_meaning_are_refused_as_the_opposite() -> None:
    fit = fit_mode("reply", _rows((-1.5, 0.0, 0.0, 0.0, 0.0)), KNOWN, cut=0.5)

    assert fit.fitted is None
    assert fit.refused_because is not None
    assert "check that 1 means covered" in fit.refused_because


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (_rows(SHIFTED, labels=99), "99 labels; a fit needs 100"),
        (_rows(SHIFTED, questions=19), "labels of 19 questions; a fit needs 20"),
        (_rows((0.0, 0.0, 0.0, 0.0, -6.0)), "labels say covered; a fit needs 15"),
    ],
    ids=["labels", "questions", "kinds"],
)
def test_too_few_labels_are_refused_with_how_many_it_takes(rows: list[LabelledFeatures], reason: str) -> None:
    fit = fit_mode("reply", rows, KNOWN, cut=0.5)

    assert fit.fitted is None
    assert fit.accuracy is None
    assert reason in str(fit.refused_because)


def test_a_kind_of_text_with_few_labels_keeps_its_weights() -> None:
    rows = [*_rows(SHIFTED), *_rows(SHIFTED, labels=20, kind="long_replies")]

    fit = fit_mode("reply", rows, KNOWN, cut=0.5)

    assert fit.fitted is not None
    assert {*fit.fitted.weights} == {"replies"}


def test_a_feature_that_hardly_varies_gets_no_large_weight() -> None:
    rows = [
        LabelledFeatures(
            ScoreFeatures("replies", (*row.features.values[:2], 4.0 + 0.01 * row.label, 0.0, 1.0)), row.label, row.question
        )
        for row in _rows(SHIFTED)
    ]

    fit = fit_mode("reply", rows, KNOWN, cut=0.5)

    assert fit.fitted is not None
    assert abs(fit.fitted.weights["replies"][2]) < 0.5


def test_the_same_labels_give_the_same_fit() -> None:
    assert fit_mode("reply", _rows(SHIFTED), KNOWN, cut=0.5) == fit_mode("reply", _rows(SHIFTED), KNOWN, cut=0.5)


def test_a_cut_that_people_do_not_share_is_moved_where_that_is_clearly_better() -> None:
    """Where weights cannot move (of a kind with fewer labels than are fitted), the cut alone can."""
    kinds = {f"kind {number}": (1.0, 0.0, 0.0, 0.0, 0.0) for number in range(20)}
    rows = [
        LabelledFeatures(ScoreFeatures(f"kind {number % 20}", row.features.values), row.label, row.question)
        for number, row in enumerate(_rows((2.5, 0.0, 0.0, 0.0, -3.0), labels=400, questions=40))
    ]

    fit = fit_mode("passage", rows, kinds, cut=0.5)

    assert fit.fitted is not None
    assert fit.fitted.weights == {}
    assert 0.6 < fit.fitted.cut < 0.9
    assert fit.accuracy is not None
    assert fit.accuracy.is_better


def _agreement(rows: list[LabelledFeatures], weights: tuple[float, ...]) -> float:
    return float(np.mean([(np.dot(weights, row.features.values) >= 0) == row.label for row in rows]))
