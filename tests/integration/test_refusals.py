"""Questions and choices that cannot be meant."""

from __future__ import annotations

import pytest

from rag_cover.errors import InvalidValueError
from rag_cover.integration import refuse_blank, refuse_on_error


def test_what_may_be_meant_passes() -> None:
    refuse_blank(" Why? ")
    refuse_on_error("keep")


def test_what_cannot_be_meant_is_refused_in_a_sentence() -> None:
    with pytest.raises(InvalidValueError, match="the question is blank; ask something"):
        refuse_blank(" \t")
    with pytest.raises(InvalidValueError, match="^on_error is 'ignore'; give 'keep' or 'raise'$"):
        refuse_on_error("ignore")
