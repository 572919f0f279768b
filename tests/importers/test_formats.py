from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rag_cover.errors import InputError, InvalidValueError
from rag_cover.importers import FORMATS, import_traces
from rag_cover.questions import Question
from rag_cover.stores import write_traces
from rag_cover.traces import Sample, SampleSet, Trace


def _file(folder: Path, content: str | bytes, name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_our_own_traces_are_recognised(tmp_path: Path) -> None:
    traces = [Trace(question=Question(text="q", references=("r",)), answer="a", prompt=())]
    write_traces(tmp_path / "traces.jsonl", traces)

    found = list(import_traces(tmp_path / "traces.jsonl"))

    assert found == traces


def test_the_samples_of_a_trace_are_not_taken_for_rows(tmp_path: Path) -> None:
    traces = [
        Trace(
            question=Question(text="q"),
            samples=(SampleSet(receiver="theirs", context="none", samples=(Sample(text="a"), Sample(text="b"))),),
        )
    ]
    write_traces(tmp_path / "traces.jsonl", traces)

    assert list(import_traces(tmp_path / "traces.jsonl")) == traces


def test_an_array_of_our_own_traces_is_read(tmp_path: Path) -> None:
    path = _file(tmp_path, '[\n {"question": "a"},\n {"question": "b", "answer": 3}\n]', "traces.json")

    found = import_traces(path)

    assert next(found).question.text == "a"
    with pytest.raises(InputError, match="expected a string, got the number 3") as caught:
        next(found)
    assert caught.value.field == "$[1].answer"


@pytest.mark.parametrize("name", ["data.json", "data.jsonl", "data.txt"])
def test_the_content_decides_between_lines_and_one_document(tmp_path: Path, name: str) -> None:
    lines = _file(tmp_path, '{"question": "a"}\n\n{"question": "b"}\n', name)
    spread = _file(tmp_path, json.dumps([{"question": "a"}, {"question": "b"}], indent=1), "spread" + name)

    assert [trace.question.text for trace in import_traces(lines)] == ["a", "b"]
    assert [trace.question.text for trace in import_traces(spread)] == ["a", "b"]


def test_gzipped_files_are_read(tmp_path: Path) -> None:
    path = _file(tmp_path, gzip.compress(b"query,response\nq,a\n"), "table.csv.gz")

    (trace,) = import_traces(path)

    assert trace.answer == "a"


def test_columns_of_cells_as_pandas_writes_them_are_turned_into_rows(tmp_path: Path) -> None:
    columns = {"user_input": {"0": "a", "1": "b"}, "response": {"0": "x", "1": None}}
    path = _file(tmp_path, json.dumps(columns), "frame.json")

    first, second = import_traces(path)

    assert (first.answer, second.answer) == ("x", None)


def test_an_unknown_shape_is_an_error_that_lists_what_was_seen_and_what_is_known(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"frage": "q", "antwort": "a"}\n')

    with pytest.raises(InputError) as caught:
        list(import_traces(path))

    assert "'frage', 'antwort'" in str(caught.value)
    assert all(name in str(caught.value) for name in FORMATS)


def test_skipping_hands_over_every_record_that_is_no_trace(tmp_path: Path) -> None:
    path = _file(tmp_path, '{broken\n{"user_input": "q"}\n[1]\n{"user_input": ""}\n{"user_input": "r"}\n')
    skipped: list[InputError] = []

    traces = list(import_traces(path, on_error="skip", skipped=skipped.append))

    assert [trace.question.text for trace in traces] == ["q", "r"]
    assert [error.line for error in skipped] == [1, 3, 4]


def test_duplicate_trace_ids_name_both_places(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"question": "a", "id": "x"}\n{"question": "b", "id": "x"}\n')

    with pytest.raises(InputError, match="given at line 1 already") as caught:
        list(import_traces(path))

    assert caught.value.line == 2


def test_the_formats_are_listed_with_what_they_are() -> None:
    assert list(FORMATS) == [
        "openinference",
        "langsmith",
        "ragchecker",
        "nuggetizer",
        "rag-cover",
        "ragas",
        "deepeval",
        "table",
    ]
    assert all(FORMATS.values())


def test_arguments_that_do_not_fit_are_refused_at_once(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"question": "q"}')

    with pytest.raises(InvalidValueError, match="Did you mean 'ragas'"):
        import_traces(path, format="raga")
    with pytest.raises(InvalidValueError, match="has its own names"):
        import_traces(path, format="ragas", columns={"question": "q"})
    with pytest.raises(InvalidValueError, match="skipped="):
        import_traces(path, on_error="skip")
    with pytest.raises(InputError, match="no such file"):
        import_traces(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "holds no traces"),
        ("[]", "holds no traces"),
        ('{"resourceSpans": []}', "holds no traces"),
        ("3", "expected a JSON object"),
    ],
)
def test_a_file_without_traces_is_an_error(tmp_path: Path, content: str, problem: str) -> None:
    path = _file(tmp_path, content, "data.json")

    with pytest.raises(InputError, match=problem):
        list(import_traces(path))


def test_broken_json_over_lines_is_told_with_its_line_and_column(tmp_path: Path) -> None:
    path = _file(tmp_path, '[\n  {"user_input": "q"},\n  {"user_input": }\n]', "data.json")

    with pytest.raises(InputError, match="column 18") as caught:
        list(import_traces(path))

    assert caught.value.line == 3


def test_a_trace_with_a_misspelt_field_is_refused_as_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text('{"question": "Why?", "anwser": "Because."}\n')

    with pytest.raises(InputError, match="unknown field 'anwser' of Trace"):
        list(import_traces(path))


@pytest.mark.parametrize("name", ["passages", "documents", "chunks", "source_documents", "context"])
def test_passages_beside_a_question_make_a_row_of_a_table(tmp_path: Path, name: str) -> None:
    row = {"question": "How much is a day pass?", "answer": "14 euros.", name: ["A day pass costs 14 euros."]}

    (trace,) = import_traces(_file(tmp_path, json.dumps(row)))

    assert [passage.text for passage in trace.steps[0].passages] == ["A day pass costs 14 euros."]


def test_a_field_that_is_right_is_not_taken_for_a_misspelt_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it has 'answer'. A trace needs a 'question'. Name the format"):
        list(import_traces(_file(tmp_path, '{"answer": "x"}')))
