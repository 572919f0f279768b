"""What passages are worth toward the answers that a receiver settles on, and which of them are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.augmentation.self_consistency import EstimatedUtility, consensus_answer, estimate_utilities
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage
from rag_cover.registry import open_entailer, open_receiver
from rag_cover.testing import ScriptedEntailer, ScriptedReceiver
from rag_cover.traces import Sample

SEINE = Passage("Paris lies on the Seine.", id="seine")
TIBER = Passage("Rome lies on the Tiber.", id="tiber")
RAIN = Passage("It rains.", id="rain")
SAME = ScriptedEntailer({("Which? Paris", "Which? Paris"): 1.0, ("Which? Rome", "Which? Rome"): 1.0})


def test_a_passage_that_shakes_the_receiver_s_own_answer_has_a_negative_utility() -> None:
    receiver = ScriptedReceiver(
        {
            f"{SEINE.text}\n{TIBER.text}": ("Paris", "Paris", "Paris", "Rome"),
            SEINE.text: ("Paris",),
            TIBER.text: ("Rome",),
        }
    )

    found = estimate_utilities("Which?", [SEINE, TIBER], receiver=receiver, entailer=SAME, sub_questions=(), n=4)

    # with both, three of four say Paris; without the Tiber all do, without the Seine none
    assert found.answers == {"Which?": "Paris"}
    assert found.values == pytest.approx({SEINE.key: 0.75, TIBER.key: -0.25})


def test_by_itself_a_passage_is_measured_against_none() -> None:
    receiver = ScriptedReceiver({SEINE.text: ("Paris",), TIBER.text: ("Rome",)}, prior=("Rome", "Paris"))

    found = estimate_utilities(
        "Which?",
        [SEINE, TIBER],
        receiver=receiver,
        entailer=SAME,
        sub_questions=(),
        attribution="add-one-in",
        n=2,
    )

    assert found.values == pytest.approx({SEINE.key: 0.5, TIBER.key: -0.5})


def test_where_most_samples_give_no_answer_no_utility_is_defined() -> None:
    receiver = ScriptedReceiver({}, prior=("unknown", "unanswerable", "Paris"))

    found = estimate_utilities("Which?", [SEINE], receiver=receiver, entailer=SAME, sub_questions=(), n=3)

    assert found == EstimatedUtility({"Which?": None}, {})
    assert found.keeping([SEINE], min_utility=1.0) == [0]


def test_a_passage_without_a_text_has_no_utility_and_is_kept() -> None:
    receiver = ScriptedReceiver({"Seine": ("Paris",)})
    empty = Passage("", id="empty")

    found = estimate_utilities("Which?", [empty, SEINE], receiver=receiver, entailer=SAME, sub_questions=())

    assert found.value_of(empty) is None
    assert found.keeping([empty, SEINE], min_utility=1.0) == [0, 1]


def test_no_passages_cost_nothing() -> None:
    receiver = ScriptedReceiver({})

    found = estimate_utilities("Which?", [], receiver=receiver, entailer=SAME)

    assert found == EstimatedUtility({}, {})
    assert receiver.asked.calls == 0


@pytest.fixture(scope="module")
def jaws_and_others() -> tuple[EstimatedUtility, Passage, Passage, Passage]:
    jaws = Passage("Jaws is a 1975 film directed by Steven Spielberg.", id="jaws")
    born = Passage("Steven Spielberg was born on 18 December 1946 in Cincinnati.", id="born")
    boat = Passage("The boat in the film is called Orca.", id="boat")

    found = estimate_utilities(
        "When was the director of film Jaws born?",
        [boat, jaws, born],
        receiver=open_receiver("embedded"),
        entailer=open_entailer("embedded"),
    )
    return found, jaws, born, boat


def test_the_passage_that_only_leads_to_the_next_is_worth_something_too(
    jaws_and_others: tuple[EstimatedUtility, Passage, Passage, Passage],
) -> None:
    found, jaws, born, boat = jaws_and_others

    assert found.answers["Who is the director of film Jaws?"] == "Steven Spielberg"
    assert found.values[jaws.key] > 0.1
    assert found.values[born.key] > 0.1
    assert found.values[boat.key] < 0.05


@pytest.mark.xfail(strict=True, reason="it is worth -0.06, less than nothing; with the judge before it was worth nothing")
def test_the_passage_that_leads_nowhere_is_worth_nothing(
    jaws_and_others: tuple[EstimatedUtility, Passage, Passage, Passage],
) -> None:
    found, *_, boat = jaws_and_others

    assert abs(found.values[boat.key]) < 0.05


def test_the_answer_is_what_samples_agree_on() -> None:
    assert consensus_answer([Sample("Rome"), Sample("Paris."), Sample("Paris"), Sample("none")]) == "Paris"
    assert consensus_answer([]) is None


@given(st.dictionaries(st.integers(0, 7), st.floats(-1, 1)), st.floats(-1, 1), st.integers(0, 9))
def test_what_is_kept_is_worth_enough_or_among_the_best(values: dict[int, float], least: float, keep: int) -> None:
    passages = [Passage(f"{number}", id=f"{number}") for number in range(8)]
    found = EstimatedUtility({}, {passages[number].key: value for number, value in values.items()})

    kept = found.keeping(passages, min_utility=least, keep=keep)

    assert kept == sorted(kept)
    assert len(kept) >= min(keep, len(passages))
    assert set(kept) >= {number for number in range(8) if values.get(number, 1.0) >= least}
    dropped = [values[number] for number in range(8) if number not in kept]
    assert all(value < least for value in dropped)
    extra = [values[number] for number in kept if number in values and values[number] < least]
    assert not extra or not dropped or min(extra) >= max(dropped)


def test_n_below_1_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="n is 0"):
        estimate_utilities("Which?", [SEINE], receiver=ScriptedReceiver({}), entailer=SAME, n=0)
