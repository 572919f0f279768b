"""Augmentation over the wire: sub-questions, sub-answers and answers come from a server, and what fails there is told."""

from __future__ import annotations

from typing import Any

import pytest

from rag_cover.coverage import augment
from rag_cover.questions import Passage
from rag_cover.registry import open_generator
from rag_cover.testing import KeywordScorer, ScriptedRetriever

QUESTION = "Where was the director of Jaws born?"
CHAIN = ["Who directed Jaws?", "Where was #1 born?"]
JAWS, BIRTH = Passage("Jaws was directed by Steven Spielberg."), Passage("Spielberg was born in Cincinnati.")


@pytest.fixture
def retriever() -> ScriptedRetriever:
    return ScriptedRetriever({"Who directed Jaws?": [JAWS], "Where was Steven Spielberg born?": [BIRTH]})


def reply(body: dict[str, Any]) -> str:
    said = body["messages"][1]["content"]
    if "<sub_answer" in said:
        return f"In Cincinnati, says one that was told {said.count('<sub_answer')} answers."
    if "Where was Steven Spielberg born?" in said:
        return "Cincinnati"
    return "Steven Spielberg" if "Who directed Jaws?" in said else "unanswerable"


def test_sub_questions_are_answered_one_by_one_and_put_together(
    server: Any, options: dict[str, Any], retriever: ScriptedRetriever
) -> None:
    server.reply = reply

    found = augment(QUESTION, retriever, open_generator("openai:small", **options), mode="end-to-end", sub_questions=CHAIN)

    assert [(each.text, each.answer) for each in found.sub_questions] == [
        ("Who directed Jaws?", "Steven Spielberg"),
        ("Where was Steven Spielberg born?", "Cincinnati"),
    ]
    assert found.answer == "In Cincinnati, says one that was told 2 answers."
    assert found.failures == ()


def test_a_generator_reads_what_later_searches_need(server: Any, options: dict[str, Any], retriever: ScriptedRetriever) -> None:
    server.reply = reply
    generator = open_generator("openai:small", **options)

    found = augment(QUESTION, retriever, generator, mode="auto", scorer=KeywordScorer(), sub_questions=CHAIN)

    assert [step.query for step in found.steps] == [QUESTION, "Who directed Jaws?", "Where was Steven Spielberg born?"]
    assert found.passages == (JAWS, BIRTH)


def test_a_server_that_writes_no_sub_questions_leaves_them_to_rules(
    server: Any, options: dict[str, Any], retriever: ScriptedRetriever
) -> None:
    server.reply = lambda _: "I would rather not."

    found = augment(QUESTION, retriever, open_generator("openai:small", **options), scorer=KeywordScorer())

    assert found.sub_questions[0].role_source == "rules"
    assert [failure.kind for failure in found.failures] == ["malformed"]
    assert found.answer == "I would rather not."
