"""Arguments out of range, and unknown choices."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.argument_checks import (
    refuse_below,
    refuse_negative,
    refuse_no_flag,
    refuse_no_path,
    refuse_one_text,
    refuse_other_than,
    refuse_outside,
)
from rag_cover.errors import InvalidValueError

NO_NUMBERS = [float("nan"), "5", True, None, [1], 1j]


@pytest.mark.parametrize("value", [0, -1, 2.5, float("inf"), *NO_NUMBERS])
def test_counts_below_their_minimum_and_other_values_are_refused(value: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        refuse_below(1, samples=1, top_n=value)

    assert str(refused.value) == f"top_n is {value!r}; give a whole number of at least 1"


@pytest.mark.parametrize("value", [-0.1, float("inf"), *NO_NUMBERS])
def test_negative_amounts_are_refused(value: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        refuse_negative(cost=value)

    assert str(refused.value) == f"cost is {value!r}; give a finite number of at least 0"


@pytest.mark.parametrize("value", [-1.1, 1.1, float("inf"), *NO_NUMBERS])
def test_numbers_outside_a_range_are_refused(value: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        refuse_outside(-1, 1, min_utility=value)

    assert str(refused.value) == f"min_utility is {value!r}; give a number from -1 to 1"


@pytest.mark.parametrize("value", [3, True, b"store", ["a.sqlite"]])
def test_what_is_no_path_is_refused(value: Any) -> None:
    refuse_no_path(store=None, traces=Path("a.jsonl"), page="a.html")

    with pytest.raises(InvalidValueError) as refused:
        refuse_no_path(traces=None, store=value)

    assert str(refused.value) == f"store is {value!r}; give the path of a file"


def test_numbers_of_numpy_and_fractions_pass() -> None:
    refuse_below(1, k=np.int64(3))
    refuse_outside(0, 1, first=np.float32(0.5), second=Fraction(1, 2), third=0)
    refuse_negative(cost=np.float64(2))


@given(st.floats(0, 1))
def test_every_number_of_a_range_passes(value: float) -> None:
    refuse_outside(0, 1, threshold=value)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("paper", "preset is 'paper'; give 'official' or 'papers'. Did you mean 'papers'?"),
        ("x", "preset is 'x'; give 'official' or 'papers'"),
        (None, "preset is None; give 'official' or 'papers'"),
        (["official"], "preset is ['official']; give 'official' or 'papers'"),
    ],
)
def test_an_unknown_choice_is_refused_with_those_there_are(value: Any, told: str) -> None:
    refuse_other_than(("official", "papers"), preset="official")

    with pytest.raises(InvalidValueError) as refused:
        refuse_other_than(("official", "papers"), preset=value)

    assert str(refused.value) == told


@pytest.mark.parametrize("value", ["no", 1, None, [True]])
def test_a_flag_is_true_or_false(value: Any) -> None:
    refuse_no_flag(resume=True, overwrite=False)

    with pytest.raises(InvalidValueError) as refused:
        refuse_no_flag(resume=value)

    assert str(refused.value) == f"resume is {value!r}; give True or False"


def test_a_message_shows_no_more_than_the_beginning_of_an_argument() -> None:
    with pytest.raises(InvalidValueError) as refused:
        refuse_below(1, k="x" * 100_000)

    assert len(str(refused.value)) < 200


def test_one_text_is_refused_where_a_list_is_meant() -> None:
    refuse_one_text(by=["k"], nuggets=None)

    with pytest.raises(InvalidValueError, match=r"^by is one text; give a list: by=\['k'\]$"):
        refuse_one_text(by="k")
