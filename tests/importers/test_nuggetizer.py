"""nuggetizer's and TREC's files as traces: nuggets with importance, and what an assignment said of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_cover.errors import InputError
from rag_cover.importers import import_traces
from rag_cover.nuggets import Nugget
from rag_cover.traces import Trace

WAVES = {"text": "air scatters short waves", "importance": "vital"}


def imported(folder: Path, row: dict[str, Any]) -> Trace:
    (folder / "file.jl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (trace,) = import_traces(folder / "file.jl")
    return trace


def test_a_list_of_nuggets_is_a_question_without_an_answer(tmp_path: Path) -> None:
    row = {"query": "Why?", "qid": 7, "nuggets": [{**WAVES, "reasoning": "it says why"}], "reasoning_traces": ["so"]}

    trace = imported(tmp_path, row)

    assert (trace.question.text, trace.question.id, trace.answer, trace.steps) == ("Why?", "7", None, ())
    assert trace.nuggets == (Nugget(WAVES["text"], importance="vital", metadata={"reasoning": "it says why"}),)
    assert trace.metadata == {"reasoning_traces": ["so"]}


def test_assignments_to_an_answer_are_a_trace_of_their_run(tmp_path: Path) -> None:
    row = {"query": "Why?", "qid": "1", "answer_text": "So.", "response_length": 1, "run_id": "webis"}

    trace = imported(tmp_path, {**row, "nuggets": [{**WAVES, "assignment": "partial_support"}]})

    assert (trace.answer, trace.pipeline, trace.metadata) == ("So.", "webis", {"response_length": 1})
    assert trace.nuggets == (Nugget(WAVES["text"], importance="vital", metadata={"assignment": "partial_support"}),)


def test_assignments_to_a_passage_are_a_retrieval_of_it(tmp_path: Path) -> None:
    row = {"text": "Why?", "qid": "1", "candidate_text": "Air scatters.", "docid": "d1"}

    trace = imported(tmp_path, {**row, "nuggets": [{**WAVES, "assignment": "support"}]})

    assert trace.question.text == "Why?"
    assert [(each.id, each.text) for each in trace.chunks] == [("d1", "Air scatters.")]


def test_a_bad_label_names_its_field(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 1.*nuggets\[0\].importance: expected 'vital' or 'okay'"):
        imported(tmp_path, {"query": "Why?", "nuggets": [{"text": "x", "importance": "core"}]})
    with pytest.raises(InputError, match=r"nuggets: expected a list, got the string 'x'"):
        imported(tmp_path, {"query": "Why?", "nuggets": "x"})
