import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.backends import Failure
from rag_cover.questions import Passage
from rag_cover.setqueries import Candidate, SetQuery
from rag_cover.setqueries.candidates import Pooled
from rag_cover.setqueries.deciding import Decided, decide
from rag_cover.setqueries.judging import Judged
from rag_cover.setqueries.memberships import Combination, membership

CAFE = Passage("A café by the lake.", title="Café")
VEGAN, DOGS, QUIET = "vegan cafés", "cafés that allow dogs", "quiet cafés"
WITHOUT = SetQuery.atom(VEGAN) - DOGS
BOTH = SetQuery.atom(VEGAN) & DOGS


def judged(query: SetQuery, *values: float, combination: Combination = "minimum", threshold: float = 0.4) -> Decided:
    found = [Pooled("Café", (CAFE,), dict.fromkeys(query.atoms, 1))]
    verdicts: dict[tuple[str, str], Judged | Failure] = {
        (atom, "Café"): Judged(value, CAFE) for atom, value in zip(query.atoms, values, strict=True)
    }
    return decide(query, found, verdicts, combination=combination, threshold=threshold).explain({})


def only(made: Decided) -> Candidate:
    (candidate,) = (*made.kept, *made.others)
    return candidate


def test_what_is_kept_by_a_threshold_below_a_half_is_said_to_match() -> None:
    made = judged(SetQuery.atom(VEGAN), 0.45)

    assert [each.name for each in made.kept] == ["Café"]
    assert only(made).reason == f"matches {VEGAN!r} (0.45)"


def test_under_the_minimum_a_negated_atom_does_not_match_below_one_minus_the_threshold() -> None:
    made = judged(WITHOUT, 0.45, 0.55)

    assert made.kept
    assert only(made).reason == f"matches {VEGAN!r} (0.45); not enough evidence for {DOGS!r} (0.55)"
    assert [each.matched for each in only(made).evidence] == [True, False]


def test_what_a_high_threshold_leaves_out_for_a_faint_negated_atom_is_said_to_be_a_possibility() -> None:
    made = judged(WITHOUT, 0.95, 0.15, threshold=0.9)

    assert not made.kept
    assert only(made).reason == f"may match {DOGS!r} (0.15)"


def test_what_is_likelier_than_not_is_not_called_without_evidence_where_it_falls_short() -> None:
    assert only(judged(BOTH, 0.95, 0.85, threshold=0.9)).reason == f"not enough evidence for {DOGS!r} (0.85)"
    assert only(judged(BOTH, 0.95, 0.05)).reason == f"no evidence for {DOGS!r} (0.05)"


def test_what_no_atom_decides_alone_is_told_by_what_they_come_to_together() -> None:
    made = judged(BOTH, 0.6, 0.6, combination="product", threshold=0.5)

    assert not made.kept
    assert only(made).reason == f"matches {VEGAN!r} (0.60); matches {DOGS!r} (0.60); together 0.36"


def test_what_is_taken_away_from_what_is_taken_away_adds_members() -> None:
    nested = SetQuery.difference(VEGAN, SetQuery.difference(DOGS, QUIET))

    evidence = only(judged(nested, 0.9, 0.9, 0.9)).evidence

    assert [each.negated for each in evidence] == [False, True, False]


def test_an_atom_that_could_not_be_judged_neither_matches_nor_does_not() -> None:
    found = [Pooled("Café", (CAFE,), {VEGAN: 1})]
    failed: dict[tuple[str, str], Judged | Failure] = {
        (VEGAN, "Café"): Judged(0.9, CAFE),
        (DOGS, "Café"): Failure("ModelFailedError", "down"),
    }

    made = only(decide(WITHOUT, found, failed, combination="minimum", threshold=0.4).explain({}))

    assert made.probability is None
    assert [each.matched for each in made.evidence] == [True, None]
    assert made.reason == f"could not be judged by {DOGS!r}"


@given(st.tuples(*[st.floats(0, 1)] * 3), st.floats(0, 0.99))
@pytest.mark.parametrize(
    "query", [BOTH - QUIET, (SetQuery.atom(VEGAN) | DOGS) - QUIET, SetQuery.atom(VEGAN) | DOGS | QUIET, BOTH & QUIET]
)
def test_under_the_minimum_the_matched_atoms_are_the_set_algebra_of_the_outcome(
    query: SetQuery, values: tuple[float, float, float], threshold: float
) -> None:
    made = judged(query, *values, threshold=threshold)

    matched = {each.atom: [float(bool(each.matched))] for each in only(made).evidence}
    belongs: NDArray[np.float64] = membership(query, matched, combination="minimum")

    assert bool(belongs[0]) == bool(made.kept)
