"""Set queries take one way, other questions another."""

from __future__ import annotations

import pytest

from rag_cover.integration import OTHERWISE, SET, set_route

DIFFERENCE = "birds of Chile but not birds of Peru"
INTERSECTION = "birds of Chile that are also birds of Peru"
CONTRADICTION = "birds of Chile that are not birds of Chile"
PLAIN = "Why do birds sing?"
NEGATION = "not birds of Peru"


@pytest.mark.parametrize("question", [DIFFERENCE, INTERSECTION, CONTRADICTION])
def test_a_set_query_takes_the_way_of_set_queries(question: str) -> None:
    route = set_route(question)

    assert route.name == SET
    assert route.probability is not None
    assert route.probability >= route.scores["min_confidence"]
    assert "It is read as" in route.reason


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (PLAIN, "there is no set operation in it"),
        ("birds of Chile", "there is no set operation in it"),
        (NEGATION, "It cannot be answered as a set query: the question only says what is not wanted"),
    ],
)
def test_another_question_takes_the_other_way(question: str, reason: str) -> None:
    route = set_route(question)

    assert route.name == OTHERWISE
    assert reason in route.reason


def test_a_reading_that_is_too_unsure_takes_the_other_way() -> None:
    route = set_route(DIFFERENCE, min_confidence=1.0)

    assert route.name == OTHERWISE
    assert "too unsure" in route.reason
