"""Sub-questions that are given as plain texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_cover.importers import import_traces
from rag_cover.questions import Role

PLAIN = ["Where is the shed?", "Which tools hang in the shed?"]


@pytest.mark.parametrize("name", ["traces.jsonl", "traces.csv"])
def test_sub_questions_that_are_plain_texts_are_core(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    listed = json.dumps(PLAIN)
    quoted = listed.replace('"', '""')
    row = f'{{"question": "How are bikes stored?", "answer": "Dry.", "sub_questions": {listed}}}\n'
    table = f'question,answer,sub_questions\nHow are bikes stored?,Dry.,"{quoted}"\n'
    path.write_text(table if path.suffix == ".csv" else row, encoding="utf-8")

    (trace,) = import_traces(path)

    assert [(each.text, each.role, each.role_source) for each in trace.sub_questions or ()] == [
        (text, Role.CORE, "given") for text in PLAIN
    ]


def test_a_sub_question_that_is_an_object_without_a_role_has_none(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text('{"question": "How?", "answer": "So.", "sub_questions": [{"text": "Where?"}]}\n', encoding="utf-8")

    (trace,) = import_traces(path)

    assert [each.role for each in trace.sub_questions or ()] == [None]
