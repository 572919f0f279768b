"""Skill models on disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rag_cover.errors import CorruptFileError, InputError, UnfitModelError
from rag_cover.routing import Caimira

ROWS = np.array([[1.0, 2.0], [0.5, -1.0]])


@pytest.fixture
def model() -> Caimira:
    return Caimira.from_parameters(
        [[1.0, 0.5], [0.0, 0.2]], np.eye(2), [0.1, 0.0], np.eye(2), [0.3, 0.4], agents=["a", "ü"], encoder="letters"
    )


@pytest.fixture
def path(model: Caimira, tmp_path: Path) -> Path:
    model.save(tmp_path / "skills.v1")
    return tmp_path / "skills.v1"


def test_a_model_that_is_read_back_predicts_the_same(model: Caimira, path: Path) -> None:
    again = Caimira.load(path, encoder="letters", features=2)

    assert again.predict(ROWS).tolist() == model.predict(ROWS).tolist()
    assert (again.agents, again.encoder) == (("a", "ü"), "letters")
    assert sorted(each.name for each in path.parent.iterdir()) == ["skills.v1.json", "skills.v1.npz"]


def test_either_of_the_two_files_may_be_named(path: Path) -> None:
    assert Caimira.load(f"{path}.npz").agents == Caimira.load(f"{path}.json").agents == ("a", "ü")


def test_another_encoder_is_refused(path: Path) -> None:
    with pytest.raises(UnfitModelError, match="encoded by letters, not by words"):
        Caimira.load(path, encoder="words")


def test_vectors_of_another_size_are_refused(path: Path) -> None:
    with pytest.raises(UnfitModelError, match="takes 2 features"):
        Caimira.load(path, features=384)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Caimira.load(tmp_path / "nothing")


@pytest.mark.parametrize("suffix", ["npz", "json"])
@pytest.mark.parametrize("content", [b"", b"\x80\x04nonsense", b"[]", b'{"schema": 9}'])
def test_a_damaged_file_is_refused(path: Path, suffix: str, content: bytes) -> None:
    path.with_name(f"skills.v1.{suffix}").write_bytes(content)

    with pytest.raises(CorruptFileError, match="again"):
        Caimira.load(path)


def test_numbers_of_another_model_are_refused(path: Path) -> None:
    Caimira.from_parameters([[1.0]], [[1.0]], [0.0], [[1.0]], [0.0]).save(path.with_name("other"))
    path.with_name("skills.v1.npz").write_bytes(path.with_name("other.npz").read_bytes())

    with pytest.raises(CorruptFileError, match="of another model"):
        Caimira.load(path)


def test_a_field_that_is_missing_is_damage(path: Path) -> None:
    text = path.with_name("skills.v1.json")
    about = json.loads(text.read_text(encoding="utf-8"))
    del about["agents"]
    text.write_text(json.dumps(about), encoding="utf-8")

    with pytest.raises(CorruptFileError, match="do not hold a skill model"):
        Caimira.load(path)
