from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_cover import Evaluation, Models, evaluate, evaluate_files
from rag_cover.errors import InputError, InvalidValueError, RagCoverError, StoreError
from rag_cover.stores.folders import ResultFolder
from rag_cover.stores.parts import write_part
from tests.evaluation.files.files import MODELS, contents

pytest.importorskip("pyarrow", reason="needs pyarrow (extra parquet)")


def test_a_folder_of_something_else_is_left_alone(traces: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.doc").write_text("years of work", encoding="utf-8")

    with pytest.raises(StoreError, match=r"holds other files, such as thesis\.doc; name a new or an empty folder"):
        evaluate_files(traces, tmp_path / "out", models=MODELS)

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.doc"]


def test_what_a_killed_run_was_writing_is_cleared_away(traces: Path, tmp_path: Path) -> None:
    evaluate_files(traces, tmp_path / "out", models=MODELS)
    whole = {path.name for path in (tmp_path / "out").iterdir()}
    part = next(iter(contents(tmp_path / "out")))
    for name in (f"{part}.0123abcd.part", "unpacked-00000-0000000", "evaluation.json.0123abcd.part"):
        (tmp_path / "out" / name).write_bytes(b"half")

    evaluate_files(traces, tmp_path / "out", models=MODELS, resume=True)

    assert {path.name for path in (tmp_path / "out").iterdir()} == whole


def test_foreign_files_in_our_folder_stay(traces: Path, tmp_path: Path) -> None:
    evaluate_files(traces, tmp_path / "out", models=MODELS)
    for name in ("part-mine.parquet", "notes.txt", "part-00000-0000000.parquet"):
        (tmp_path / "out" / name).write_text("mine", encoding="utf-8")

    evaluate_files(traces, tmp_path / "out", models=MODELS, part_bytes=9_000, overwrite=True)

    assert sum(path.read_bytes() == b"mine" for path in (tmp_path / "out").iterdir()) == 3
    assert len(Evaluation.open(tmp_path / "out").results) == 120


def test_a_folder_that_another_run_holds_is_told(traces: Path, tmp_path: Path) -> None:
    with (
        ResultFolder(tmp_path / "out").lock(),
        pytest.raises(StoreError, match=rf"out is being written by process {os.getpid()} on"),
    ):
        evaluate_files(traces, tmp_path / "out", models=MODELS)


def test_a_folder_that_cannot_be_made_is_told(traces: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written into"):
        evaluate_files(traces, traces / "out", models=MODELS)
    with pytest.raises(StoreError, match="cannot be written into"):
        evaluate_files(traces, tmp_path / "none" / "out", models=MODELS)


def test_a_full_disk_leaves_what_was_written_whole(traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, rows: Sequence[Any]) -> None:
        if path.name.startswith("part-00000-0000003"):
            message = f"{path} cannot be written (No space left on device); check the folder, its permissions and the disk"
            raise StoreError(message)
        write_part(path, rows)

    monkeypatch.setattr("rag_cover.evaluation.files.driver.write_part", full)
    with pytest.raises(StoreError, match="No space left on device"):
        evaluate_files(traces, tmp_path / "out", models=MODELS, part_bytes=4_000)
    monkeypatch.undo()

    assert len(contents(tmp_path / "out")) == 3
    again = evaluate_files(traces, tmp_path / "out", models=MODELS, part_bytes=4_000, resume=True)
    assert list(again.results) == list(evaluate(traces, models=MODELS).results)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"files": []}, "there is no file to evaluate"),
        ({"format": "xml"}, "written as 'parquet' or 'jsonl', not as 'xml'"),
        ({"part_bytes": 0}, "part_bytes is from 1 to"),
        ({"engine": "lokal"}, "No engine is called 'lokal'. Did you mean 'local'?"),
        ({"measures": ["coverge"]}, "Did you mean 'coverage'"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_measured(
    traces: Path, tmp_path: Path, wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidValueError, match=said):
        evaluate_files(wrong.pop("files", traces), tmp_path / "out", models=MODELS, **wrong)


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_a_file_without_traces_is_told(traces: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "none.jsonl").write_text(content, encoding="utf-8")

    with pytest.raises(InputError, match=r"none\.jsonl: the file holds no traces"):
        evaluate_files([traces, tmp_path / "none.jsonl"], tmp_path / "out", models=MODELS)


def test_a_judge_that_is_none_leaves_no_folder(traces: Path, tmp_path: Path) -> None:
    with pytest.raises(RagCoverError, match="No backend is called 'nobody'"):
        evaluate_files(traces, tmp_path / "out", models=Models(judge="nobody"))

    assert not (tmp_path / "out").exists()
