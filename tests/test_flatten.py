"""Markup becomes white space, character by character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.texts import flatten

MARKUP = st.text(alphabet="ab 1.\n#*_`|-[]()<>~!:\\", max_size=300)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Heading\n\nText", "Heading Text"),
        ("**bold** and _italic_ and `code`", "bold and italic and code"),
        ("- one\n* two\n- [x] three", "one two three"),
        ("> quoted", "quoted"),
        ("```python\nx = 1\n```", "x = 1"),
        ("see [the page](https://example.com/a_(b)) now", "see the page now"),
        ("| Salt | 14 g |\n|---|:---:|\n| Flour | 500 g |", "Salt , 14 g Flour , 500 g"),
        ("<b>bold</b><br/>next<!-- hidden -->", "bold next"),
        ("---\ntext\n***", "text"),
        ("snake_case stays, 2*3 does not", "snake_case stays, 2 3 does not"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("a || b", "a || b"),
        ("", ""),
    ],
)
def test_only_words_are_left(text: str, words: str) -> None:
    assert " ".join(flatten(text).split()) == words


@given(MARKUP)
def test_every_character_keeps_its_place(text: str) -> None:
    flat = flatten(text)

    assert len(flat) == len(text)
    assert all(new in (old, " ", ",") for new, old in zip(flat, text, strict=True))


@given(MARKUP)
def test_no_letter_is_lost_outside_of_tags_and_links(text: str) -> None:
    if "<" not in text and "[" not in text and "`" not in text and "~" not in text:
        assert [char for char in flatten(text) if char.isalnum()] == [char for char in text if char.isalnum()]


def test_text_without_markup_stays() -> None:
    plain = "Plain text, with 3.5 numbers (and brackets): nothing to do."

    assert flatten(plain) == plain
