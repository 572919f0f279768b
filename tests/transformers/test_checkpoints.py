"""What is read of a checkpoint, and what is refused."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from typing import Any, NoReturn

import huggingface_hub.constants
import pytest
from safetensors import safe_open
from transformers import OpenAIGPTConfig, OpenAIGPTLMHeadModel

from rag_cover.errors import InvalidValueError
from rag_cover.registry import open_embedder, open_entailer, open_receiver, open_scorer
from rag_cover_transformers.checkpoints import find_checkpoint
from rag_cover_transformers.errors import (
    CheckpointNotFoundError,
    UnsafeWeightsError,
    UnsuitableCheckpointError,
    WrongKindError,
)


@pytest.fixture
def copied(tmp_path: Path, bert_folder: Path) -> Path:
    return Path(shutil.copytree(bert_folder, tmp_path / "copy"))


def test_a_folder_with_pickled_weights_alone_is_refused_with_what_to_do(copied: Path) -> None:
    (copied / "model.safetensors").rename(copied / "pytorch_model.bin")

    with pytest.raises(UnsafeWeightsError, match=r"only as pytorch_model.bin, which can run code .* save_pretrained"):
        open_embedder(f"transformers:{copied}")


def test_a_folder_without_weights_says_so(copied: Path) -> None:
    (copied / "model.safetensors").unlink()

    with pytest.raises(UnsuitableCheckpointError, match="holds no weights"):
        open_embedder(f"transformers:{copied}")


def test_weights_cut_short_are_refused(copied: Path) -> None:
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2000])

    with pytest.raises(UnsuitableCheckpointError, match="cannot be used"):
        open_embedder(f"transformers:{copied}")


@pytest.mark.parametrize(
    "place", ["../elsewhere.safetensors", "a/../../elsewhere.safetensors", "{tmp_path}/elsewhere.safetensors"]
)
def test_weights_that_lie_outside_the_folder_are_refused(copied: Path, tmp_path: Path, place: str) -> None:
    shutil.move(copied / "model.safetensors", tmp_path / "elsewhere.safetensors")
    with safe_open(tmp_path / "elsewhere.safetensors", "pt") as weights:
        index = {"metadata": {}, "weight_map": dict.fromkeys(weights.keys(), place.format(tmp_path=tmp_path))}
    (copied / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    shutil.copy(tmp_path / "elsewhere.safetensors", copied / "another.safetensors")

    with pytest.raises(UnsuitableCheckpointError, match=r"names files outside the folder: .*elsewhere\.safetensors"):
        open_embedder(f"transformers:{copied}")


def test_weights_in_several_files_are_read(copied: Path) -> None:
    (copied / "model.safetensors").rename(copied / "model-00001-of-00001.safetensors")
    with safe_open(copied / "model-00001-of-00001.safetensors", "pt") as weights:
        index = {"metadata": {}, "weight_map": dict.fromkeys(weights.keys(), "model-00001-of-00001.safetensors")}
    (copied / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")

    assert open_embedder(f"transformers:{copied}").embed(["a"]).shape[0] == 1


def test_code_of_a_checkpoint_is_never_run(copied: Path) -> None:
    (copied / "theirs.py").write_text("raise SystemExit('their code ran')\n", encoding="utf-8")
    config = json.loads((copied / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "theirs", "auto_map": {"AutoConfig": "theirs.Config", "AutoModel": "theirs.Model"}}
    (copied / "config.json").write_text(json.dumps(config), encoding="utf-8")

    with pytest.raises(UnsuitableCheckpointError, match="needs code of its own"):
        open_embedder(f"transformers:{copied}")


def test_an_encoder_that_was_never_trained_to_classify_is_no_entailer(bert_folder: Path) -> None:
    with pytest.raises(WrongKindError, match="no weights for classifier"):
        open_entailer(f"transformers:{bert_folder}")


def test_an_encoder_decoder_is_no_receiver(t5_folder: Path) -> None:
    with pytest.raises(WrongKindError, match="it is an encoder-decoder"):
        open_receiver(f"transformers:{t5_folder}")


def test_a_language_model_is_no_embedder_by_itself(llama_folder: Path) -> None:
    with pytest.raises(WrongKindError, match=r"no modules.json says how .* take an encoder"):
        open_embedder(f"transformers:{llama_folder}")


def test_an_architecture_without_such_a_network_is_told(t5_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(t5_folder, tmp_path / "copy"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "bart"}), encoding="utf-8")

    with pytest.raises(WrongKindError, match="no such network"):
        open_embedder(f"transformers:{folder}")


@pytest.mark.parametrize(
    ("lacking", "problem"),
    [
        ("config.json", r"holds no config\.json, so it is no checkpoint\. Give the folder that save_pretrained wrote"),
        ("tokenizer.json", r"holds no tokenizer\.json\. Save the tokenizer beside the weights: tokenizer\.save_pretrained"),
    ],
)
def test_a_folder_that_lacks_a_file_names_it_and_says_what_to_do(copied: Path, lacking: str, problem: str) -> None:
    (copied / lacking).unlink()

    with pytest.raises(UnsuitableCheckpointError, match=problem):
        open_embedder(f"transformers:{copied}")


@pytest.mark.parametrize(("damaged", "what"), [("config.json", "config.json"), ("tokenizer.json", "tokenizer")])
def test_a_damaged_file_is_told_from_the_others(copied: Path, damaged: str, what: str) -> None:
    (copied / damaged).write_text("{", encoding="utf-8")

    with pytest.raises(UnsuitableCheckpointError, match=f"its {what} cannot be read from .*Get the folder again"):
        open_embedder(f"transformers:{copied}")


def test_a_folder_that_is_written_anew_is_another_model(llama_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(llama_folder, tmp_path / "copy"))
    first, same = (open_receiver(f"transformers:{folder}") for _ in range(2))
    (folder / "config.json").write_text((folder / "config.json").read_text(encoding="utf-8") + "\n", encoding="utf-8")

    other = open_receiver(f"transformers:{folder}")

    assert first._sampler is same._sampler  # type: ignore[attr-defined]
    assert first._sampler is not other._sampler  # type: ignore[attr-defined]


def test_a_network_that_keeps_no_cache_is_no_receiver(tmp_path: Path, llama_folder: Path) -> None:
    config = OpenAIGPTConfig(vocab_size=400, n_embd=16, n_layer=1, n_head=2, n_positions=64)
    OpenAIGPTLMHeadModel(config).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(llama_folder / name, tmp_path)

    with pytest.raises(WrongKindError, match="does not let several samples grow from one prompt"):
        open_receiver(f"transformers:{tmp_path}")


def test_a_path_that_is_not_there_is_never_looked_for_on_the_hub(tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFoundError, match="there is no such folder"):
        open_scorer(f"transformers:{tmp_path / 'nothing'}")


def test_a_name_that_the_hub_does_not_give_says_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))

    with pytest.raises(CheckpointNotFoundError, match=r"'org/model' cannot be had: .*HF_HUB_OFFLINE=1.*HF_HOME.*HF_TOKEN"):
        open_scorer("transformers:org/model")


def test_a_model_must_be_named() -> None:
    with pytest.raises(InvalidValueError, match="Say which model"):
        open_scorer("transformers")


def test_by_path_nothing_is_asked_of_the_network(bert_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        message = "the network was asked"
        raise AssertionError(message)

    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "sendto", refuse)

    found = open_embedder(f"transformers:{bert_folder}").embed(["It rains."])

    assert found.shape == (1, 32)


def test_the_fingerprint_changes_with_any_file_that_is_read(copied: Path) -> None:
    before = find_checkpoint(str(copied)).fingerprint()
    (copied / "README.md").write_text("not read", encoding="utf-8")
    unread = find_checkpoint(str(copied)).fingerprint()
    (copied / "vocab.txt").write_text("read", encoding="utf-8")

    assert before == unread != find_checkpoint(str(copied)).fingerprint()


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("device", "cuda:99", "device 'cuda:99' is not to be had here"),
        ("device", "abacus", "device 'abacus' is not to be had here"),
        ("precision", "float8", "precision is .float8.; give .auto. or .float32."),
        ("batch_tokens", 0, "batch_tokens is 0; give a whole number of at least 1"),
        ("max_tokens", 8, "inputs of 8 tokens are too short for two texts: max_tokens is 16 to 64 for this model"),
        ("max_tokens", 0, "inputs of 0 tokens are too short"),
    ],
)
def test_an_option_out_of_range_is_refused(bert_folder: Path, option: str, value: Any, problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        open_embedder(f"transformers:{bert_folder}", **{option: value})
