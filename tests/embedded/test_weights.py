"""Weights that are damaged are refused with a sentence that names the file and says what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_cover.backends import ScoringItem
from rag_cover.errors import CorruptFileError
from rag_cover_embedded.equivalence import AnswerEntailer
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


class TestANetworkOfItsOwnForEntailment:
    """It has no part in the judge's fingerprint, is opened when it is asked for, and is checked then."""

    @pytest.fixture
    def other(self, copied: Path) -> Path:
        """Give a judge another network for entailment: here the judge's own, under the other name."""
        about = json.loads((copied / "judge.json").read_text(encoding="utf-8"))
        shutil.copyfile(copied / "judge.onnx", copied / "entailment.onnx")
        about["sha256"]["entailment.onnx"] = about["sha256"]["judge.onnx"]
        about["entailment"] = {"temperature": 1.0}
        (copied / "judge.json").write_text(json.dumps(about), encoding="utf-8")
        return copied

    def test_a_folder_may_do_without(self, other: Path) -> None:
        about = json.loads((other / "judge.json").read_text(encoding="utf-8"))
        del about["entailment"], about["sha256"]["entailment.onnx"], about["sha256"]["replies.onnx"]
        (other / "judge.json").write_text(json.dumps(about), encoding="utf-8")
        (other / "entailment.onnx").unlink()

        weights = Weights.open(other)

        assert weights.entailment_network == weights.network
        assert weights.entailment_session(1) is weights.session(1)
        assert weights.entailment.mark == ""
        assert EmbeddedJudge(other).entail([("It rains.", "It rains.")])[0, 0] > 0.5

    def test_verdicts_on_answers_keep_their_fingerprint(self, other: Path) -> None:
        mine, shipped = EmbeddedJudge(other), EmbeddedJudge()

        assert mine.fingerprint == shipped.fingerprint
        assert AnswerEntailer(mine).fingerprint != AnswerEntailer(shipped).fingerprint

    @pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"no network")], ids=["missing", "changed"])
    def test_damage_is_named_when_it_is_asked_for(self, other: Path, damage: Callable[[Path], object]) -> None:
        damage(other / "entailment.onnx")
        judge = EmbeddedJudge(other)  # coverage does not need it

        with pytest.raises(CorruptFileError, match=r"(?s)entailment\.onnx.*Reinstall rag-cover"):
            judge.entail([("It rains.", "It rains.")])


class TestANetworkOfItsOwnForReplies:
    """It has a part in the judge's fingerprint, is opened when a reply is read, and is checked then."""

    REPLY = ScoringItem("Who wrote Emma?", "Jane Austen.", user_question="Who wrote Emma?")
    PASSAGE = ScoringItem("Who wrote Emma?", "Emma is a novel by Jane Austen.")

    @pytest.fixture
    def other(self, copied: Path) -> Path:
        """Give a judge another network for replies: here the judge's own, under the other name."""
        about = json.loads((copied / "judge.json").read_text(encoding="utf-8"))
        shutil.copyfile(copied / "judge.onnx", copied / "replies.onnx")
        about["sha256"]["replies.onnx"] = about["sha256"]["judge.onnx"]
        (copied / "judge.json").write_text(json.dumps(about), encoding="utf-8")
        return copied

    @pytest.fixture
    def without(self, other: Path, tmp_path: Path) -> Path:
        """Give the same judge with one network for passages and replies."""
        folder = shutil.copytree(other, tmp_path / "without")
        about = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
        del about["sha256"]["replies.onnx"]
        (folder / "judge.json").write_text(json.dumps(about), encoding="utf-8")
        (folder / "replies.onnx").unlink()
        return folder

    def test_a_folder_may_do_without(self, other: Path, without: Path) -> None:
        items = [self.REPLY, self.PASSAGE, ScoringItem("Who wrote Emma?", "Austen did.", ("Jane Austen",))]

        assert EmbeddedJudge(without).correctness(items).tolist() == EmbeddedJudge(other).correctness(items).tolist()

    def test_it_has_a_part_in_the_fingerprint(self, other: Path, without: Path) -> None:
        assert EmbeddedJudge(other).fingerprint != EmbeddedJudge(without).fingerprint

    def test_all_that_ask_share_it(self, other: Path) -> None:
        assert Weights.open(other).session(1) is Weights.open(other).session(1)

    @pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"no network")], ids=["missing", "changed"])
    def test_damage_is_named_when_a_reply_is_read(self, other: Path, damage: Callable[[Path], object]) -> None:
        damage(other / "replies.onnx")
        judge = EmbeddedJudge(other)

        assert judge.correctness([self.PASSAGE])[0] > 0.5  # passages do not need it
        with pytest.raises(CorruptFileError, match=r"(?s)replies\.onnx.*Reinstall rag-cover"):
            judge.correctness([self.REPLY])
