"""`rag-cover schema`: what a line of a trace file holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover.demo import trace_paths
from rag_cover.traces import SCHEMA

jsonschema = pytest.importorskip("jsonschema")


def test_traces_follow_the_schema_and_others_do_not(command: Callable[..., Any]) -> None:
    schema = json.loads(command("schema").stdout)
    validator = jsonschema.Draft202012Validator(schema)

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["version"] == SCHEMA
    for path in trace_paths():
        for line in path.read_text(encoding="utf-8").splitlines():
            validator.validate(json.loads(line))
    assert validator.is_valid({"question": "Why?", "prompt": ["It is so."], "sub_questions": ["Why so?"], "nuggets": ["So."]})
    assert not validator.is_valid({"answer": "no question"})
    assert not validator.is_valid({"question": "Why?", "anwser": "a misspelt field"})


def test_the_page_is_what_the_command_prints(command: Callable[..., Any], source_tree: Path) -> None:
    kept = json.loads((source_tree / "docs/reference/trace.schema.json").read_text(encoding="utf-8"))

    assert json.loads(command("schema").stdout) == kept
