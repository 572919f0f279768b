"""Short texts without an amount or a time, where one is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.backends import ScoringItem
from rag_cover_embedded.asked_kinds import lacks_asked_kind
from rag_cover_embedded.judge import EmbeddedJudge


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the atomic number of gold?", "Yellow."),
        ("How many people live in Tarn?", "Mrs Okafor."),
        ("and how old is the cousin in Palermo?", "Nino."),
        ("At what temperature is steel tempered?", "It hardens it."),
        ("what's the boiling point of ethanol", "It smells of pears"),
        ("When was the bridge finished?", "Thomas Bouch had designed it."),
        ("In which year did the mill close?", "Oil."),
        ("How much is the excess on the policy?", "Harrow Lettings."),
    ],
)
def test_a_text_without_an_amount_or_a_time_lacks_it(question: str, text: str) -> None:
    assert lacks_asked_kind(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many legs has a crab?", "Ten."),
        ("How many legs has a snake?", "None."),
        ("How many cantons speak French?", "Geneva, Vaud, Neuchâtel and Jura."),
        ("How much is breakfast?", "It's included."),
        ("How much does the app cost?", "Nothing."),
        ("How often does the bank pay interest?", "Quarterly."),
        ("How long does it keep?", "Overnight."),
        ("How deep is the pond?", "Knee-deep."),
        ("How many people are affected?", "The prevalence is unknown."),
        ("Which Louis built it, and what number had he?", "Louis XIV."),
        ("When was the wall built?", "Under Hadrian."),
        ("When was the church built?", "The Middle Ages."),
        ("When did the firm go bankrupt?", "The Great Depression."),
        ("How long did the talks last?", "Ages."),
        ("How tall is the boy?", "Up to my shoulder."),
        ("How fast does the lift go?", "Walking pace."),
        ("When did she leave?", "As soon as the rain stopped."),
        ("What day is the market?", "Thursdays"),
        ("Who founded Ikea?", "Ingvar Kamprad."),
        ("When does Python raise a KeyError?", "Missing dictionary key"),  # a condition is no time
        ("How do I open the lid?", "Press the catch."),
    ],
)
def test_what_tells_one_or_is_asked_for_none_does_not(question: str, text: str) -> None:
    assert not lacks_asked_kind(question, text)


@given(st.text(max_size=120), st.integers(0, 9_999), st.text(max_size=120))
def test_a_text_with_a_digit_never_lacks_it(before: str, number: int, after: str) -> None:
    assert not lacks_asked_kind("How many?", f"{before}{number}{after}")


@given(st.text(min_size=301, max_size=400))
def test_longer_texts_are_left_to_the_network(text: str) -> None:
    assert not lacks_asked_kind("When did it end?", text)


def test_the_judge_takes_no_bare_noun_for_an_amount() -> None:
    judge = EmbeddedJudge()
    items = [
        ScoringItem("What is the atomic number of gold?", text, user_question="What is the atomic number of gold?")
        for text in ("Yellow.", "79.")
    ]

    noun, number = judge.correctness(items)

    assert noun < 0.05
    assert number > judge.reply_threshold
    assert judge.locate(items)[0] is None
