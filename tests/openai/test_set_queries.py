"""Questions read as set queries over the wire: whatever the server can do, the same reading or a failure that says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_cover.backends import Failure
from rag_cover.cli import app
from rag_cover.llm.cache import ResponseFile
from rag_cover.llm.session import LLMSession
from rag_cover.registry import open_generator
from rag_cover.setqueries import GeneratedParser, ParsedQuery, SetQuery

BIRDS = "Which birds of Chile, or of Peru, are not kept as pets?"
QUERY = (SetQuery.atom("birds of Chile") | "birds of Peru") - "birds kept as pets"
EXPRESSION = "(A or B) but not C"


def as_json(_: dict[str, Any]) -> str:
    sets = [{"letter": letter, "description": text} for letter, text in zip("ABC", QUERY.atoms, strict=True)]
    return json.dumps({"sets": sets, "expression": EXPRESSION})


def as_prose(body: dict[str, Any]) -> str:
    return f"<think>Two kinds, less one.</think> Sure, here it is:\n```json\n{as_json(body)}\n```\nHope this helps!"


def as_map(_: dict[str, Any]) -> str:
    return json.dumps({"sets": dict(zip("ABC", QUERY.atoms, strict=True)), "expression": EXPRESSION})


def as_notation(_: dict[str, Any]) -> str:
    return json.dumps({"sets": [], "expression": str(QUERY)})


def parser_for(options: dict[str, Any]) -> GeneratedParser:
    return GeneratedParser(open_generator("openai:small", **options))


@pytest.mark.parametrize("formats", [{"json_schema", "json_object"}, {"json_object"}, set()])
@pytest.mark.parametrize("reply", [as_json, as_prose, as_map, as_notation])
def test_any_server_reads(server: Any, options: dict[str, Any], formats: set[str], reply: Any) -> None:
    server.reply, server.formats = reply, formats

    parsed = parser_for(options)(BIRDS)

    assert parsed.query == QUERY
    assert parsed.source == "model:openai:small"


def test_the_schema_that_a_server_is_held_to_is_flat(server: Any, options: dict[str, Any]) -> None:
    server.reply = as_json

    parser_for(options)(BIRDS)

    (body,) = server.requests
    schema = json.dumps(body["response_format"])
    assert '"letter"' in schema
    assert "anyOf" not in schema
    assert BIRDS in json.dumps(body["messages"])


def test_use_is_counted_by_purpose_and_a_question_is_read_once(server: Any, options: dict[str, Any], tmp_path: Path) -> None:
    server.reply = as_json
    first, again = (LLMSession(ResponseFile(tmp_path / "answers.sqlite")) for _ in range(2))
    found = parser_for(options).for_run(first).parse_all([BIRDS])

    recalled = parser_for(options).for_run(again).parse_all([BIRDS])

    assert recalled == found
    assert [(usage.purpose, usage.calls) for usage in first.ledger.spending.usage] == [("set-query", 1)]
    assert len(server.requests) == 1


def test_a_set_that_the_question_does_not_speak_of_is_asked_for_again_and_then_a_failure(
    server: Any, options: dict[str, Any]
) -> None:
    def reply(body: dict[str, Any]) -> str:
        asked_again = "does not speak of 'unicorns'" in str(body["messages"])
        return as_json(body) if asked_again else json.dumps({"sets": ["birds of Chile", "unicorns"], "expression": "A - B"})

    server.reply = reply
    mended = parser_for(options)(BIRDS)
    server.reply = lambda _: json.dumps({"sets": ["birds of Chile", "unicorns"], "expression": "A - B"})

    (failure,) = parser_for(options).parse_all([BIRDS])

    assert mended.query == QUERY
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.attempts) == ("malformed", 2)
    assert "the question does not speak of 'unicorns'" in failure.message


def test_a_question_that_the_server_fails_on_costs_no_other_its_reading(
    server: Any, options: dict[str, Any], fault: Any
) -> None:
    server.reply = as_json
    server.fault_of = lambda body: fault(status=400, message="too odd") if "unicorns" in str(body["messages"]) else None

    found = parser_for(options).parse_all([BIRDS, "unicorns or birds"])

    assert isinstance(found[0], ParsedQuery)
    assert isinstance(found[1], Failure)
    assert "could not be read as a set query" in found[1].message


def test_the_command_shows_how_a_model_reads_and_what_that_cost(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply = as_json
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    prices = tmp_path / "prices.json"
    prices.write_text('{"small": {"prompt": 100, "completion": 200}}', encoding="utf-8")

    shown = CliRunner().invoke(app, ["set-query", BIRDS, "--parse-only", "--parser", "openai:small", "--prices", str(prices)])

    assert shown.exit_code == 0
    assert "Read as (A ∪ B) \\ C" in shown.stdout
    assert "by model:openai:small" in shown.stdout
    assert "set-query" in shown.stdout
    assert "0.0016" in shown.stdout  # 10 tokens at 100 and 3 at 200 a million
