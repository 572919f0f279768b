from __future__ import annotations

import pytest

from rag_cover.complexity.question_types import Kind, kinds_of
from rag_cover.placeholder import DIGITS, Placeholder, is_identifier

DIGEST = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    "stand_in",
    [
        Placeholder(DIGEST[:DIGITS], 1, 1),
        Placeholder(DIGEST[:DIGITS], 2, 12, DIGEST[-DIGITS:]),
        Placeholder(DIGEST[:DIGITS], 0, 3, None, tuple(map(str, Kind))),
        Placeholder(DIGEST[:DIGITS], 30, 200, DIGEST[-DIGITS:], ("multi-hop", "set operation")),
    ],
)
def test_what_stands_in_place_of_a_text_is_read_as_it_was_written(stand_in: Placeholder) -> None:
    assert Placeholder.read(str(stand_in)) == stand_in


@pytest.mark.parametrize(
    "text", ["", "Why?", "[text redacted]", f"about [text redacted {DIGEST[:DIGITS]}, 1 word, 1 character]"]
)
def test_a_text_is_no_stand_in(text: str) -> None:
    assert Placeholder.read(text) is None
    assert not is_identifier(text)


def test_a_redacted_question_is_of_the_kinds_that_it_says() -> None:
    told = str(Placeholder(DIGEST[:DIGITS], 5, 20, None, ("comparative", "superlative")))

    assert kinds_of(told) == (Kind.COMPARATIVE, Kind.SUPERLATIVE)
