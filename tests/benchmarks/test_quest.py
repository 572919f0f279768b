"""How a reading of QUEST's rows is scored, on queries written by hand."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from rag_cover.setqueries import SetQuery

Import = Callable[[str], ModuleType]


def test_atoms_are_matched_as_well_as_they_can_be(module: Import) -> None:
    quest = module("support.quest")

    score = quest.atoms_f1(["Films set in Lisbon", "1990s films"], ["1990s films", "Films set in Peru"])

    assert score == pytest.approx((1 + 0.75) / 2)  # three of four tokens shared


def test_an_atom_without_a_partner_counts_nothing_on_either_side(module: Import) -> None:
    quest = module("support.quest")

    scores = [quest.atoms_f1(["a b"], ["a b", "c"]), quest.atoms_f1(["a b", "c"], ["a b"])]

    assert scores == [0.5, 0.5]


def test_an_expression_is_right_up_to_case_and_order_but_not_up_to_what_is_taken_away(module: Import) -> None:
    quest = module("support.quest")
    row = quest.Row("q", (SetQuery.atom("A") & "B") - "C")

    same, other = (quest.scored(query, row) for query in ((SetQuery.atom("b") & "a") - "c", (SetQuery.atom("A") & "C") - "B"))

    assert (same.template, same.atoms, same.expression) == (True, True, True)
    assert (other.template, other.atoms, other.expression) == (True, True, False)


def test_rows_that_share_an_atom_through_others_are_one_group(module: Import) -> None:
    quest = module("support.quest")
    rows = [quest.Row("q", SetQuery.union(*atoms)) for atoms in (("a", "b"), ("B", "c"), ("d", "e"), ("c", "f"))]

    first, second, third, fourth = quest.groups_of(rows)

    assert first == second == fourth != third


@pytest.mark.shared
def test_no_row_that_teaches_shares_an_atom_with_one_that_tests(module: Import) -> None:
    quest = module("support.quest")
    data = module("support.tables").DATA
    if not data.is_dir():
        pytest.skip("needs the data folder beside the checkout")

    tested = {atom.lower() for row in quest.testing(data) for atom in row.atoms}
    taught = {atom.lower() for row in quest.training(data) for atom in row.atoms}

    assert tested
    assert not tested & taught
