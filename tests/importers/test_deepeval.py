from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_cover.errors import InputError
from rag_cover.importers import import_traces

_CASE = {
    "input": "What if these shoes don't fit?",
    "actual_output": "You have 30 days.",
    "expected_output": "A full refund within 30 days.",
    "context": ["The ideal context."],
    "retrieval_context": ["All customers are eligible for a 30 day full refund."],
    "name": "refund",
    "additional_metadata": {"topic": "returns"},
    "tools_called": None,
}


def _file(folder: Path, content: str, name: str) -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


def test_a_test_case_becomes_a_trace(tmp_path: Path) -> None:
    path = _file(tmp_path, json.dumps([_CASE], indent=4), "dataset.json")

    (trace,) = import_traces(path)

    assert trace.question.text == _CASE["input"]
    assert trace.question.references == ("A full refund within 30 days.",)
    assert trace.answer == "You have 30 days."
    assert [passage.text for passage in trace.chunks] == _CASE["retrieval_context"]


def test_the_tags_of_a_test_case_are_the_traces(tmp_path: Path) -> None:
    (trace,) = import_traces(_file(tmp_path, json.dumps([_CASE | {"tags": ["returns", "shoes"]}]), "dataset.json"))

    assert trace.tags == ("returns", "shoes")
    assert "tags" not in trace.metadata


def test_the_ideal_context_is_kept_and_is_not_what_was_retrieved(tmp_path: Path) -> None:
    path = _file(tmp_path, json.dumps([_CASE], indent=4), "dataset.json")

    (trace,) = import_traces(path)

    assert trace.metadata["context"] == ["The ideal context."]
    assert trace.metadata["name"] == "refund"
    assert trace.metadata["additional_metadata"] == {"topic": "returns"}


def test_camel_case_and_the_file_of_a_test_run_are_read(tmp_path: Path) -> None:
    case = {"input": "q", "actualOutput": "a", "expectedOutput": "e", "retrievalContext": ["r"], "success": True}
    path = _file(tmp_path, json.dumps({"testRunData": {"testCases": [case]}}), "latest.json")

    (trace,) = import_traces(path)

    assert (trace.answer, trace.question.references, trace.chunks[0].text) == ("a", ("e",), "r")
    assert trace.metadata == {"success": True}


def test_a_golden_has_no_answer(tmp_path: Path) -> None:
    path = _file(tmp_path, json.dumps({"input": "q", "expected_output": "e", "context": ["c"]}), "goldens.jsonl")

    (trace,) = import_traces(path)

    assert trace.answer is None
    assert trace.steps == ()


def test_contexts_joined_by_bars_in_csv_are_parted(tmp_path: Path) -> None:
    path = _file(tmp_path, "input,actual_output,retrieval_context,context\nq,a,one|two,ideal\n", "dataset.csv")

    (trace,) = import_traces(path)

    assert [passage.text for passage in trace.chunks] == ["one", "two"]


def test_a_bar_inside_a_list_of_contexts_parts_nothing(tmp_path: Path) -> None:
    path = _file(tmp_path, json.dumps({"input": "q", "retrieval_context": ["a | b"]}), "dataset.jsonl")

    (trace,) = import_traces(path)

    assert [passage.text for passage in trace.chunks] == ["a | b"]


def test_a_conversational_golden_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, json.dumps([{"scenario": "A refund", "turns": []}]), "goldens.json")

    with pytest.raises(InputError, match="conversation") as caught:
        list(import_traces(path))

    assert caught.value.field == "$[0]"
