"""Fitting after training: it finds what the numbers were made with."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'train'")

from rag_cover_embedded.answers import Mixing
from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.fitting import (
    correctness_temperature,
    entailment_temperature,
    fitted_mixing,
)
from rag_cover_embedded.training.labels import NOT_ENTAILED, Example

RNG = np.random.default_rng(5)


def test_the_mixing_is_found_again() -> None:
    true = Mixing(logit=0.8, score=6.0, intercept=-3.0)
    evidence = [np.stack([RNG.normal(0, 3, n), RNG.uniform(0, 1, n)], axis=1) for n in RNG.integers(1, 4, 8_000)]
    probabilities = np.array([max(true.probability(*row) for row in found.tolist()) for found in evidence])
    labels = (RNG.random(len(evidence)) < probabilities).astype(np.float64)

    found = fitted_mixing(evidence, labels, np.ones(len(evidence)))

    assert np.allclose(list(asdict(found).values()), list(asdict(true).values()), rtol=0.15, atol=0.1)


def test_texts_without_weight_do_not_count() -> None:
    evidence = [np.array([[float(label), 0.5]]) for label in (-2, -1, 1, 2) for _ in range(50)]
    labels = np.repeat([0.0, 0.0, 1.0, 1.0], 50)
    noise = [np.array([[9.0, 0.5]])] * 50

    alone = fitted_mixing(evidence, labels, np.ones(200))
    with_noise = fitted_mixing([*evidence, *noise], np.concatenate([labels, np.zeros(50)]), np.repeat([1.0, 0.0], [200, 50]))

    assert alone.logit > 0
    assert with_noise.probability(2, 0.5) > 0.5 > with_noise.probability(-2, 0.5)


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
