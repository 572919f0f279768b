"""Acronyms and the names that they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover_embedded.acronyms import write_out_acronyms


@pytest.mark.parametrize(
    ("references", "text", "aligned"),
    [
        (
            ["National Aeronautics and Space Administration"],
            "It was NASA.",
            "It was National Aeronautics and Space Administration.",
        ),
        (["United States of America"], "the U.S.A.", "the United States of America"),
        (["WHO"], "The World Health Organization", "The World Health Organization"),
        (["IT"], "Idle Talk", "Idle Talk"),
        (["Brenner Precision Engineering"], "BPE, in 2019", "Brenner Precision Engineering, in 2019"),
        (["European Union"], "in Union", "in Union"),
        (["European Union"], "the EFTA", "the EFTA"),
        (["Paris"], "NASA", "NASA"),
        (["NASA"], "NASA", "NASA"),
    ],
)
def test_acronyms_are_written_out_as_the_references_do(references: list[str], text: str, aligned: str) -> None:
    assert write_out_acronyms(text, references) == aligned


def test_an_acronym_that_is_asked_about_stays() -> None:
    assert write_out_acronyms("WHO", ["World Health Organization"], "What does WHO stand for?") == "WHO"


@given(st.text(), st.text(alphabet="abc ,"))
def test_references_without_names_change_nothing(text: str, reference: str) -> None:
    assert write_out_acronyms(text, [reference]) == text
