"""Files of nuggets and assignments: read in every form, written without loss, refused with the line and the field."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover.errors import InputError, StoreError
from rag_cover.nuggets import Assignment, Fragment, Importance, Nugget, NuggetSource
from rag_cover.questions import Question
from rag_cover.stores.nugget_files import (
    AssignedNuggets,
    NuggetList,
    read_assignments,
    read_nuggets,
    write_assignments,
    write_nuggets,
)

# in the form that nuggetizer 0.0.6 writes with --include-reasoning and --include-trace
LISTED = {
    "query": "Why is the sky blue?",
    "qid": "2024-1",
    "nuggets": [
        {
            "text": "air scatters short waves",
            "importance": "vital",
            "reasoning": "it says why",
            "trace": {"model": "m", "usage": None},
        },
        {"text": "ozone absorbs orange light", "importance": "okay"},
    ],
    "reasoning_traces": ["it says why"],
}
# in the form of TREC's nugget_assignment.20241108.jl
ASSIGNED = {
    "query": "Why is the sky blue?",
    "qid": "2024-1",
    "answer_text": "Air scatters light.",
    "response_length": 3,
    "run_id": "webis-ag-run0",
    "nuggets": [
        {"text": "air scatters short waves", "importance": "vital", "assignment": "partial_support"},
        {"text": "ozone absorbs orange light", "importance": "okay", "assignment": "not_support"},
    ],
}
RETRIEVED = {
    "text": "Why is the sky blue?",
    "qid": "2024-1",
    "candidate_text": "Ozone absorbs orange light.",
    "docid": "msmarco_v2.1_doc_1#2_3",
    "nuggets": [{"text": "ozone absorbs orange light", "importance": "okay", "assignment": "support"}],
}

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(str.strip)
more = st.dictionaries(
    st.sampled_from(["reasoning", "trace", "note"]), st.none() | st.integers() | texts | st.lists(texts, max_size=2), max_size=2
)
nugget_rows = st.builds(
    lambda text, importance, extra: {**extra, "text": text, **importance},
    texts,
    st.sampled_from([{}, {"importance": "vital"}, {"importance": "okay"}, {"importance": "failed"}]),
    more,
)
assigned_rows = st.builds(
    lambda row, assignment: {**row, "assignment": assignment}, nugget_rows, st.sampled_from([*Assignment, "failed"]).map(str)
)
known_nuggets = st.builds(
    Nugget,
    texts,
    id=st.none() | texts,
    importance=st.none() | st.sampled_from(Importance),
    question=st.none() | texts,
    sources=st.lists(
        st.builds(NuggetSource, kind=st.just("passage"), id=texts, fragments=st.just((Fragment("x"),))), max_size=2
    ).map(tuple),
    metadata=more,
)


def written(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_nuggets_of_nuggetizer_are_read(tmp_path: Path) -> None:
    (read,) = read_nuggets(written(tmp_path / "nuggets.jl", LISTED))

    assert (read.question, read.question_id) == ("Why is the sky blue?", "2024-1")
    assert read.nuggets == (
        Nugget("air scatters short waves", importance="vital"),
        Nugget("ozone absorbs orange light", importance="okay"),
    )


def test_a_trace_file_is_a_file_of_nuggets_and_traces_without_any_are_left_out(tmp_path: Path) -> None:
    rows = [
        {"question": "Why?", "answer": "So."},
        {"question": {"text": "How?", "id": "q2"}, "nuggets": ["Thus."], "answer": "x"},
    ]

    (read,) = read_nuggets(written(tmp_path / "traces.jsonl", *rows))

    assert (read.question, read.question_id, read.nuggets) == ("How?", "q2", (Nugget("Thus."),))


def test_a_question_may_be_named_by_its_id_alone(tmp_path: Path) -> None:
    (read,) = read_nuggets(written(tmp_path / "ids.jsonl", {"question_id": "q2", "nuggets": ["Thus."]}))

    assert (read.question, read.question_id) == (None, "q2")


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "nuggets.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(LISTED).encode()))

    assert len(list(read_nuggets(path))) == 1


@pytest.mark.parametrize(
    ("row", "field", "said"),
    [
        ([1], "$", "expected a JSON object, one question with its nuggets a line, got a list"),
        ({"nuggets": []}, "$.query", "this field is missing, and a list of nuggets needs it"),
        ({"query": "Why?", "nuggets": [{"text": "x"}, 4]}, "$.nuggets[1]", "got the number 4"),
        ({"query": "Why?", "nuggets": [{"importance": "vital"}]}, "$.nuggets[0].text", "this field is missing"),
        ({"query": "Why?", "nuggets": [{"text": " "}]}, "$.nuggets[0].text", "this is blank"),
        ({"query": "Why?", "nuggets": [{"text": "x", "importance": "core"}]}, "$.nuggets[0].importance", "'vital' or 'okay'"),
        (
            {"query": "Why?", "nuggets": [{"text": "x", "sources": 3}]},
            "$.nuggets[0].sources",
            "expected a list, got the number 3",
        ),
        (
            {"question": "Why?", "nuggets": [{"text": "x", "importance": "core"}]},
            "$.nuggets[0].importance",
            "'vital' or 'okay'",
        ),
        ({"question_id": "q", "nuggets": None}, "$.nuggets", "expected a list, got null"),
        ({"question_id": "q", "nuggets": [], "qid": 3}, "$", "unknown field 'qid'"),
    ],
)
def test_a_bad_line_names_file_line_and_field(tmp_path: Path, row: Any, field: str, said: str) -> None:
    path = written(tmp_path / "bad.jsonl", LISTED, row)

    with pytest.raises(InputError) as refused:
        list(read_nuggets(path))

    assert (refused.value.file, refused.value.line, refused.value.field) == (path, 2, field)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"nuggets": []}, "$"),
        ({"qid": "1", "nuggets": [{"text": "x"}]}, "$.nuggets[0].assignment"),
        ({"qid": "1", "nuggets": [{"text": "x", "assignment": "maybe"}]}, "$.nuggets[0].assignment"),
        ({"qid": "1", "answer_text": 4, "nuggets": []}, "$.answer_text"),
    ],
)
def test_a_bad_line_of_assignments_names_file_line_and_field(tmp_path: Path, row: Any, field: str) -> None:
    path = written(tmp_path / "bad.jsonl", ASSIGNED, row)

    with pytest.raises(InputError) as refused:
        list(read_assignments(path))

    assert (refused.value.file, refused.value.line, refused.value.field) == (path, 2, field)


@pytest.mark.parametrize("read", [read_nuggets, read_assignments])
def test_a_file_that_holds_nothing_says_what_to_do(tmp_path: Path, read: Any) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")

    with pytest.raises(InputError, match=r"the file holds no (nuggets|assignments)"):
        list(read(tmp_path / "empty.jsonl"))


def test_assignments_to_answers_and_to_passages_are_read(tmp_path: Path) -> None:
    answer, passage = read_assignments(written(tmp_path / "assigned.jl", ASSIGNED, RETRIEVED))

    assert (answer.question, answer.run, answer.is_of_answer) == ("2024-1", "webis-ag-run0", True)
    assert [each.label for each in answer.nuggets] == [Assignment.PARTIAL_SUPPORT, Assignment.NOT_SUPPORT]
    assert (passage.question, passage.is_of_answer) == ("2024-1", False)


def test_files_of_other_programs_are_written_as_they_were_read(tmp_path: Path) -> None:
    lists = [NuggetList.model_validate(LISTED)]
    assigned = list(read_assignments(written(tmp_path / "assigned.jl", ASSIGNED, RETRIEVED)))

    write_nuggets(tmp_path / "nuggets.jsonl", lists)
    write_assignments(tmp_path / "again.jsonl", assigned)

    assert [json.loads(line) for line in (tmp_path / "nuggets.jsonl").read_text().splitlines()] == [LISTED]
    assert [json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()] == [ASSIGNED, RETRIEVED]


@settings(max_examples=40)
@given(texts, st.none() | texts | st.integers(0, 9), st.lists(nugget_rows, max_size=3), more)
def test_no_field_of_a_list_is_lost(
    query: str, qid: str | int | None, rows: list[dict[str, Any]], extra: dict[str, Any]
) -> None:
    data = {**extra, "query": query, "qid": qid, "nuggets": rows}

    assert NuggetList.model_validate(data).to_dict() == data


@settings(max_examples=40)
@given(texts, st.lists(assigned_rows, max_size=3), more)
def test_no_field_of_assignments_is_lost(query: str, rows: list[dict[str, Any]], extra: dict[str, Any]) -> None:
    data = {**extra, "query": query, "answer_text": query, "nuggets": rows}

    assert AssignedNuggets.model_validate(data).to_dict() == data


@settings(max_examples=25)
@given(st.builds(Question, texts, id=st.none() | texts), st.lists(known_nuggets, min_size=1, max_size=3))
def test_our_nuggets_survive_the_form_of_nuggetizer(question: Question, nuggets: list[Nugget]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nuggets.jsonl"
        write_nuggets(path, [NuggetList.of(question, nuggets)])
        (read,) = read_nuggets(path)

    assert (read.question, read.question_id, read.nuggets) == (question.text, question.id, tuple(nuggets))


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        write_nuggets(tmp_path / "no" / "nuggets.jsonl", [NuggetList.model_validate(LISTED)])
