"""A model that assigns nuggets: which windows it reads, what it remembers, and what fails."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from rag_cover.backends import Failure
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.llm.nugget_assigner import NuggetAssigner
from rag_cover.llm.session import LLMSession
from rag_cover.nuggets import Assignment
from rag_cover.statements import StatementItem
from rag_cover.testing import ScriptedGenerator

TEXT = "Nothing here. Air scatters short waves. Nothing there."


class ByWords(ScriptedGenerator):
    """Finds a nugget supported by a text that has its first word, and in part by one that has its second."""

    def _reply(self, prompt: str) -> str | Failure:
        (text,) = re.findall(r"<text>\n(.*?)\n</text>", prompt, re.DOTALL)
        nuggets = re.findall(r"<nugget number=\"\d+\">\n(.*?)\n</nugget>", prompt, re.DOTALL)
        rows = [label(number, nugget.split(), text) for number, nugget in enumerate(nuggets, 1)]
        return Failure("timeout", "60 s") if "storms" in prompt else json.dumps({"assignments": rows})


def label(number: int, words: list[str], text: str) -> dict[str, Any]:
    found = "support" if words[0] in text else "partial_support" if words[1] in text else "not_support"
    return {"number": number, "assignment": found, "fragment": words[0] if words[0] in text else None}


def items(*statements: str, text: str = TEXT) -> list[StatementItem]:
    return [StatementItem(statement, text, "Why?") for statement in statements]


def test_a_nugget_counts_as_in_the_window_that_states_it_best() -> None:
    assigner = NuggetAssigner(ByWords(), longest=30)

    full, part, none = assigner.judge_statements(items("Air is", "Dust Nothing", "Dust scattered"))

    assert [each.assignment for each in (full, part, none)] == [
        Assignment.SUPPORT,
        Assignment.PARTIAL_SUPPORT,
        Assignment.NOT_SUPPORT,
    ]
    assert full.fragment is not None
    assert full.fragment.of(TEXT) == "Air"


def test_what_was_judged_is_not_asked_again() -> None:
    generator = ByWords()
    assigner = NuggetAssigner(generator)

    first = assigner.judge_statements(items("Air is", "Dust Nothing"))
    again = assigner.judge_statements(items("Dust Nothing", "Air is"))

    assert (again, generator.asked.calls) == (first[::-1], 1)


def test_a_blank_text_states_nothing_and_no_model_is_asked() -> None:
    generator = ByWords()

    (verdict,) = NuggetAssigner(generator).judge_statements(items("Air is", text=" "))

    assert (verdict.assignment, generator.asked.calls) == (Assignment.NOT_SUPPORT, 0)


def test_a_failure_costs_no_other_text_its_verdicts_and_is_remembered_within_a_run() -> None:
    generator = ByWords()
    assigner = NuggetAssigner(generator).for_run(LLMSession())
    asked = [*items("Air is"), *items("Air is", text="Of storms.")]

    good, bad = assigner.assign(asked)
    calls = generator.asked.calls

    assert not isinstance(good, Failure)
    assert isinstance(bad, Failure)
    with pytest.raises(ModelFailedError, match="60 s"):
        assigner.judge_statements(asked)
    assert generator.asked.calls == calls


def test_settings_below_one_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=" is 0; give a whole number of at least 1"):
        NuggetAssigner(ByWords(), at_once=0)
