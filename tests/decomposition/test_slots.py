"""What stands for the answer to an earlier sub-question is found, filled, and left out without a trace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.decomposition.multihop.slots import fill_slots, slots_in, without_slots

PIECES = st.lists(st.sampled_from(["#1", "#2", "#3", "#12", "who", "born", "?", "the", ",", "'s", "C#", "#x"]), max_size=10)
TEXTS = st.one_of(PIECES.map(" ".join), st.text(alphabet="#123 a?'s.", max_size=20))


@pytest.mark.parametrize(
    ("text", "position", "slots"),
    [
        ("When was #1 born?", 2, (1,)),
        ("Is #2 older than #1, and #2 wiser?", 3, (2, 1)),
        ("Did #3 meet #1?", 3, (1,)),
        ("What is #0?", 2, ()),
        ("What is C#1 or ##1 or #1st?", 2, ()),
        ("What was the #1 hit?", 1, ()),
        ("(#1)'s wife", 2, (1,)),
    ],
)
def test_a_slot_is_a_number_sign_and_the_number_of_an_earlier_one(text: str, position: int, slots: tuple[int, ...]) -> None:
    assert slots_in(text, position=position) == slots


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("When was #1 born?", "When was born?"),
        ("#1's wife", "wife"),
        ("Who is #1’s wife?", "Who is wife?"),
        ("Who leads #1 ?", "Who leads?"),
        ("Which .NET version runs on #1?", "Which .NET version runs on?"),
        ("Where is Bob 's house in #1?", "Where is Bob 's house in?"),
        ("#1", ""),
        ("#1?", "?"),
        ("What  is\tit?", "What  is\tit?"),
    ],
)
def test_a_slot_that_is_left_out_takes_its_space_and_its_s_along(text: str, bare: str) -> None:
    assert without_slots(text, position=2) == bare


def test_a_slot_to_keep_is_kept() -> None:
    assert without_slots("Did #1 meet #2?", position=3, keep={2}) == "Did meet #2?"


@given(TEXTS)
def test_nothing_is_left_of_slots_that_are_left_out(text: str) -> None:
    assert slots_in(without_slots(text, position=4), position=4) == ()


@given(TEXTS)
def test_a_text_without_slots_stays_as_it_is(text: str) -> None:
    bare = text.replace("#", "")

    assert without_slots(bare, position=9) == fill_slots(bare, {1: "x"}) == bare


@given(TEXTS)
def test_slots_that_are_filled_with_themselves_stay(text: str) -> None:
    slots = slots_in(text, position=1000)

    assert fill_slots(text, {slot: f"#{slot}" for slot in slots}) == text


def test_an_answer_is_put_in_letter_by_letter() -> None:
    assert fill_slots(r"Who is #1?", {1: r"\1 & \g<0> #2 🌍"}) == r"Who is \1 & \g<0> #2 🌍?"
    assert fill_slots("Who are #2 and #1?", {1: "#2", 2: "Ada"}) == "Who are Ada and #2?"
