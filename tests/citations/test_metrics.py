"""Citation recall and precision: worked vectors as ALCE's published script has them, and the laws that they obey."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.citations.metrics import CitedSupport, citation_precision, citation_recall, list_precision

BARE = CitedSupport()
ONE = CitedSupport(together=True, alone=(True,), without=(False,))
WRONG = CitedSupport(together=False, alone=(False,), without=(False,))
BOTH_NEEDED = CitedSupport(together=True, alone=(False, False), without=(False, False))
ONE_TOO_MANY = CitedSupport(together=True, alone=(True, False), without=(False, True))
EITHER = CitedSupport(together=True, alone=(True, True), without=(True, True))
NOT_TOGETHER = CitedSupport(together=False, alone=(True, False), without=(False, True))
LOST = CitedSupport(together=True, alone=(True,), without=(False,), missing=1)


@pytest.mark.parametrize(
    ("statements", "recall", "precision"),
    [
        ([ONE, ONE], 1.0, 1.0),
        ([ONE, BARE], 1 / 2, 1.0),
        ([ONE, WRONG, BARE], 1 / 3, 1 / 2),
        ([BOTH_NEEDED], 1.0, 1.0),
        ([ONE_TOO_MANY], 1.0, 1 / 2),
        ([EITHER, ONE_TOO_MANY, WRONG], 2 / 3, 3 / 5),
        ([NOT_TOGETHER], 0.0, 0.0),
        ([LOST, ONE], 1 / 2, 1.0),
    ],
    ids=["right", "uncited", "wrong", "joint", "irrelevant", "several", "confusing", "missing"],
)
def test_recall_and_precision_are_those_of_the_published_script(
    statements: list[CitedSupport], recall: float, precision: float
) -> None:
    assert citation_recall(statements) == pytest.approx(recall)
    assert citation_precision(statements) == pytest.approx(precision)


def test_where_nothing_is_cited_precision_is_undefined_and_recall_is_0() -> None:
    assert (citation_recall([BARE]), citation_precision([BARE]), list_precision([BARE])) == (0.0, None, None)


def test_without_statements_neither_is_defined() -> None:
    assert (citation_recall([]), citation_precision([]), list_precision([])) == (None, None, None)


def test_a_listed_source_is_precise_where_it_is_for_some_statement() -> None:
    other = CitedSupport(together=True, alone=(False, True), without=(True, False))

    assert list_precision([ONE_TOO_MANY, other]) == 1.0
    assert list_precision([ONE_TOO_MANY]) == 0.5
    assert list_precision([NOT_TOGETHER]) == 0.0


@st.composite
def supports(draw: st.DrawFn) -> CitedSupport:
    count = draw(st.integers(0, 4))
    bits = st.lists(st.booleans(), min_size=count, max_size=count)
    return CitedSupport(draw(st.booleans()), tuple(draw(bits)), tuple(draw(bits)), draw(st.integers(0, 1)))


@given(st.lists(supports(), max_size=5))
def test_both_are_shares(statements: list[CitedSupport]) -> None:
    values = (citation_recall(statements), citation_precision(statements))
    assert all(value is None or 0 <= value <= 1 for value in values)


@given(st.lists(supports(), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_statements_changes_nothing(statements: list[CitedSupport], rng: object) -> None:
    turned = list(statements)
    rng.shuffle(turned)  # type: ignore[attr-defined]  # a random.Random

    assert citation_recall(turned) == pytest.approx(citation_recall(statements))
    assert citation_precision(turned) == pytest.approx(citation_precision(statements))


@given(st.lists(supports(), min_size=1, max_size=5))
def test_precision_above_0_needs_a_supported_statement(statements: list[CitedSupport]) -> None:
    if citation_precision(statements):
        assert (citation_recall(statements) or 0) > 0
