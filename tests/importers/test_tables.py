from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from rag_cover.errors import InputError, InvalidValueError
from rag_cover.importers import import_traces

_GERMAN = {"question": "Frage", "answer": "Antwort", "contexts": "Kontexte", "references": "Musterlösung", "id": "Nr."}


def _csv(folder: Path, content: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_columns_are_found_by_obvious_names(tmp_path: Path) -> None:
    path = _csv(tmp_path, 'Query,Generated Answer,Passages,Gold Answer,topic\nWho?,Me.,"[""I did.""]",Me,people\n')

    (trace,) = import_traces(path, format="table")

    assert (trace.question.text, trace.answer, trace.question.references) == ("Who?", "Me.", ("Me",))
    assert trace.chunks[0].text == "I did."
    assert trace.metadata == {"topic": "people"}


def test_tags_and_the_conversation_are_read_and_who_asked_only_where_that_is_asked_for(tmp_path: Path) -> None:
    path = _csv(tmp_path, 'question,tags,session_id,user_id\nWho?,"[""beta"", """"]",c7,u1\nWhen?,slow, ,\n')

    silent, plain = import_traces(path, format="table")
    told = [next(import_traces(path, **ways)) for ways in ({"user_ids": True}, {"columns": {"user_id": "user_id"}})]

    assert (silent.tags, silent.thread_id, silent.user_id, silent.metadata) == (("beta",), "c7", None, {})
    assert (plain.tags, plain.thread_id) == (("slow",), None)
    assert [trace.user_id for trace in told] == ["u1", "u1"]


@pytest.mark.parametrize("name", ["references", "answers", "gold_answers"])
def test_a_question_with_its_gold_answers_beside_it_is_a_row_of_a_table(tmp_path: Path, name: str) -> None:
    path = _csv(tmp_path, f'{{"question": "Who?", "{name}": ["Me", "I"], "level": 2}}\n', "questions.jsonl")

    (trace,) = import_traces(path)

    assert trace.question.references == ("Me", "I")
    assert trace.metadata == {"level": 2}


def test_a_trace_with_its_gold_answers_in_the_wrong_place_is_still_a_trace_and_is_told_so(tmp_path: Path) -> None:
    path = _csv(tmp_path, '{"question": "Who?", "references": ["Me"], "steps": []}\n', "traces.jsonl")

    with pytest.raises(InputError, match="unknown field 'references' of Trace"):
        list(import_traces(path))


def test_a_column_map_names_the_others(tmp_path: Path) -> None:
    path = _csv(tmp_path, 'Nr.;Frage;Antwort;Kontexte;Musterlösung\n1;Wer?;Ich.;"[""a"", ""b""]";Ich\n')

    (trace,) = import_traces(path, columns=_GERMAN)

    assert (trace.question.id, trace.question.text, trace.answer) == ("1", "Wer?", "Ich.")
    assert [passage.text for passage in trace.chunks] == ["a", "b"]
    assert trace.question.references == ("Ich",)
    assert trace.metadata == {}


def test_a_single_context_needs_no_list(tmp_path: Path) -> None:
    path = _csv(tmp_path, "question,answer,context\nq,a,[1] A footnote.\n")

    (trace,) = import_traces(path, format="table")

    assert [passage.text for passage in trace.chunks] == ["[1] A footnote."]


def test_tab_separated_cells_with_a_byte_order_mark_and_carriage_returns_are_read(tmp_path: Path) -> None:
    path = _csv(tmp_path, b"\xef\xbb\xbfquestion\tanswer\r\nq, with comma\ta\r\n", "table.tsv")

    (trace,) = import_traces(path)

    assert (trace.question.text, trace.answer) == ("q, with comma", "a")


def test_cells_over_several_lines_keep_the_line_numbers_right(tmp_path: Path) -> None:
    path = _csv(tmp_path, 'question,answer\n"one\ntwo",a\n,b\n')

    with pytest.raises(InputError, match="no question here") as caught:
        list(import_traces(path))

    assert (caught.value.line, caught.value.field) == (4, "row 2, $.question")


def test_a_large_cell_is_read(tmp_path: Path) -> None:
    path = _csv(tmp_path, "question,context\nq," + "x" * 500_000 + "\n")

    (trace,) = import_traces(path)

    assert len(trace.chunks[0].text) == 500_000


def test_the_index_pandas_writes_is_left_out(tmp_path: Path) -> None:
    path = _csv(tmp_path, ",question,answer\n0,q,a\n")

    (trace,) = import_traces(path)

    assert trace.metadata == {}


def test_a_column_that_is_not_there_is_an_error_with_the_nearest(tmp_path: Path) -> None:
    path = _csv(tmp_path, "Frage,Antwort\nq,a\n")

    with pytest.raises(InputError, match=r"no column 'Antwrot'\. Did you mean 'Antwort'"):
        list(import_traces(path, columns={"question": "Frage", "answer": "Antwrot"}))


def test_a_map_of_what_no_column_holds_is_refused(tmp_path: Path) -> None:
    path = _csv(tmp_path, "Frage\nq\n")

    with pytest.raises(InvalidValueError, match=r"maps 'contxts'.*Did you mean 'contexts'"):
        list(import_traces(path, columns={"contxts": "Frage"}))


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"question,answer\nq,a,b\n", 2, "3 cells and the header 2 columns"),
        (b"question,question\nq,a\n", 1, "two columns are called 'question'"),
        (b"question,answer\nq,caf\xe9\n", 2, "byte 5 of the line is not UTF-8"),
        (b'question,answer\nq,"closed"\nr,"open\ns,t\n', 3, "a quote that is opened in this row is never closed"),
        (b'question,answer\nq,"He said "no" twice"\n', 2, "a closing quote is followed by text; double quotes"),
        (b'question,"answer\nq,a\n', 1, "a quote that is opened in this row is never closed"),
        (b"question,answer\n", None, "holds no traces"),
        (b"", None, "holds no traces"),
    ],
)
def test_a_broken_table_is_told_with_its_line(tmp_path: Path, content: bytes, line: int | None, problem: str) -> None:
    path = _csv(tmp_path, content)

    with pytest.raises(InputError, match=problem) as caught:
        list(import_traces(path))

    assert caught.value.line == line


def test_parquet_keeps_lists_and_turns_other_types_into_json(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "table.parquet"
    rows = [
        {
            "question": f"q{n}",
            "contexts": ["a", "b"],
            "references": [n],
            "when": date(2026, 1, 2),
            "score": float("nan"),
            "raw": b"x",
        }
        for n in range(600)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)

    traces = list(import_traces(path, format="table"))

    assert len(traces) == 600
    assert [passage.text for passage in traces[599].chunks] == ["a", "b"]
    assert traces[599].question.references == ("599",)
    assert traces[0].metadata == {"when": "2026-01-02", "raw": "x"}


def test_a_blank_question_in_parquet_is_told_with_its_row(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_pylist([{"question": "q"}, {"question": " "}]), path)

    with pytest.raises(InputError) as caught:
        list(import_traces(path))

    assert str(caught.value) == f"{path}, at row 2, $.question: the question is blank"


def test_a_file_that_only_says_it_is_parquet_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = _csv(tmp_path, b"PAR1 and nothing else", "table.parquet")

    with pytest.raises(InputError, match="not a Parquet file"):
        list(import_traces(path))
