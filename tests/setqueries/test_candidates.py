import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.questions import Passage
from rag_cover.setqueries import SetQuery
from rag_cover.setqueries.candidates import depths_of, entity_name, pool_candidates

A, B, C = map(SetQuery.atom, "ABC")


def passages(*names: str) -> list[Passage]:
    return [Passage(f"about {name}", title=name) for name in names]


def names(query: SetQuery, **found: list[Passage]) -> list[str]:
    return [each.name for each in pool_candidates(query, found)]


def test_what_only_a_negated_atoms_search_found_is_no_candidate() -> None:
    found = names(A - B, A=passages("x"), B=passages("y", "x"))

    assert found == ["x"]


def test_what_two_searches_found_stands_first_in_an_intersection() -> None:
    found = names(A & B, A=passages("x", "both"), B=passages("y", "both"))

    assert found[0] == "both"


def test_a_union_is_ordered_by_the_better_rank() -> None:
    found = names(A | B, A=passages("x", "y"), B=passages("z", "y"))

    assert found == ["x", "z", "y"]


def test_pieces_of_one_document_are_one_candidate() -> None:
    pieces = [Passage("first piece", id="1", title="Emma"), Passage("second piece", id="2", title="Emma")]

    (candidate,) = pool_candidates(A, {"A": pieces})

    assert candidate.name == "Emma"
    assert [each.id for each in candidate.passages] == ["1", "2"]
    assert candidate.ranks == {"A": 1}


def test_a_negated_atoms_search_adds_its_passages_to_candidates() -> None:
    telling = Passage("It lives in Guyana, too.", id="2", title="condor")

    (candidate,) = pool_candidates(A - B, {"A": [Passage("A bird.", id="1", title="condor")], "B": [telling]})

    assert telling in candidate.passages
    assert candidate.ranks == {"A": 1, "B": 1}


def test_an_entity_is_named_by_its_title_else_its_id_else_its_text() -> None:
    assert entity_name(Passage("text", id="7", title="Emma")) == "Emma"
    assert entity_name(Passage("text", id="7", title=" ")) == "7"
    assert entity_name(Passage("text")) == "text"


def test_intersected_atoms_are_searched_for_twice_as_deep() -> None:
    assert depths_of((A & B) - C, 10) == {"A": 20, "B": 20, "C": 10}
    assert depths_of(A | (B & C), 10) == {"A": 10, "B": 20, "C": 20}
    assert depths_of(A - B, 10) == {"A": 10, "B": 10}


@given(st.lists(st.sampled_from("uvwxyz"), unique=True), st.lists(st.sampled_from("uvwxyz"), unique=True))
def test_every_entity_of_a_source_is_a_candidate_once(first: list[str], second: list[str]) -> None:
    found = names(A & B, A=passages(*first), B=passages(*second))

    assert sorted(found) == sorted({*first, *second})


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_where_nothing_names_an_entity_its_passages_names_do(nothing: str | None) -> None:
    found = pool_candidates(
        A, {"A": [Passage("one", title="Emma"), Passage("two", id="2"), Passage("three")]}, lambda _: nothing
    )

    assert [each.name for each in found] == ["Emma", "2", "three"]


def test_blank_passages_without_title_or_id_have_a_name_all_the_same() -> None:
    (found,) = pool_candidates(A, {"A": [Passage(" ")]})

    assert found.name.strip()
