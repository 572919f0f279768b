"""Fitting after training: it finds what the numbers were made with."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'train'")

from rag_cover_embedded.answers import ScoreCalibration, WindowEvidence
from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.example import NOT_ENTAILED, Example
from rag_cover_embedded.training.fitting import (
    attach_labels,
    certain_cuts,
    correctness_temperature,
    entailment_temperature,
    fit_calibration,
)

RNG = np.random.default_rng(5)


def test_the_calibration_is_found_again_but_for_the_share_of_labels() -> None:
    true = ScoreCalibration(logit=0.8, windows=-0.5, tokens=0.4, similarity=1.5, intercept=-0.3)
    rng, n = np.random.default_rng(6), 40_000
    drawn = zip(rng.normal(0, 3, n), rng.integers(1, 9, n), rng.integers(1, 157, n), rng.normal(0, 1, n), strict=True)
    evidence = [
        WindowEvidence(float(logit), int(windows), int(tokens), float(score)) for logit, windows, tokens, score in drawn
    ]

    found = fit_calibration({"all": [(each, float(rng.random() < true.probability(each))) for each in evidence]})

    weights, wanted = (list(asdict(each).values())[:-1] for each in (found, true))  # the intercept is that of even labels
    assert np.allclose(weights, wanted, rtol=0.15, atol=0.1)


def test_texts_that_were_not_read_are_left_out_of_the_calibration() -> None:
    evidence = [WindowEvidence(-2.0), WindowEvidence(2.0), None] * 50
    rows = [(("Why?", "A text.", ""), label) for label in (0.0, 1.0, 1.0)] * 50

    found = fit_calibration({"all": attach_labels(evidence, rows)})

    assert found.probability(WindowEvidence(2.0)) > 0.5 > found.probability(WindowEvidence(-2.0))


def test_each_kind_of_text_weighs_the_same_in_the_calibration() -> None:
    many, few = [(WindowEvidence(0.0), 1.0)] * 900, [(WindowEvidence(0.0), 0.0)] * 9

    found = fit_calibration({"many": many, "few": few})

    assert found.probability(WindowEvidence(0.0)) == pytest.approx(0.5, abs=0.01)


def test_each_label_weighs_the_same_in_the_calibration() -> None:
    rows = [(WindowEvidence(0.0), 1.0)] * 900 + [(WindowEvidence(0.0), 0.0)] * 100

    assert fit_calibration({"all": rows}).probability(WindowEvidence(0.0)) == pytest.approx(0.5, abs=0.01)


def test_beyond_the_certain_cuts_nine_verdicts_in_ten_are_right() -> None:
    probabilities = RNG.random(20_000)
    labels = (RNG.random(20_000) < probabilities).astype(np.float64)

    low, high = certain_cuts(probabilities, labels)

    assert 0.9 <= 1 - labels[probabilities <= low].mean() < 0.92
    assert 0.9 <= labels[probabilities >= high].mean() < 0.92
    assert low < 0.5 < high


def test_without_a_cut_that_is_right_often_enough_nothing_is_certain() -> None:
    assert certain_cuts(np.array([0.2, 0.8]), np.array([1.0, 0.0])) == (0.0, 1.0)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_the_temperature_of_correctness_is_found_again(temperature: float) -> None:
    logits = RNG.normal(0, 3, 20_000)
    labels = (RNG.random(20_000) < 1 / (1 + np.exp(-logits / temperature))).astype(np.float64)

    assert math.isclose(correctness_temperature(1 / (1 + np.exp(-logits)), labels), temperature, rel_tol=0.1)


def test_the_temperature_of_entailment_is_found_again_from_whole_and_half_labels() -> None:
    logits = RNG.normal(0, 2, (20_000, 3))
    powers, flat = np.exp(logits), np.exp(logits / 1.5)
    drawn = [int(RNG.choice(3, p=row / row.sum())) for row in flat]
    halved = [label if RNG.random() < 0.5 or label == 0 else NOT_ENTAILED for label in drawn]
    examples = [Example(Task.ENTAILMENT, "a", "b", label) for label in halved]

    assert math.isclose(entailment_temperature(powers / powers.sum(axis=1, keepdims=True), examples), 1.5, rel_tol=0.1)
