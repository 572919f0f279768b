from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.complexity import Kind, kinds_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the place of birth of the composer of the film Vertigo?", Kind.MULTI_HOP),
        ("When was the director of Vertigo (1958 film) born?", Kind.MULTI_HOP),
        ("What nationality is Marie Curie's husband?", Kind.MULTI_HOP),
        ("Who is the paternal grandmother of Henry VIII?", Kind.MULTI_HOP),
        ("What is the population of the city where Kafka was born?", Kind.MULTI_HOP),
        ("Which film whose director was born first, Vertigo or Psycho?", Kind.MULTI_HOP),
        ("Which film was released earlier, Vertigo or Psycho?", Kind.COMPARATIVE),
        ("Was Kafka or Brod born first?", Kind.COMPARATIVE),
        ("Are Vertigo and Psycho both set in California?", Kind.COMPARATIVE),
        ("Is Mercury smaller than Mars?", Kind.COMPARATIVE),
        ("Were Kafka and Brod of the same nationality?", Kind.COMPARATIVE),
        ("What is the difference between a fjord and a valley?", Kind.COMPARATIVE),
        ("Who was the president of France in 1985?", Kind.TEMPORAL_EXPLICIT),
        ("What was written in the nineteenth century about whales?", Kind.TEMPORAL_EXPLICIT),
        ("Which bands were founded in the 1990s?", Kind.TEMPORAL_EXPLICIT),
        ("What happened on July 14?", Kind.TEMPORAL_EXPLICIT),
        ("Who was the president when the Panama Canal was built?", Kind.TEMPORAL_IMPLICIT),
        ("What did Vienna look like during the Congress?", Kind.TEMPORAL_IMPLICIT),
        ("Who ruled France after the Reign of Terror?", Kind.TEMPORAL_IMPLICIT),
        ("What was his job before becoming a painter?", Kind.TEMPORAL_IMPLICIT),
        ("What is the tallest tower in Asia?", Kind.SUPERLATIVE),
        ("Who has the most gold medals?", Kind.SUPERLATIVE),
        ("What is the least expensive route?", Kind.SUPERLATIVE),
        ("How many moons has Jupiter?", Kind.AGGREGATE),
        ("What is the total number of seats in the house?", Kind.AGGREGATE),
        ("Novels set in Chile that are not in Spanish", Kind.SET_OPERATION),
        ("Birds of Peru or Orchids of Bolivia", Kind.SET_OPERATION),
        ("Films about chess excluding documentaries", Kind.SET_OPERATION),
        ("What are plants of Oaxaca that are also trees of Guatemala?", Kind.SET_OPERATION),
    ],
)
def test_a_question_s_wording_tells_its_kind(question: str, kind: Kind) -> None:
    assert kind in kinds_of(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Emma?",
        "who is the director of vertigo",
        "What is the name of the director of Vertigo?",
        "Where is the Eiffel Tower?",
        "Who directed Before Sunrise?",
        "Who starred in The Greatest Showman?",
        "When was Steel (1979 film) released?",
        "What did they request in the forest of Budapest?",
        "What happens when you freeze water?",
        "Who was the Hall of Fame named after?",
        "Which letter comes after b?",
        "Who is the actor who played Gandalf?",
        "How far is 1500 miles?",
        "",
    ],
)
def test_a_plain_question_is_of_no_kind(question: str) -> None:
    assert kinds_of(question) == ()


def test_a_question_may_be_of_several_kinds_in_their_order() -> None:
    kinds = kinds_of("Which film has the director who was born earlier, Vertigo or Psycho, and how many did each make in 1960?")

    assert kinds == (Kind.MULTI_HOP, Kind.COMPARATIVE, Kind.TEMPORAL_EXPLICIT, Kind.AGGREGATE)


@given(st.text(), st.text())
def test_any_text_has_kinds_each_once_in_order(before: str, after: str) -> None:
    kinds = kinds_of(before + " " + after)

    assert list(kinds) == [kind for kind in Kind if kind in kinds]


@pytest.mark.parametrize("words", ["or the same and than both ", "was or ", "and "])
def test_of_a_long_text_only_the_beginning_is_read(words: str) -> None:
    assert kinds_of(words * 100_000) == kinds_of((words * 1000)[:1000])


@pytest.mark.parametrize("question", ["What’s Ada’s husband’s nationality?", "What's  Ada's husband's\nnationality?"])
def test_quotes_and_white_space_change_nothing(question: str) -> None:
    assert kinds_of(question) == (Kind.MULTI_HOP,)
