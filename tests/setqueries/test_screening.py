"""Candidates that an atom's search did not find and whose words do not name it are not judged by it, if that is asked for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.questions import Passage
from rag_cover.setqueries import SetAnswer, SetAnswerer, SetQuery
from rag_cover.setqueries.answers import question_for
from rag_cover.setqueries.candidates import Pooled
from rag_cover.setqueries.screening import DEEPEST_RANK, PRIOR, screen_candidates
from rag_cover.testing import ScriptedRetriever, ScriptedScorer

LISBON, CRIME = "novels set in Lisbon", "crime novels"
TEXTS = {"plain": "A story of two sisters.", "placed": "It is set in Lisbon.", "dark": "A crime, and a detective."}
PASSAGES = tuple(Passage(text, title=title) for title, text in TEXTS.items())


def pooled(passage: Passage, rank: int | None = None) -> Pooled:
    return Pooled(str(passage.title), (passage,), {LISBON: rank} if rank else {})


def answered(
    query: SetQuery, said: dict[tuple[str, str], float], found: dict[str, list[Passage]], **settings: Any
) -> SetAnswer:
    script = {
        (question_for(atom), f"{each.title}\n{each.text}"): said[atom, str(each.title)] for atom in found for each in PASSAGES
    }
    answerer = SetAnswerer(retriever=ScriptedRetriever(found), scorer=ScriptedScorer(script), workers=1, **settings)
    return answerer.answer(query)


def test_what_was_not_found_and_does_not_say_it_is_screened() -> None:
    plain, placed, _ = PASSAGES

    screened = screen_candidates([pooled(plain), pooled(placed)], {LISBON: LISBON})

    assert screened == {(LISBON, "plain"): PRIOR}


@pytest.mark.parametrize(("rank", "count"), [(DEEPEST_RANK, 0), (DEEPEST_RANK + 1, 1)])
def test_what_was_found_among_the_first_is_not_screened(rank: int, count: int) -> None:
    assert len(screen_candidates([pooled(PASSAGES[0], rank)], {LISBON: LISBON})) == count


def test_a_screened_candidate_is_left_out_without_a_judgment() -> None:
    plain, placed, dark = PASSAGES
    found = {LISBON: [placed], CRIME: [plain, dark]}
    said = {(atom, title): 0.9 for atom in found for title in TEXTS}

    answer = answered(SetQuery.atom(LISBON) & CRIME, said, found, screen=True)

    assert (answer.names, answer.judged) == ((), 0)
    assert {each.probability for each in answer.left_out} == {PRIOR}
    assert all(evidence.skipped for each in answer.left_out for evidence in each.evidence)


QUERIES = st.recursive(
    st.sampled_from([LISBON, CRIME]).map(SetQuery.atom),
    lambda parts: st.builds(
        lambda operator, one, other: operator(one, other),
        st.sampled_from([SetQuery.union, SetQuery.intersection, SetQuery.difference]),
        parts,
        parts,
    ),
    max_leaves=4,
)
FOUND = st.fixed_dictionaries({atom: st.lists(st.sampled_from(PASSAGES), unique=True) for atom in (LISBON, CRIME)})
SAID = st.fixed_dictionaries(
    {(atom, title): st.sampled_from([0.0, 0.3, 0.6, 1.0]) for atom in (LISBON, CRIME) for title in TEXTS}
)


@given(QUERIES, FOUND, SAID)
def test_screening_adds_nothing_and_costs_no_pair(
    query: SetQuery, found: dict[str, list[Passage]], said: dict[tuple[str, str], float]
) -> None:
    whole, screened = (answered(query, said, found, screen=screen) for screen in (False, True))

    assert set(screened.names) <= set(whole.names)
    assert screened.judged <= whole.judged
    assert [each for each in whole.entities if each.name in screened.names] == list(screened.entities)
    assert {each.name for each in screened.ranked} == {each.name for each in whole.ranked}


@given(QUERIES, FOUND, SAID)
def test_exhaustively_nothing_is_screened(
    query: SetQuery, found: dict[str, list[Passage]], said: dict[tuple[str, str], float]
) -> None:
    assert answered(query, said, found, exhaustive=True, screen=True) == answered(query, said, found, exhaustive=True)
