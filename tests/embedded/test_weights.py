"""Weights that are damaged are refused with a sentence that names the file and says what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rag_cover.errors import CorruptFileError
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.weights import FOLDER, Weights, sha256_of

FILES = ("judge.json", "judge.onnx", "tokenizer.json")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    if not (FOLDER / "judge.onnx").exists():
        pytest.skip("needs the trained weights (weights/judge.onnx)")
    return Path(shutil.copytree(FOLDER, tmp_path / "weights"))


def _resigned(folder: Path) -> None:
    """Write the files' real sha256 into judge.json, as someone who edits weights on purpose would."""
    about = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
    about["sha256"] = {name: sha256_of(folder / name) for name in about["sha256"]}
    (folder / "judge.json").write_text(json.dumps(about), encoding="utf-8")


def test_the_shipped_weights_are_whole(copied: Path) -> None:
    assert Weights.open().fingerprint == Weights.open(copied).fingerprint


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(copied: Path, name: str) -> None:
    (copied / name).unlink()

    with pytest.raises(CorruptFileError, match=rf"(?s){name}.*Reinstall rag-cover"):
        EmbeddedJudge(copied)


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_named(copied: Path, name: str) -> None:
    path = copied / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    with pytest.raises(CorruptFileError, match=r"(?s)weights.*Reinstall rag-cover") as caught:
        EmbeddedJudge(copied)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["judge.onnx", "tokenizer.json"])
def test_one_changed_byte_is_noticed(copied: Path, name: str) -> None:
    content = bytearray((copied / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).write_bytes(content)

    with pytest.raises(CorruptFileError, match=f"{name} is damaged: its sha256 is"):
        EmbeddedJudge(copied)


@pytest.mark.parametrize("name", ["judge.onnx", "tokenizer.json"])
def test_a_file_that_is_signed_but_no_model_is_refused(copied: Path, name: str) -> None:
    (copied / name).write_bytes(b"not a model")
    _resigned(copied)

    with pytest.raises(CorruptFileError, match=name):
        EmbeddedJudge(copied)


@pytest.mark.parametrize("content", ["", "[]", "{}", "null", '{"sha256": {}}', '{"sha256": {}, "fitted": {}}'])
def test_a_judge_json_that_lacks_what_it_should_say_is_refused(copied: Path, content: str) -> None:
    (copied / "judge.json").write_text(content, encoding="utf-8")

    with pytest.raises(CorruptFileError, match=r"judge\.json|weights"):
        EmbeddedJudge(copied)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError, match="nowhere"):
        EmbeddedJudge(tmp_path / "nowhere")


def test_judge_and_reader_share_one_network_while_it_is_in_use() -> None:
    weights = Weights.open()

    first = weights.session(1)

    assert Weights.open().session(1) is first
    assert weights.session(2) is not first
