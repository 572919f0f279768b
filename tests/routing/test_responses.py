"""The matrix of who answered what."""

from __future__ import annotations

import numpy as np
import pytest

from rag_cover import Question
from rag_cover.errors import InvalidValueError
from rag_cover.routing import Responses


def test_repeated_questions_are_averaged_when_merged() -> None:
    responses = Responses.from_observations(
        [("a", "Why?", 1.0), ("a", Question("why"), 0.0), ("b", "Why?", 1.0), ("b", "Who?", 0.0)]
    )

    assert responses.questions == ("Why?", "Who?")
    assert responses.values[0].tolist() == [0.5, 1.0]
    assert np.isnan(responses.values[1, 0])
    assert responses.observed == 3


@pytest.mark.parametrize(
    ("agents", "questions", "values", "said"),
    [
        (["a"], ["q", "q"], [[1.0], [0.0]], "Responses.from_observations"),
        (["a", "a"], ["q"], [[1.0, 0.0]], "a name of its own"),
        (["a"], ["q"], [[1.5]], "from 0 to 1"),
        (["a"], ["q"], [[np.inf]], "from 0 to 1"),
        (["a"], ["q"], [1.0, 0.0], "must be"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(agents: list[str], questions: list[str], values: object, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        Responses(agents, questions, np.array(values))


def test_values_cannot_be_changed_behind_the_model() -> None:
    responses = Responses(["a"], ["q"], [[1.0]])

    with pytest.raises(ValueError, match="read-only"):
        responses.values[0, 0] = 0.0


def test_some_questions_and_some_agents_can_be_kept() -> None:
    responses = Responses(["a", "b"], ["p", "q"], [[1.0, 0.0], [0.0, np.nan]])

    assert responses.of_questions([False, True]).questions == ("q",)
    assert responses.of_agents(["b"]).values[0].tolist() == [0.0]
    with pytest.raises(InvalidValueError, match="no responses of 'c'"):
        responses.of_agents(["c"])


def test_questions_that_differ_in_signs_stay_apart() -> None:
    questions = ["What is C?", "What is C++?", "What is C#?", "Is 1.5 prime?", "Is 15 prime?"]

    assert Responses.from_observations([("a", each, 1.0) for each in questions]).questions == tuple(questions)


def test_what_was_not_observed_takes_nothing_from_what_was() -> None:
    responses = Responses.from_observations([("a", "Why?", np.nan), ("a", "Why?", 1.0), ("b", "Why?", np.nan)])

    assert responses.values[0, 0] == 1.0
    assert np.isnan(responses.values[0, 1])


def test_a_success_out_of_range_is_refused_before_it_is_averaged() -> None:
    with pytest.raises(InvalidValueError, match="success is 2; give a number from 0 to 1"):
        Responses.from_observations([("a", "Why?", 2), ("a", "Why?", 0), ("b", "Why?", None)])
