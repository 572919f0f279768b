from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.integration import entailment_probability, entailment_shares
from tests.entailing import FixedEntailer, LevelEmbedder


def test_without_an_embedder_shares_are_those_of_entailment() -> None:
    entailer = FixedEntailer({"one": (0.6, 0.2, 0.2), "two": (0.2, 0.4, 0.4)})

    assert entailment_shares("text", ["one", "two"], entailer=entailer) == pytest.approx([0.75, 0.25])


def test_an_embedder_weighs_by_exp_20_cos() -> None:
    entailer = FixedEntailer({"one": (0.5, 0.25, 0.25), "two": (0.5, 0.25, 0.25)})
    embedder = LevelEmbedder({"two": np.pi / 2})

    one, two = entailment_shares("text", ["one", "two"], entailer=entailer, embedder=embedder)

    assert np.log(one / two) == pytest.approx(20.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_shares_are_positive_and_sum_to_1(entailed: list[float]) -> None:
    told = {str(place): (share, 1 - share, 0.0) for place, share in enumerate(entailed)}

    shares = entailment_shares("text", list(told), entailer=FixedEntailer(told))

    assert shares.sum() == pytest.approx(1)
    assert (shares > 0).all()


def test_no_statements_have_no_shares() -> None:
    assert entailment_shares("text", [], entailer=FixedEntailer()).tolist() == []


@pytest.mark.parametrize(("told", "probability"), [((0.6, 0.2, 0.2), 0.75), ((0.0, 1.0, 0.0), 0.5), ((0.0, 0.0, 1.0), 0.0)])
def test_what_is_neither_borne_out_nor_contradicted_is_even(told: tuple[float, float, float], probability: float) -> None:
    assert entailment_probability("text", "one", entailer=FixedEntailer({"one": told})) == pytest.approx(probability, abs=1e-5)
