"""Vectors of any embedding model, as an embedder gives them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.errors import ModelFailedError
from rag_cover.integration import unit_vectors
from tests.corpus import word_vector


def by_words(texts: list[str]) -> list[list[float]]:
    return [word_vector(text) for text in texts]


@given(st.lists(st.text("abc de", min_size=1).filter(str.strip), min_size=1, max_size=5))
def test_vectors_have_unit_length_whatever_is_embedded(texts: list[str]) -> None:
    vectors = unit_vectors(texts, by_words, name="words")

    assert vectors.dtype == np.float32
    assert vectors.shape == (len(texts), 512)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-6)


def test_no_texts_have_no_vectors_and_ask_nothing() -> None:
    def refusing(_: list[str]) -> list[list[float]]:
        raise ConnectionError

    assert unit_vectors([], refusing, name="nobody").shape == (0, 0)


def test_a_blank_text_is_embedded_as_a_space() -> None:
    asked: list[str] = []

    def remembering(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[3.0, 4.0] for _ in texts]

    assert unit_vectors(["", "\n", "sky"], remembering, name="any").shape == (3, 2)
    assert asked == [" ", " ", "sky"]


@pytest.mark.parametrize("numbers", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_a_vector_without_direction_is_a_failure(numbers: list[float]) -> None:
    with pytest.raises(ModelFailedError, match=r"'lost' gave no direction \(zeros or NaN\) for 'sky'"):
        unit_vectors(["sky"], lambda _: [numbers], name="lost")


@pytest.mark.parametrize("numbers", [[], [[1.0, 2.0, 3.0, 4.0]], [[1.0]] * 3])
def test_other_than_a_vector_for_each_text_is_a_failure(numbers: list[list[float]]) -> None:
    with pytest.raises(ModelFailedError, match="'short' gave numbers of the shape .* for 2 texts, not a vector each"):
        unit_vectors(["sky", "sea"], lambda _: numbers, name="short")
