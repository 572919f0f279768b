from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.stats.logistic import logit_of, logits_of
from rag_cover.stats.thresholds import cuts_between


@given(st.floats(0, 1))
def test_one_logit_is_that_of_the_array(probability: float) -> None:
    assert logit_of(probability, edge=1e-4) == pytest.approx(float(logits_of(probability, edge=1e-4)))


def test_many_values_have_a_hundred_cuts_between_them() -> None:
    values = np.arange(1000.0)

    cuts = cuts_between(values)

    assert len(cuts) == 100
    assert not set(cuts) & set(values)
    assert values[0] < cuts[0] < cuts[-1] < values[-1]


def test_equal_values_have_no_cut_but_themselves() -> None:
    assert cuts_between(np.array([0.5, 0.5])).tolist() == [0.5]
