"""Texts cut at their marks: nothing is lost unsaid, nothing is shown twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_cover.backends import Span
from rag_cover.reports.excerpts import Mark, excerpt

spans = st.tuples(st.integers(-5, 400), st.integers(-5, 400)).map(sorted).map(lambda ends: Span(*ends))
marks = st.lists(st.builds(Mark, spans, st.integers(0, 4)), max_size=6)


def test_overlapping_marks_are_cut_where_either_begins_or_ends() -> None:
    pieces = excerpt("abcdef", [Mark(Span(0, 4), 1), Mark(Span(2, 6), 2)])

    assert [(piece.text, piece.numbers, piece.ends) for piece in pieces] == [
        ("ab", (1,), ()),
        ("cd", (1, 2), (1,)),
        ("ef", (2,), (2,)),
    ]


def test_a_long_text_without_marks_shows_its_start() -> None:
    pieces = excerpt("x" * 100, limit=30)

    assert [(len(piece.text), piece.cut) for piece in pieces] == [(30, 0), (0, 70)]


def test_two_distant_fragments_are_both_shown() -> None:
    text = "a" * 1000 + "first" + "b" * 1000 + "second" + "c" * 1000
    pieces = excerpt(text, [Mark(Span(1000, 1005), 1), Mark(Span(2005, 2011), 2)], limit=200)

    assert [piece.text for piece in pieces if piece.numbers] == ["first", "second"]
    assert sum(len(piece.text) for piece in pieces) <= 200


def test_an_empty_text_has_no_pieces() -> None:
    assert excerpt("", [Mark(Span(0, 3), 1)]) == ()


@given(st.integers(0, 300), marks, st.integers(1, 400))
def test_shown_and_cut_characters_add_up_to_the_text(length: int, marked: list[Mark], limit: int) -> None:
    text = "".join(chr(97 + index % 26) for index in range(length))

    pieces = excerpt(text, marked, limit=limit)

    position = 0
    for piece in pieces:
        assert text[position : position + len(piece.text)] == piece.text
        position += len(piece.text) + piece.cut
    assert position == length
