"""Fitting after training: it finds what the numbers were made with."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the extra 'train'")

from rag_cover_embedded.evidence import Evidence, Mixing
from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.fitting import (
    best_threshold,
    correctness_temperature,
    entailment_temperature,
    fitted_mixing,
    likeliest,
)
from rag_cover_embedded.training.labels import NOT_ENTAILED, Example

RNG = np.random.default_rng(5)


def test_the_mixing_is_found_again() -> None:
    true = Mixing(logit=0.8, score=6.0, margin=0.2, touched=0.0, least=0.3, intercept=-3.0)
    evidence = [
        [Evidence(*RNG.normal(0, 3, 1), *RNG.uniform(0, 1, 1), *RNG.normal(0, 3, 3)) for _ in range(count)]
        for count in RNG.integers(1, 4, 8_000)
    ]
    labels = np.array([RNG.random() < likeliest(true, found) for found in evidence], dtype=np.float64)

    found = fitted_mixing(evidence, labels)

    assert np.allclose(list(asdict(found).values()), list(asdict(true).values()), rtol=0.15, atol=0.05)


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


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2).filter(lambda found: len({b for _, b in found}) == 2))
def test_the_threshold_is_a_cut_of_the_highest_balanced_accuracy(found: list[tuple[float, bool]]) -> None:
    probabilities, labels = np.array([p for p, _ in found]), np.array([float(b) for _, b in found])

    def balanced(cut: float) -> float:
        said = probabilities >= cut
        return float(said[labels == 1].mean() + (~said[labels == 0]).mean())

    chosen = best_threshold(probabilities, labels)

    assert 0.2 <= chosen <= 0.8
    assert balanced(chosen) >= max(balanced(round(cut, 2)) for cut in np.arange(0.2, 0.801, 0.01)) - 1e-9
