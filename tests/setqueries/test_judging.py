import pytest

from rag_cover.errors import InputError, InvalidValueError
from rag_cover.questions import Passage
from rag_cover.setqueries import MembershipCalibration
from rag_cover.setqueries.calibration import FEATURES, membership_calibration_for
from rag_cover.setqueries.candidates import Pooled
from rag_cover.setqueries.judging import AtomPassage, Judged, MembershipJudge, fragments_of, within
from rag_cover.testing import KeywordLocator, ScriptedScorer

SCORED = MembershipCalibration(weights=(0.0, 1.0, 0.0, 0.0, 0.0))
"""The scorer's probability as it is."""

LISBON = Passage("It plays out in the Portuguese capital. A sequel never came.", title="Tides")
PAIR = AtomPassage("novels set in Lisbon", LISBON)


def scorer(probability: float) -> ScriptedScorer:
    return ScriptedScorer({(PAIR.item.question, PAIR.item.text): probability})


def pooled(name: str, count: int) -> Pooled:
    return Pooled(name, tuple(Passage(f"{name} {number}") for number in range(count)), {"A": 1})


def test_without_a_calibration_the_scorers_probability_stands() -> None:
    (found,) = MembershipJudge(scorer(0.75), MembershipCalibration()).memberships([PAIR]).values()

    assert found == pytest.approx(0.75)


def test_words_that_are_denied_weigh_against() -> None:
    denied = AtomPassage("novels set in Lisbon", Passage("It is not set in Lisbon."))
    calibration = MembershipCalibration(weights=(0.0, 0.0, 0.0, -20.0, 0.0))

    (found,) = MembershipJudge(ScriptedScorer(), calibration).memberships([denied]).values()

    assert found == pytest.approx(0.0, abs=0.01)


def test_a_pair_is_asked_about_once_however_many_candidates_share_it() -> None:
    twice = [Pooled("Tides", (LISBON,), {}), Pooled("Tides again", (LISBON,), {})]
    asked = scorer(0.75)

    found = MembershipJudge(asked, SCORED).judge(twice, {"A": PAIR.asked})

    assert asked.asked.items == 1
    assert {name for _, name in found} == {"Tides", "Tides again"}
    assert {each.passage for each in found.values() if isinstance(each, Judged)} == {LISBON}


def test_the_budget_counts_passages_times_atoms_and_keeps_at_least_one() -> None:
    candidates = [pooled("a", 2), pooled("b", 1), pooled("c", 1)]

    assert [each.name for each in within(candidates, 2, 6)] == ["a", "b"]
    assert [each.name for each in within(candidates, 2, 1)] == ["a"]


def test_a_fragment_is_the_passages_own_and_never_its_title() -> None:
    in_title = AtomPassage("tides", Passage("Nothing else.", title="Tides"))

    found = fragments_of([in_title], KeywordLocator())

    assert found[in_title] in (None, "Nothing else.")


def test_a_calibration_is_read_back_as_it_was_written() -> None:
    assert MembershipCalibration.from_dict(SCORED.to_dict()) == SCORED


@pytest.mark.parametrize("wrong", [{}, {"weights": [1.0]}, {"weights": [], "threshold": 2.0}])
def test_what_is_no_calibration_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match="no calibration of set queries"):
        MembershipCalibration.from_dict(wrong)


def test_weights_of_another_number_than_features_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=f"{1 + len(FEATURES)} weights or none"):
        MembershipCalibration(weights=(1.0,))


def test_nothing_was_fitted_for_a_judge_that_is_not_known() -> None:
    assert membership_calibration_for("testing:nobody") is None
