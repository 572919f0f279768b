"""Questions split over the wire: whatever the server does, a question has its sub-questions or says why it has none."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path
from typing import Any

import pytest

from rag_cover.evaluation import Evaluation, evaluate
from rag_cover.questions import Question, Role
from rag_cover.registry import Models, open_generator
from rag_cover.testing import KeywordScorer
from rag_cover.traces import Trace

SUBS = ["Is the sky blue?", "What is light?", "Is the sky blue on Mars?"]
ROLES = ["core", "background", "follow-up"]


def as_json(body: dict[str, Any]) -> str:
    if asks_for_types(body):
        return json.dumps({"types": [{"number": number, "type": role} for number, role in enumerate(ROLES, 1)]})
    return json.dumps({"sub_questions": SUBS})


def as_list(body: dict[str, Any]) -> str:
    return "\n".join(f"{number}. {each}" for number, each in enumerate(ROLES if asks_for_types(body) else SUBS, 1))


def asks_for_types(body: dict[str, Any]) -> bool:
    return "<sub_question" in str(body["messages"])


def traces(count: int) -> list[Trace]:
    return [Trace(question=Question(f"Why is sky {number} blue?"), answer="The sky is blue.") for number in range(count)]


def evaluated(options: dict[str, Any], count: int, store: Path | None = None) -> Evaluation:
    models = Models(judge=KeywordScorer(), generator=open_generator("openai:small", **options))
    return evaluate(traces(count), models=models, measures=["coverage"], store=store, overwrite=store is not None)


@pytest.mark.parametrize("formats", [{"json_schema", "json_object"}, {"json_object"}, set()])
@pytest.mark.parametrize("reply", [as_json, as_list])
def test_any_server_splits_and_types(server: Any, options: dict[str, Any], formats: set[str], reply: Any) -> None:
    server.reply, server.formats = reply, formats

    (result,) = evaluated(options, 1).results

    assert result.coverage is not None
    assert [(sub.text, sub.role) for sub in result.coverage.sub_questions] == list(zip(SUBS, map(Role, ROLES), strict=True))
    assert result.coverage.decomposed_by == "model:openai:small"
    assert {sub.role_source for sub in result.coverage.sub_questions} == {"model:openai:small"}


def test_use_is_counted_by_step_and_a_dataset_is_decomposed_once(server: Any, options: dict[str, Any], tmp_path: Path) -> None:
    server.reply = as_json
    first = evaluated(options, 5, tmp_path / "a.sqlite")
    asked = len(server.requests)

    again = evaluated(options, 5, tmp_path / "a.sqlite")

    assert {usage.purpose: usage.calls for usage in first.spending.usage} == {"decompose": 5, "type": 5}
    assert len(server.requests) == asked == 10
    assert [result.outcomes for result in again.results] == [result.outcomes for result in first.results]


def test_with_a_third_of_the_calls_failing_every_question_is_split(server: Any, options: dict[str, Any], fault: Any) -> None:
    drawn, lock = random.Random(4), threading.Lock()  # a seeded draw

    def failing(_: dict[str, Any]) -> Any:
        with lock:
            return fault(status=drawn.choice([429, 500, 503])) if drawn.random() < 0.3 else None

    server.reply, server.fault_of = as_json, failing

    results = evaluated(options, 40).results

    assert all(result.coverage is not None and len(result.coverage.sub_questions) == 3 for result in results)
    assert len(server.answered) == 80


def test_what_cannot_be_read_is_a_failure_and_no_score(server: Any, options: dict[str, Any]) -> None:
    def reply(body: dict[str, Any]) -> str:
        return "I would rather not." if "sky 7 " in str(body["messages"]) else as_json(body)

    server.reply = reply

    evaluation = evaluated(options, 20)

    failed = [result for result in evaluation.results if result.failures]
    assert [result.trace.question.text for result in failed] == ["Why is sky 7 blue?"]
    failure = failed[0].failures["coverage"]
    assert failure.kind == "malformed"
    assert failure.message.startswith("the question could not be split: ")
    assert "I would rather not." in (failure.raw or "")
    assert evaluation.summary().outcomes["coverage"].measured == 19
    assert len([body for body in server.requests if "sky 7 " in str(body["messages"])]) == 3
