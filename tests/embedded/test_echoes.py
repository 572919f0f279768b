"""Texts that only repeat the question answer nothing; those that add a word may."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.backends import ScoringItem
from rag_cover_embedded.echoes import only_repeats
from rag_cover_embedded.judge import EmbeddedJudge

FERRY = "When does the Sunday ferry leave Kallvik?"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (FERRY, "The Sunday ferry leaves Kallvik at the time when the ferry from Kallvik is leaving on Sunday."),
        (FERRY, "You want to know when the Sunday ferry leaves Kallvik."),
        ("Why do some leaves turn red in autumn?", "There is a reason why some leaves turned red in autumn."),
        ("how many days of leave do fathers get", "Fathers get a certain number of days of leave."),
        ("Who founded Selmar?", "Selmar was founded by someone."),
        ("Which battery does the torch take?", "# Which battery does the torch take?"),
    ],
)
def test_a_text_in_the_question_s_words_alone_only_repeats_it(question: str, text: str) -> None:
    assert only_repeats(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (FERRY, "The Sunday ferry leaves Kallvik at 9."),
        (FERRY, "The Sunday ferry never leaves Kallvik."),
        (FERRY, "Kallvik."),
        ("What is Amasi?", "A drink."),
        ("Is the Sunday ferry late?", "The Sunday ferry is late."),
        ("Which is heavier, the torch or the battery?", "The battery is the heavier one."),
        ("Who founded Selmar?", "Ada Selmar founded it."),
        ("What colour is an orange?", "Orange."),
        ("", ""),
    ],
)
def test_a_text_that_adds_a_word_or_answers_a_choice_does_not(question: str, text: str) -> None:
    assert not only_repeats(question, text)


@given(st.text(), st.text(alphabet="abcdef "), st.integers(10, 99))
def test_a_number_that_the_question_does_not_name_is_something_new(question: str, text: str, number: int) -> None:
    assert str(number) in question or not only_repeats(question, f"{text} {number}")


@pytest.mark.parametrize("user_question", ["", FERRY])
def test_the_judge_finds_no_answer_in_it(user_question: str) -> None:
    text = "The Sunday ferry leaves Kallvik at the time the ferry from Kallvik leaves on Sunday."

    (found,) = EmbeddedJudge().correctness([ScoringItem(FERRY, text, user_question=user_question)])

    assert found < 0.05
