"""Nuggets that are given by question."""

from __future__ import annotations

from typing import Any

import pytest

from rag_cover import Question
from rag_cover.decomposition.given_nuggets import GivenNuggets
from rag_cover.errors import InvalidValueError

ASKED = "What is the deposit?"


@pytest.mark.parametrize("key", [ASKED, "what is the  deposit", "q1"])
def test_a_question_is_found_by_its_id_or_another_spelling(key: str) -> None:
    given = GivenNuggets.from_mapping({key: ["It is 50 euros.", {"text": "It is paid back.", "importance": "vital"}]})  # type: ignore[list-item]

    found = given.nuggets_of(Question(ASKED, id="q1"))

    assert [each.text for each in found or ()] == ["It is 50 euros.", "It is paid back."]


@pytest.mark.parametrize(
    ("nuggets", "told"),
    [
        ("50 euros", "the nuggets of 'What is the deposit\\?' are 'str'; give a list of texts or nuggets"),
        ([" "], "a nugget of 'What is the deposit\\?' cannot be read"),
        ([{"importance": "vital"}], "a nugget of 'What is the deposit\\?' cannot be read"),
    ],
)
def test_what_is_no_list_of_nuggets_is_refused(nuggets: Any, told: str) -> None:
    with pytest.raises(InvalidValueError, match=told):
        GivenNuggets.from_mapping({ASKED: nuggets})
