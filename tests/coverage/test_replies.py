"""Replies by their words alone: which ones only repeat the question, and how long they are."""

from __future__ import annotations

import pytest

from rag_cover.coverage import CoverageResult, judge_coverage
from rag_cover.coverage.replies import count_words, repeats
from rag_cover.questions import Question, Role, SubQuestion
from rag_cover.testing import KeywordScorer
from rag_cover.traces import Trace

RECYCLED = "How are the batteries of heat pumps recycled?"


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("What is the capital of France?", "what is the capital of France"),
        (RECYCLED, "It is about how the heat pump's batteries are recycled, and how pumps are recycled."),
        (RECYCLED, "The batteries of heat pumps are recycled."),
        ("Who, then, was it?", "Who then was it?"),
    ],
)
def test_a_reply_in_the_question_s_words_repeats_it(question: str, reply: str) -> None:
    assert repeats(question, reply)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Is it red, green or blue?", "Blue."),
        ("What is the capital of France?", "The capital of France."),
        (RECYCLED, "The batteries of heat pumps are melted."),
        (RECYCLED, "The documents do not say how the batteries of heat pumps are recycled."),
        (RECYCLED, ""),
        ("Is it?", "It is."),
    ],
)
def test_a_reply_with_words_of_its_own_or_with_few_words_repeats_nothing(question: str, reply: str) -> None:
    assert not repeats(question, reply)


def test_nine_in_ten_content_words_are_enough_and_fewer_are_not() -> None:
    question = "one two three four five six seven eight nine"

    assert repeats(question, f"{question} zebra")
    assert not repeats(question, f"{question} zebra lion")


def test_a_number_is_one_word_and_so_is_a_character_of_a_script_without_spaces() -> None:
    counts = {"Yes.": 1, "12,000 euros": 2, "": 0, " … - ": 0, "it's 3.5 km": 3, "東京タワー": 5}

    assert {text: count_words(text) for text in counts} == counts


def _judged(answer: str | None, threshold: float = 1.0) -> CoverageResult:
    asked = (SubQuestion(RECYCLED, role=Role.CORE),)
    trace = Trace(question=Question(RECYCLED), answer=answer, sub_questions=asked, prompt=())
    (result,) = judge_coverage([trace], KeywordScorer(), threshold=threshold)
    return result


def test_an_answer_that_repeats_the_question_and_covers_nothing_is_told() -> None:
    result = _judged("Recycled batteries of pumps.")

    assert (result.repeats_question, result.answer_words) == (True, 4)
    assert CoverageResult.from_dict(result.to_dict()) == result


def test_an_answer_that_covers_a_core_sub_question_repeats_nothing() -> None:
    assert not _judged("Recycled batteries of pumps.", threshold=0.1).repeats_question


def test_without_an_answer_it_has_no_length() -> None:
    result = _judged(None)

    assert (result.repeats_question, result.answer_words) == (False, None)
    assert {"repeats_question", "answer_words"}.isdisjoint(result.to_dict())
    assert CoverageResult.from_dict(result.to_dict()) == result
