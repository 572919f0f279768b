"""Dates, numbers and places, compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.belief.compared_values import is_less, is_same


@pytest.mark.parametrize(
    ("one", "other", "less"),
    [
        ("10 August 1961", "11 August 1961", True),
        ("December 18, 1946", "30 November 1937", False),
        ("May 1950", "2 May 1950", None),
        ("1950", "2 May 1950", None),
        ("(born 3rd of March 1804)", "1805", True),
        ("1999-12-31", "January 1, 2000", True),
        ("428 BC", "347 BC", True),
        ("750 BCE", "12", True),
        ("8,849 m", "8,611 metres", False),
        ("3.2 million", "950,000", False),
        ("Paris", "1961", None),
        ("1961", "1961", None),
    ],
)
def test_what_comes_first(one: str, other: str, *, less: bool | None) -> None:
    assert is_less(one, other) is less


@given(st.text(max_size=30), st.text(max_size=30))
def test_order_is_antisymmetric(one: str, other: str) -> None:
    turned = is_less(other, one)

    assert is_less(one, other) is (None if turned is None else not turned)


@given(st.dates(), st.dates())
def test_dates_are_ordered_as_they_are(one: object, other: object) -> None:
    assert is_less(f"{one:%d %B %Y}", f"{other:%B %d, %Y}") is (None if one == other else one < other)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("American", "the United States"),
        ("Rabor, Kerman Province, Iran", "Iranian"),
        ("French film director", "France"),
        ("Germany", "German"),
        ("Swedish", "Sweden"),
        ("New York", "New York"),
        ("a doctor", "Doctor"),
    ],
)
def test_what_is_the_same(one: str, other: str) -> None:
    assert is_same(one, other)
    assert is_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Austria", "Australia"), ("Slovakia", "Slovenia"), ("New York", "New Zealand"), ("Iran", "Iraq"), ("", "Iran"), ("", "")],
)
def test_what_is_not_the_same(one: str, other: str) -> None:
    assert not is_same(one, other)
    assert not is_same(other, one)
