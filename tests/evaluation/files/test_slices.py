from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_cover.errors import InputError
from rag_cover.evaluation.files.slice_reader import Refusal, read_slice
from rag_cover.evaluation.files.slices import FileCut, cut_file
from rag_cover.stores import read_traces
from rag_cover.traces import Trace

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _lines(number: int, *, size: int = 60) -> bytes:
    rows = [json.dumps({"question": f"Why is item {index} blue?", "answer": "x" * size}) for index in range(number)]
    return ("\n".join(rows) + "\n").encode()


def _file(folder: Path, content: bytes, name: str = "traces.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _sizes(cuts: Sequence[FileCut]) -> list[int]:
    return [each.slice.length for each in cuts]


def _read(cuts: Sequence[FileCut]) -> list[Trace | Refusal]:
    return [found if isinstance(found, Refusal) else found[1] for each in cuts for found in read_slice(each.slice)]


def test_slices_are_bounded_in_bytes_and_end_with_a_line(tmp_path: Path) -> None:
    path = _file(tmp_path, _lines(1000))

    cuts = list(cut_file(path, part_bytes=5_000))

    longest = max(map(len, path.read_bytes().splitlines(keepends=True)))
    assert sum(_sizes(cuts)) == path.stat().st_size
    assert max(_sizes(cuts)) <= 5_000 + longest
    assert _read(cuts) == list(read_traces(path))


def test_a_trace_larger_than_a_slice_is_one_by_itself(tmp_path: Path) -> None:
    path = _file(tmp_path, _lines(3, size=10_000))

    cuts = list(cut_file(path, part_bytes=100))

    assert [each.slice.first for each in cuts] == [1, 2, 3]


def test_a_line_without_an_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_cover.stores.files._LONGEST_LINE", 1000)
    path = _file(tmp_path, gzip.compress(_lines(2) + b"{" * 5_000))

    with pytest.raises(InputError, match=r"traces\.jsonl, line 3: the line is longer than"):
        list(cut_file(path, part_bytes=400))


def test_slices_are_small_at_first_so_that_a_small_file_keeps_many_workers_busy(tmp_path: Path) -> None:
    path = _file(tmp_path, _lines(40_000))

    sizes = _sizes(list(cut_file(path)))

    assert len(sizes) > 32
    assert sizes[0] < 70_000
    assert sizes[20] > 130_000


def test_a_file_that_grew_keeps_the_slices_it_had(tmp_path: Path) -> None:
    path = _file(tmp_path, _lines(1000))
    before = [each.slice for each in cut_file(path, part_bytes=5_000)]

    with path.open("ab") as file:
        file.write(_lines(10))

    after = [each.slice for each in cut_file(path, part_bytes=5_000)]
    assert after[: len(before) - 1] == before[:-1]


def test_a_packed_file_is_cut_where_its_content_would_be(tmp_path: Path) -> None:
    plain = _file(tmp_path, _lines(300))
    packed = _file(tmp_path, gzip.compress(_lines(300)), "traces.jsonl.gz")

    cuts = list(cut_file(packed, part_bytes=2_000))

    assert [each.slice.digest for each in cuts] == [each.slice.digest for each in cut_file(plain, part_bytes=2_000)]
    assert b"".join(each.unpacked or b"" for each in cuts) == plain.read_bytes()


def test_a_file_that_is_changed_while_it_is_cut_is_told(tmp_path: Path) -> None:
    path = _file(tmp_path, _lines(1000))
    cuts = cut_file(path, part_bytes=5_000)
    next(cuts)

    with path.open("ab") as file:
        file.write(_lines(1))

    with pytest.raises(InputError, match="was changed while it was read"):
        list(cuts)


def test_a_slice_that_is_changed_before_it_is_read_is_told(tmp_path: Path) -> None:
    path = _file(tmp_path, _lines(100))
    (only,) = cut_file(path)

    path.write_bytes(path.read_bytes().replace(b"blue", b"grey"))

    with pytest.raises(InputError, match=r"traces\.jsonl: the file was changed"):
        list(read_slice(only.slice))


def test_a_file_that_workers_cannot_see_is_told(tmp_path: Path) -> None:
    (only,) = cut_file(_file(tmp_path, _lines(10)))

    only.slice.source.unlink()

    with pytest.raises(InputError, match="every worker must see it by this path"):
        list(read_slice(only.slice))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("traces.csv", b"question,answer\nWhy?,So.\n", "turn this file into a trace file with 'rag-cover convert'"),
        ("traces.json", b'[{"question": "Why?"}]', "the file is one JSON array"),
        ("cut.gz", gzip.compress(_lines(1000))[:-20], "the gzip data is cut off or damaged"),
        ("no.parquet", b"PAR1 and nothing else", "not a Parquet file that can be read"),
        ("none.jsonl", None, "there is no such file"),
    ],
)
def test_what_cannot_be_cut_is_said(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    path = tmp_path / name if content is None else _file(tmp_path, content, name)

    with pytest.raises(InputError, match=said):
        list(cut_file(path))


def _table(path: Path, rows: Sequence[dict[str, Any]], *, group: int = 50) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=group)
    return path


def test_rows_of_a_table_are_cut_and_bounded_too(tmp_path: Path) -> None:
    rows = [{"question": f"Why {index}?", "answer": "because " * 40, "contexts": ["light"]} for index in range(200)]
    path = _table(tmp_path / "t.parquet", rows)

    cuts = list(cut_file(path, part_bytes=8_000))

    assert [each.slice.first for each in cuts] == sorted({each.slice.first for each in cuts})
    assert len(cuts) > 4
    assert {each.slice.table for each in cuts} == {"ragas"}


def test_spans_are_not_cut_apart(tmp_path: Path) -> None:
    path = _table(tmp_path / "s.parquet", [{"context.span_id": "1", "context.trace_id": "2", "attributes.input.value": "Why?"}])

    with pytest.raises(InputError, match="make a trace only together; put them together with 'rag-cover convert'"):
        list(cut_file(path))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    path = _file(tmp_path, _lines(1))
    path.chmod(0)

    with pytest.raises(InputError, match="check its permissions"):
        list(cut_file(path))
