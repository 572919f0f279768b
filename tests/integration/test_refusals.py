"""Settings and questions that cannot be meant."""

from __future__ import annotations

import pytest

from rag_cover.errors import InvalidValueError
from rag_cover.integration import refuse_below, refuse_blank, refuse_on_error, refuse_utility


@pytest.mark.parametrize("value", [0, float("nan"), float("inf"), "5"])
def test_numbers_below_what_they_must_be_are_refused(value: float) -> None:
    with pytest.raises(InvalidValueError, match="it is at least 1, and finite"):
        refuse_below(1, top_n=value)


def test_what_may_be_meant_passes() -> None:
    refuse_below(1, top_n=1, samples=2.5)
    refuse_blank(" Why? ")
    refuse_on_error("keep")
    refuse_utility(-1)


def test_what_cannot_be_meant_is_refused_in_a_sentence() -> None:
    with pytest.raises(InvalidValueError, match="the question is blank; ask something"):
        refuse_blank(" \t")
    with pytest.raises(InvalidValueError, match="on_error is 'keep' or 'raise', not 'ignore'"):
        refuse_on_error("ignore")
    with pytest.raises(InvalidValueError, match=r"min_utility is nan; a utility is in \[-1, 1\]"):
        refuse_utility(float("nan"))
