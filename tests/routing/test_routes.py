"""What every router answers with."""

from __future__ import annotations

import json

import pytest

from rag_cover.errors import InvalidValueError
from rag_cover.questions import Question, as_question
from rag_cover.routing.routes import Route


def test_a_route_travels_as_json() -> None:
    route = Route("decompose", 0.8, {"completeness": 0.9}, "No single passage answers it.")

    document = json.loads(json.dumps(route.to_dict()))

    assert document == {
        "route": "decompose",
        "probability": 0.8,
        "scores": {"completeness": 0.9},
        "reason": "No single passage answers it.",
    }


def test_a_plain_text_is_a_question_and_a_question_stays_itself() -> None:
    question = Question("Why?", id="q1")

    assert as_question("Why?") == Question("Why?")
    assert as_question(question) is question


def test_a_blank_text_is_no_question() -> None:
    with pytest.raises(InvalidValueError, match="blank"):
        as_question("  ")


@pytest.mark.parametrize("given", [None, 3, ["Why?"]])
def test_what_is_no_text_is_no_question(given: object) -> None:
    with pytest.raises(InvalidValueError, match="a question is a text or a Question"):
        as_question(given)  # type: ignore[arg-type]
