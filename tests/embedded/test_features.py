"""The features that join the head for correctness: what they say of answers and references."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover_embedded.features import FEATURES, likeness, normalise_words, rank_references

WHOLE, LETTERS, INSIDE, RECALL, F1 = range(5)
NUMBERS, HAS_NUMBERS, OTHER_NUMBERS, NEGATES, DECLINES = range(8, 13)


@given(st.text(), st.lists(st.text(), max_size=4), st.text())
def test_there_is_one_number_between_0_and_1_for_each_feature(question: str, references: list[str], text: str) -> None:
    found = likeness(question, references, text)

    assert len(found) == len(FEATURES)
    assert all(0 <= value <= 1 for value in found)


@given(st.text(alphabet="abc ", min_size=1).filter(str.strip), st.text(alphabet="abc ", max_size=20))
def test_a_reference_that_stands_in_the_text_is_found(reference: str, around: str) -> None:
    words = normalise_words(reference)
    found = likeness("", [reference], f"{around} {reference} {around}")

    assert not words or (found[WHOLE], found[LETTERS], found[RECALL]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("Röntgen", "It was Wilhelm Rontgen."),
        ("the Mosel", "On the Mosel"),
        ("1,200", "about 1200 people"),
        ("twelve", "There were 12."),
        ("O'Neill", "Eugene O’Neill"),
        ("3rd", "the third"),
    ],
)
def test_spelling_does_not_hide_a_reference(reference: str, text: str) -> None:
    assert likeness("", [reference], text)[WHOLE] == 1


def test_a_word_is_not_found_inside_another() -> None:
    assert likeness("", ["art"], "a party")[WHOLE] == 0


def test_a_short_answer_stands_in_a_long_reference() -> None:
    assert likeness("", ["Harry Sinclair Lewis"], "Sinclair Lewis")[INSIDE] == 1


def test_numbers_that_the_reference_does_not_know_are_seen() -> None:
    right, wrong = likeness("In 1900?", ["1889"], "1889"), likeness("In 1900?", ["1889"], "in 1900, not 1888")

    assert (right[NUMBERS], right[HAS_NUMBERS], right[OTHER_NUMBERS]) == (1, 1, 0)
    assert (wrong[NUMBERS], wrong[HAS_NUMBERS], wrong[OTHER_NUMBERS], wrong[NEGATES]) == (0, 1, 1, 1)


@pytest.mark.parametrize("text", ["I'm sorry, I could not find that.", "I don't know", "Could you clarify what you mean?"])
def test_refusals_are_seen(text: str) -> None:
    assert likeness("", ["Paris"], text)[DECLINES] == 1


@given(st.lists(st.text(alphabet="ab ", max_size=5), max_size=5), st.text(alphabet="ab ", max_size=9))
def test_ranking_keeps_every_reference(references: list[str], text: str) -> None:
    assert sorted(rank_references(references, text)) == sorted(references)
