"""Settings and questions that cannot be meant."""

from __future__ import annotations

from typing import Any

import pytest

from rag_cover.errors import InvalidValueError
from rag_cover.integration import refuse_below, refuse_blank, refuse_on_error, refuse_other_than, refuse_utility, refuse_weight


@pytest.mark.parametrize("value", [0, -1])
def test_counts_below_what_they_must_be_are_refused(value: int) -> None:
    with pytest.raises(InvalidValueError, match=f"^top_n is {value}; it is at least 1$"):
        refuse_below(1, top_n=value)


@pytest.mark.parametrize("value", [2.5, float("nan"), float("inf"), "5", True, None])
def test_counts_that_are_no_whole_numbers_are_refused(value: Any) -> None:
    with pytest.raises(InvalidValueError, match=f"^top_n is {value!r}; it must be a whole number of at least 1$"):
        refuse_below(1, top_n=value)


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "5"])
def test_weights_below_zero_are_refused(value: Any) -> None:
    with pytest.raises(InvalidValueError, match=f"^retrieval_weight is {value!r}; it is at least 0, and finite$"):
        refuse_weight(value)


def test_what_may_be_meant_passes() -> None:
    refuse_below(1, top_n=1, samples=2)
    refuse_weight(None)
    refuse_weight(0.3)
    refuse_other_than(("a", "b"), choice="b")
    refuse_blank(" Why? ")
    refuse_on_error("keep")
    refuse_utility(-1)


def test_what_cannot_be_meant_is_refused_in_a_sentence() -> None:
    with pytest.raises(InvalidValueError, match="the question is blank; ask something"):
        refuse_blank(" \t")
    with pytest.raises(InvalidValueError, match="on_error is 'keep' or 'raise', not 'ignore'"):
        refuse_on_error("ignore")
    with pytest.raises(InvalidValueError, match="attribution is 'leave-one-out' or 'add-one-in', not 'loo'"):
        refuse_other_than(("leave-one-out", "add-one-in"), attribution="loo")
    with pytest.raises(InvalidValueError, match=r"min_utility is nan; a utility is in \[-1, 1\]"):
        refuse_utility(float("nan"))
