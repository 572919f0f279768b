from __future__ import annotations

import gzip
import json
import math
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_cover.errors import InputError, InvalidValueError, StoreError
from rag_cover.questions import Passage, Question
from rag_cover.stores import read_traces, write_traces
from rag_cover.traces import SCHEMA, RetrievalStep, Sample, SampleSet, Trace

_GOOD = b'{"question": "Who?", "answer": "Me."}\n'


def _file(folder: Path, content: bytes, name: str = "traces.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _error(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        list(read_traces(path))
    return caught.value


def test_the_smallest_line_is_a_question_and_an_answer(tmp_path: Path) -> None:
    path = _file(tmp_path, _GOOD)

    traces = list(read_traces(path))

    assert traces == [Trace(question=Question(text="Who?"), answer="Me.")]


def test_minus_infinity_travels_as_a_string_and_every_line_carries_the_schema(tmp_path: Path) -> None:
    sample = Sample(text="x", token_logprobs=(-math.inf, -0.5))
    trace = Trace(question=Question(text="Who?"), samples=(SampleSet(receiver="r", context="none", samples=(sample,)),))

    write_traces(tmp_path / "t.jsonl", [trace])

    line = json.loads((tmp_path / "t.jsonl").read_text("utf-8"))
    assert line["schema"] == SCHEMA
    assert line["samples"][0]["samples"][0]["token_logprobs"] == ["-Infinity", -0.5]
    assert list(read_traces(tmp_path / "t.jsonl")) == [trace]


def test_a_gzipped_file_is_read_and_written_alike(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl.gz"
    traces = [Trace(question=Question(text="Who?"))]

    write_traces(path, traces)

    assert gzip.decompress(path.read_bytes()).endswith(b"\n")
    assert list(read_traces(path)) == traces


def test_gzipped_data_is_recognised_whatever_the_name(tmp_path: Path) -> None:
    path = _file(tmp_path, gzip.compress(_GOOD), "traces.jsonl")

    traces = list(read_traces(path))

    assert len(traces) == 1


def test_a_cut_off_gzip_file_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = _file(tmp_path, gzip.compress(_GOOD * 1000)[:-20], "traces.jsonl.gz")

    error = _error(path)

    assert "damaged" in error.problem


@pytest.mark.parametrize("content", [b"", b"\n\n \r\n", b"\xef\xbb\xbf"])
def test_a_file_without_traces_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = _file(tmp_path, content)

    error = _error(path)

    assert "holds no traces" in str(error)
    assert error.file == path


def test_blank_lines_a_byte_order_mark_and_carriage_returns_are_accepted(tmp_path: Path) -> None:
    path = _file(tmp_path, b"\xef\xbb\xbf\r\n\r\n" + _GOOD.replace(b"\n", b"\r\n") + b"\r\n" + _GOOD)

    traces = list(read_traces(path))

    assert [trace.answer for trace in traces] == ["Me.", "Me."]


def test_line_numbers_count_blank_lines(tmp_path: Path) -> None:
    path = _file(tmp_path, _GOOD + b"\n\n{broken\n")

    error = _error(path)

    assert error.line == 4


def test_broken_json_is_told_with_its_line_and_column(tmp_path: Path) -> None:
    path = _file(tmp_path, _GOOD + b'{"question": "Who?",, "answer": 1}\n')

    error = _error(path)

    assert str(error).startswith(f"{path}, line 2: not JSON at column 21:")


@pytest.mark.parametrize(
    ("line", "field", "problem"),
    [
        ('{"answer": "x"}', "$.question", "missing"),
        ('{"question": "q", "answr": "x"}', "$", "Did you mean 'answer'?"),
        ('{"question": "q", "answer": 4}', "$.answer", "expected a string, got the number 4"),
        ('{"question": ["q"]}', "$.question", "expected a string or an object, got a list"),
        ('{"question": " "}', "$.question", "blank"),
        (
            '{"question": "q", "steps": [{"passages": ["a", "b", {"text": null}]}]}',
            "$.steps[0].passages[2].text",
            "expected a string, got null",
        ),
        ('{"question": "q", "steps": [{"passages": [{"id": "1"}]}]}', "$.steps[0].passages[0].text", "missing"),
        ('{"question": "q", "steps": [{"kind": "rank"}]}', "$.steps[0].kind", "expected 'retrieve', 'tool'"),
        ('{"question": "q", "steps": [{"started_at": "noon"}]}', "$.steps[0].started_at", "expected a date and time"),
        ('{"question": "q", "sub_questions": [{"text": "s", "role": "main"}]}', "$.sub_questions[0].role", "'core'"),
        ('{"question": "q", "steps": "none"}', "$.steps", "expected a list, got the string 'none'"),
        ('{"question": "q", "answer": 1, "id": 2}', "$.id", "expected a string, got the number 2 (1 more field is wrong"),
        ('{"question": "q", "schema": 99}', "$", "upgrade rag-cover"),
        ('{"question": "q", "answer": "\\ud800"}', "$.answer", "lone surrogate"),
        ('{"question": "q", "metadata": {"a b": [NaN]}}', "$.metadata['a b'][0]", "expected a finite number, got"),
        ('["question"]', "$", "expected a JSON object, one trace a line, got a list"),
        ('"question"', "$", "expected a JSON object, one trace a line, got the string 'question'"),
        ('{"question": "q", "metadata": {"n": ' + "9" * 5000 + "}}", None, "4300 digits"),
        ('{"question": "q", "metadata": ' + '{"a":' * 300 + "1" + "}" * 301, None, "nested too deeply"),
        ('{"question": "q", "metadata": ' + "[" * 100_000, None, "nested too deeply"),
    ],
)
def test_a_bad_line_is_told_with_its_json_path(tmp_path: Path, line: str, field: str | None, problem: str) -> None:
    path = _file(tmp_path, _GOOD + line.encode() + b"\n")

    error = _error(path)

    assert (error.file, error.line) == (path, 2)
    assert problem in error.problem
    assert field is None or error.field == field


def test_control_characters_inside_strings_are_kept(tmp_path: Path) -> None:
    path = _file(tmp_path, b'{"question": "a\\u0000b\x07c\\td"}\n')

    (trace,) = read_traces(path)

    assert trace.question.text == "a\x00b\x07c\td"


def test_bytes_that_are_not_utf8_are_told_with_their_offset(tmp_path: Path) -> None:
    path = _file(tmp_path, _GOOD + b'{"question": "caf\xe9"}\n')

    error = _error(path)

    assert error.line == 2
    assert "byte 17 of the line is not UTF-8" in error.problem


def test_utf16_is_recognised(tmp_path: Path) -> None:
    path = _file(tmp_path, _GOOD.decode().encode("utf-16"))

    error = _error(path)

    assert "UTF-16" in error.problem


@pytest.mark.parametrize(
    "content", [b'[{"question": "q"}]', b'[\n {"question": "q"}\n]\n', b'[{"question": "q"},\n{"question": "r"}]', b"[]"]
)
def test_a_file_that_is_one_json_array_is_said_to_need_converting(tmp_path: Path, content: bytes) -> None:
    path = _file(tmp_path, content)

    error = _error(path)

    assert "one JSON array" in error.problem
    assert "rag-cover convert" in error.problem


def test_json_spread_over_lines_is_said_to_need_converting(tmp_path: Path) -> None:
    path = _file(tmp_path, b'{\n  "question": "q"\n}\n')

    error = _error(path)

    assert "rag-cover convert" in error.problem


def test_a_list_on_the_first_line_is_that_lines_error(tmp_path: Path) -> None:
    path = _file(tmp_path, b"[1]\n" + _GOOD)

    error = _error(path)

    assert "got a list" in error.problem


def test_duplicate_ids_name_both_lines(tmp_path: Path) -> None:
    path = _file(tmp_path, b'{"question": "a", "id": "x"}\n\n{"question": "b", "id": "x"}\n')

    error = _error(path)

    assert error.line == 3
    assert "given on line 1" in error.problem


def test_skipping_goes_on_and_hands_over_every_error(tmp_path: Path) -> None:
    path = _file(tmp_path, b"{broken\n" + _GOOD + b'{"answer": "x"}\n' + _GOOD)
    skipped: list[InputError] = []

    traces = list(read_traces(path, on_error="skip", skipped=skipped.append))

    assert len(traces) == 2
    assert [error.line for error in skipped] == [1, 3]


def test_skipping_without_anyone_to_tell_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, _GOOD)

    with pytest.raises(InvalidValueError, match="skipped="):
        read_traces(path, on_error="skip")


def test_a_missing_file_and_a_folder_are_errors_at_once(tmp_path: Path) -> None:
    missing = tmp_path / "none.jsonl"

    with pytest.raises(InputError, match="no such file"):
        read_traces(missing)
    with pytest.raises(InputError, match="folder"):
        read_traces(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is readable to root")
def test_a_file_without_read_permission_is_an_input_error(tmp_path: Path) -> None:
    path = _file(tmp_path, _GOOD)
    path.chmod(0)

    error = _error(path)

    assert "permission" in error.problem


def test_a_large_file_is_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    passage = Passage(text="x" * 100_000)
    write_traces(path, (Trace(question=Question(text=f"q{n}"), prompt=(passage,)) for n in range(100)))

    tracemalloc.start()
    count = sum(1 for _ in read_traces(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 100
    assert peak < path.stat().st_size / 5


def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = _file(tmp_path, _GOOD)

    with pytest.raises(ZeroDivisionError):
        write_traces(path, (Trace(question=Question(text=str(1 // n))) for n in (1, 0)))

    assert path.read_bytes() == _GOOD
    assert [found.name for found in tmp_path.iterdir()] == ["traces.jsonl"]


def test_a_file_may_be_rewritten_from_itself(tmp_path: Path) -> None:
    path = _file(tmp_path, _GOOD * 3)

    count = write_traces(path, read_traces(path))

    assert count == 3
    assert len(list(read_traces(path))) == 3


def test_a_lone_surrogate_cannot_be_written_and_the_field_is_named(tmp_path: Path) -> None:
    traces = [Trace(question=Question(text="q")), Trace(question=Question(text="q"), answer="\ud800")]

    with pytest.raises(InputError) as caught:
        write_traces(tmp_path / "t.jsonl", traces)

    assert (caught.value.line, caught.value.field) == (2, "$.answer")


def test_a_folder_that_is_not_there_cannot_be_written_to(tmp_path: Path) -> None:
    path = tmp_path / "none" / "t.jsonl"

    with pytest.raises(StoreError, match="check the folder"):
        write_traces(path, [Trace(question=Question(text="q"))])


_ON_A_FULL_DISK = """
import random, resource, sys
from rag_cover import Question, Trace, write_traces
from rag_cover.errors import StoreError
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    texts = [random.Random(number).randbytes(500).hex() for number in range(100)]
    write_traces(sys.argv[1], [Trace(question=Question(text)) for text in texts])
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["traces.jsonl", "traces.jsonl.gz"])
def test_a_disk_that_is_full_leaves_the_file_that_was_there(tmp_path: Path, name: str) -> None:
    pytest.importorskip("resource", reason="this system limits no files")
    path = tmp_path / name
    before = [Trace(id="before", question=Question(text="q"))]
    write_traces(path, before)

    done = subprocess.run([sys.executable, "-c", _ON_A_FULL_DISK, str(path)], check=True, capture_output=True, text=True)

    assert done.stdout.endswith("cannot be written (File too large); check the folder, its permissions and the disk\n")
    assert list(read_traces(path)) == before
    assert [found.name for found in tmp_path.iterdir()] == [name]


def test_two_writers_of_one_file_do_not_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"

    def slowly() -> Iterator[Trace]:
        yield Trace(id="first", question=Question(text="q"))
        write_traces(path, [Trace(id="other", question=Question(text="q" * 9_999))])
        yield Trace(id="second", question=Question(text="q"))

    write_traces(path, slowly())

    assert [trace.id for trace in read_traces(path)] == ["first", "second"]


def test_step_ids_survive_a_round_trip(tmp_path: Path) -> None:
    steps = (RetrievalStep(id="a"), RetrievalStep(kind="rerank", input_ids=("a",)))
    trace = Trace(question=Question(text="q"), steps=steps)

    write_traces(tmp_path / "t.jsonl", [trace])

    assert [step.id for step in next(read_traces(tmp_path / "t.jsonl")).steps] == ["a", "step-2"]
