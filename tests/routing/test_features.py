"""How a question becomes numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover import Question
from rag_cover.errors import ModelFailedError
from rag_cover.routing import encode
from rag_cover.routing.features import READABLE, readable


class Fixed:
    """Returns the same vector for every text, or too few of them."""

    def __init__(self, value: float = 1.0, missing: int = 0) -> None:
        self.value, self.missing = value, missing

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts) - self.missing, 3), self.value, dtype=np.float32)


def test_how_a_question_is_asked_tells_it_from_another_with_the_same_embedding() -> None:
    who, when = encode(["who wrote emma", "when was emma written"], Fixed())

    assert who[:3].tolist() == when[:3].tolist()
    assert who.tolist() != when.tolist()


def test_a_question_and_its_text_are_encoded_alike() -> None:
    assert encode([Question("Why?")], Fixed()).tolist() == encode(["Why?"], Fixed()).tolist()


def test_no_questions_have_no_rows_but_all_columns() -> None:
    assert encode([], Fixed()).shape == (0, encode(["Why?"], Fixed()).shape[1])


@pytest.mark.parametrize("embedder", [Fixed(missing=1), Fixed(np.nan)])
def test_an_embedder_that_returns_something_else_has_failed(embedder: Fixed) -> None:
    with pytest.raises(ModelFailedError, match="finite vector each"):
        encode(["Why?", "Who?"], embedder)


def test_every_readable_feature_has_a_name() -> None:
    found = readable(["who wrote emma", "when was the last time it rained in india"])

    told = [{name for name, value in zip(READABLE, row, strict=True) if value == 1} for row in found]
    assert {"asks who", "who made"} <= told[0]
    assert {"asks when", "when was", "latest", "about India"} <= told[1]


def test_an_embedding_counts_by_its_direction_alone() -> None:
    assert np.allclose(encode(["Why?"], Fixed(2.0)), encode(["Why?"], Fixed(5.0)))
