"""Candidates that are judged in rounds: fewer pairs, the same answers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.questions import Passage
from rag_cover.setqueries import MembershipCalibration, SetAnswer, SetAnswerer, SetQuery
from rag_cover.setqueries.answers import question_for
from rag_cover.setqueries.memberships import COMBINATIONS, Combination, highest_membership, membership
from rag_cover.testing import ScriptedRetriever, ScriptedScorer

ATOMS = ("A", "B", "C")
PASSAGES = tuple(Passage(f"about {name}", title=name) for name in ("one", "two", "three", "four"))
PROBABILITIES = st.sampled_from([0.0, 0.05, 0.3, 0.45, 0.5, 0.55, 0.7, 0.95, 1.0])
QUERIES = st.recursive(
    st.sampled_from(ATOMS).map(SetQuery.atom),
    lambda parts: st.builds(
        lambda operator, one, other: operator(one, other),
        st.sampled_from([SetQuery.union, SetQuery.intersection, SetQuery.difference]),
        parts,
        parts,
    ),
    max_leaves=5,
)
FOUND = st.fixed_dictionaries({atom: st.lists(st.sampled_from(PASSAGES), unique=True) for atom in ATOMS})
SAID = st.fixed_dictionaries({(atom, passage.title): PROBABILITIES for atom in ATOMS for passage in PASSAGES})


def answered(
    query: SetQuery, found: dict[str, list[Passage]], said: dict[tuple[str, str], float], **settings: Any
) -> tuple[SetAnswer, int]:
    script = {
        (question_for(atom), f"{each.title}\n{each.text}"): said[atom, each.title or ""] for atom in ATOMS for each in PASSAGES
    }
    scorer = ScriptedScorer(script)
    answerer = SetAnswerer(retriever=ScriptedRetriever(found), scorer=scorer, workers=1, **settings)
    return answerer.answer(query), scorer.asked.items


@given(QUERIES, FOUND, SAID, st.sampled_from(COMBINATIONS), PROBABILITIES.filter(lambda value: value < 1))
def test_answers_with_bounds_are_the_answers_without(
    query: SetQuery,
    found: dict[str, list[Passage]],
    said: dict[tuple[str, str], float],
    combination: Combination,
    threshold: float,
) -> None:
    settings = {"calibration": MembershipCalibration(combination=combination), "threshold": threshold}

    whole, most = answered(query, found, said, exhaustive=True, **settings)
    bounded, asked = answered(query, found, said, **settings)

    assert bounded.entities == whole.entities
    assert bounded.steps == whole.steps
    assert {each.name for each in bounded.left_out} == {each.name for each in whole.left_out}
    assert asked == bounded.judged <= whole.judged == most
    least = {each.name: each.probability or 0.0 for each in whole.left_out}
    assert all((each.probability or 0.0) >= least[each.name] - 1e-9 for each in bounded.left_out)


@given(QUERIES, st.tuples(*[st.floats(0, 1)] * 3), st.sets(st.sampled_from(ATOMS)), st.sampled_from(COMBINATIONS))
def test_no_verdict_raises_a_membership_above_its_bound(
    query: SetQuery, values: tuple[float, float, float], unknown: set[str], combination: Combination
) -> None:
    known = dict(zip(ATOMS, values, strict=True))
    intervals = {atom: ([0.0], [1.0]) if atom in unknown else ([value], [value]) for atom, value in known.items()}

    value = membership(query, {atom: [each] for atom, each in known.items()}, combination=combination)[0]
    bound = highest_membership(query, intervals, combination=combination)[0]

    assert bound >= value - 1e-12
    if not unknown:
        assert bound >= value


SOME = {"A": list(PASSAGES), "B": list(PASSAGES[:1]), "C": []}
NOTHING = {(atom, passage.title or ""): 0.1 for atom in ATOMS for passage in PASSAGES}


@pytest.mark.parametrize("query", ["A & B & C", "A - C", "A & B - C"])
def test_what_lacks_one_atom_is_not_judged_by_another(query: str) -> None:
    found, asked = answered(SetQuery.from_text(query), SOME, NOTHING)

    assert asked == found.judged == len(PASSAGES)
    assert not found.entities


def test_an_intersection_is_judged_first_by_the_atom_that_did_not_find_the_candidate() -> None:
    found, _ = answered(SetQuery.intersection("A", "B"), SOME, NOTHING)

    two = next(each for each in found.left_out if each.name == "two")

    assert [(each.atom, each.skipped) for each in two.evidence] == [("A", True), ("B", False)]
    assert two.reason == "no evidence for 'B' (0.10)"


def test_what_belongs_to_a_union_is_judged_by_every_part() -> None:
    found, _ = answered(SetQuery.union("A", "B"), SOME, dict.fromkeys(NOTHING, 0.9))

    assert not any(each.skipped or each.probability is None for one in found.entities for each in one.evidence)


def test_an_atom_that_adds_and_takes_away_is_bounded_by_its_whole_range() -> None:
    query = SetQuery.union("A", SetQuery.difference("B", "A"))

    assert highest_membership(query, {"A": ([0.0], [1.0]), "B": ([0.0], [0.0])}).tolist() == [1.0]
    assert highest_membership(query, {"A": ([0.2], [0.2]), "B": ([0.0], [0.0])}).tolist() == [0.2]


def test_nothing_is_said_of_an_atom_by_which_excluded_candidates_were_not_judged() -> None:
    found, _ = answered(SetQuery.intersection("A", "B"), SOME, NOTHING)

    assert any(each.skipped for candidate in found.left_out for each in candidate.evidence)
    assert not any("candidate" in note and "match" in note for note in found.notes if "'A'" in note)


def test_a_note_says_of_how_many_judged_candidates_none_matches() -> None:
    said = NOTHING | {("A", "one"): 0.9, ("B", "one"): 0.1}

    notes = answered(SetQuery.atom("A") - "B", SOME, said)[0].notes

    assert any("judged by it" in note and "'B'" in note for note in notes)
