"""An augmenter refuses what cannot work before anything is searched for, and serves many questions at once."""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from rag_cover.augmentation.augmenter import tokens_in
from rag_cover.augmentation.result import AugmentationMode
from rag_cover.coverage import Augmenter, augment
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage, Question
from rag_cover.testing import KeywordScorer, ScriptedRetriever

SKY = "Why is the sky blue?"
AIR = Passage("The sky is blue because air scatters light.")


@pytest.mark.parametrize(
    ("mode", "complaint"),
    [
        ("retreival", "no augmentation is called 'retreival'. Did you mean 'retrieval'?"),
        ("M3", "There are: definition, subquestions, retrieval, end-to-end, auto."),
        ("", "no augmentation is called ''"),
        (None, "no augmentation is called None"),
    ],
)
def test_an_unknown_mode_is_refused_with_the_nearest(mode: str | None, complaint: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        augment(SKY, ScriptedRetriever(), mode=cast("AugmentationMode", mode), scorer=KeywordScorer())

    assert complaint in str(refused.value)


@pytest.mark.parametrize("mode", ["retrieval", "auto"])
def test_a_mode_that_judges_needs_a_scorer(mode: AugmentationMode) -> None:
    with pytest.raises(InvalidValueError, match=f"by '{mode}' judges coverage: give it a scorer"):
        Augmenter(retriever=ScriptedRetriever(), mode=mode)


def test_a_mode_that_writes_needs_a_generator() -> None:
    with pytest.raises(InvalidValueError, match="writes answers: give it a generator"):
        Augmenter(retriever=ScriptedRetriever(), mode="end-to-end", scorer=KeywordScorer())


@pytest.mark.parametrize("name", ["k", "depth", "max_tokens", "max_calls", "rounds", "workers"])
def test_a_number_of_less_than_one_is_refused_by_name(name: str) -> None:
    arguments: dict[str, int] = {name: 0}

    with pytest.raises(InvalidValueError, match=f"^{name} is 0; give a whole number of at least 1$"):
        augment(SKY, ScriptedRetriever(), scorer=KeywordScorer(), **arguments)  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize("name", ["k", "depth", "max_tokens", "max_calls", "rounds", "workers", "samples"])
@pytest.mark.parametrize("value", ["2", 1.5])
def test_what_is_no_whole_number_is_refused_by_name(name: str, value: object) -> None:
    arguments: dict[str, Any] = {name: value}

    with pytest.raises(InvalidValueError, match=f"^{name} is {value!r}; give a whole number of at least 1$"):
        augment(SKY, ScriptedRetriever(), scorer=KeywordScorer(), **arguments)


@pytest.mark.parametrize(
    ("question", "said"), [("", "is blank"), (" ", "is blank"), (None, "a text or a Question"), (3, "a text or a Question")]
)
def test_a_question_without_a_text_is_refused(question: Any, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        augment(question, ScriptedRetriever(), scorer=KeywordScorer())


@pytest.mark.parametrize("name", ["fair_share", "threshold", "sure"])
def test_a_share_that_is_no_number_is_refused_by_name(name: str) -> None:
    arguments: dict[str, Any] = {name: "0.5"}

    with pytest.raises(InvalidValueError, match=f"^{name} is '0.5'; give a number from 0 to 1$"):
        augment(SKY, ScriptedRetriever(), scorer=KeywordScorer(), **arguments)


@pytest.mark.parametrize("name", ["fair_share", "threshold", "sure"])
@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf])
def test_a_share_outside_0_and_1_is_refused_by_name(name: str, value: float) -> None:
    arguments: dict[str, float] = {name: value}

    with pytest.raises(InvalidValueError, match=f"^{name} is .*; give a number from 0 to 1$"):
        augment(SKY, ScriptedRetriever(), scorer=KeywordScorer(), **arguments)  # type: ignore[arg-type]  # by name


def test_a_scorer_whose_threshold_is_no_probability_is_refused() -> None:
    augmenter = Augmenter(retriever=ScriptedRetriever(), scorer=KeywordScorer(threshold=2.0))

    with pytest.raises(InvalidValueError, match="threshold is 2.0"):
        augmenter.augment(SKY)


def test_nothing_is_searched_for_before_the_sub_questions_are_sound() -> None:
    retriever = ScriptedRetriever()

    with pytest.raises(InvalidValueError, match=r"sub_questions\[0\] is blank"):
        augment(SKY, retriever, scorer=KeywordScorer(), sub_questions=[""])

    assert retriever.asked.calls == 0


@pytest.mark.parametrize("question", [SKY, Question(SKY, id="q1", references="Air.")])
def test_a_question_keeps_what_is_known_of_it(question: Question | str) -> None:
    found = augment(question, ScriptedRetriever(), scorer=KeywordScorer())

    assert found.question == (Question(question) if isinstance(question, str) else question)


def test_the_cut_that_was_used_is_told() -> None:
    cuts = [augment(SKY, ScriptedRetriever(), scorer=KeywordScorer(0.3), threshold=given).threshold for given in (None, 0.7)]

    assert cuts == [0.3, 0.7]


def test_one_augmenter_serves_many_threads() -> None:
    questions = [f"Why is number {number} blue?" for number in range(40)]
    retriever = ScriptedRetriever({question: [f"{question} Because."] for question in questions}, default=[AIR])
    augmenter = Augmenter(retriever=retriever, scorer=KeywordScorer(), workers=2)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda question: augmenter.augment(question, sub_questions=[SKY]), questions))

    assert [each.question.text for each in found] == questions
    assert all(each.steps[0].passages[0].text.startswith(each.question.text) for each in found)
    assert retriever.asked.calls == 80


def test_tokens_are_estimated_by_characters_and_rounded_up() -> None:
    assert [tokens_in(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]


def test_tokens_are_counted_by_whoever_can() -> None:
    retriever = ScriptedRetriever(default=["one two three", "four", "five six"])

    found = augment(SKY, retriever, scorer=KeywordScorer(), max_tokens=4, count_tokens=lambda text: len(text.split()))

    assert [passage.text for passage in found.passages] == ["one two three", "four"]
