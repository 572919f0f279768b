"""Claims made false by a rule: one thing is exchanged, and it is one that the passage holds."""

from __future__ import annotations

import random

import pytest

from rag_cover_embedded.training.example import ENTAILMENT, NOT_ENTAILED
from rag_cover_embedded.training.swaps import (
    exchange_roles,
    make_swapped_claims,
    near_number,
    negate_sentence,
    opposite_word,
    other_month,
    other_name,
    other_number,
)

PASSAGE = (
    "The bridge was designed by Ada Lorne in 1931. "
    "Its builder, Marrow Works, sold it to Tessaly County for 4200 pounds in 1954. "
    "It was closed in March because of a flood."
)
FIRST = "The bridge was designed by Ada Lorne in 1931."
SECOND = "Its builder, Marrow Works, sold it to Tessaly County for 4200 pounds in 1954."


def test_a_name_is_exchanged_for_another_of_the_passage() -> None:
    changed = other_name(FIRST, PASSAGE, random.Random(0))

    assert changed in {FIRST.replace("Ada Lorne", name) for name in ("Marrow Works", "Tessaly County")}


def test_a_number_is_exchanged_for_another_of_the_same_length() -> None:
    changed = other_number(FIRST, PASSAGE, random.Random(0))

    assert changed in {FIRST.replace("1931", number) for number in ("1954", "4200")}


def test_one_digit_changes() -> None:
    changed = near_number(FIRST, PASSAGE, random.Random(0))

    assert changed is not None
    assert sum(a != b for a, b in zip(changed, FIRST, strict=True)) == 1


def test_roles_are_exchanged_within_a_sentence() -> None:
    assert exchange_roles(SECOND, PASSAGE, random.Random(0)) == (
        "Its builder, Tessaly County, sold it to Marrow Works for 4200 pounds in 1954."
    )


def test_names_in_a_row_are_no_roles() -> None:
    assert exchange_roles("It was built by Ada Lorne and Ben Vale.", PASSAGE, random.Random(0)) is None


def test_a_month_and_a_word_have_others() -> None:
    month = other_month("It was closed in March.", PASSAGE, random.Random(0))

    assert month is not None
    assert "March" not in month
    assert opposite_word("It opened before noon.", PASSAGE, random.Random(0)) == "It opened after noon."


@pytest.mark.parametrize(("said", "denied"), [("It was sold.", "It was not sold."), ("It was not sold.", "It was sold.")])
def test_a_denial_is_put_in_or_taken_out(said: str, denied: str) -> None:
    assert negate_sentence(said, PASSAGE, random.Random(0)) == denied


def test_each_false_claim_comes_with_a_true_one() -> None:
    found = [*make_swapped_claims([PASSAGE] * 8, random.Random(3), most=10)]

    assert found
    assert [each.label for each in found] == [NOT_ENTAILED, ENTAILMENT["entailment"]] * (len(found) // 2)
    assert all(each.second not in PASSAGE for each in found if each.label == NOT_ENTAILED)
