"""Embeddings: unit length, pooled as the checkpoint says, whatever the batch."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoModel, AutoTokenizer, ModernBertConfig, MPNetConfig

from rag_cover.backends import Embedder
from rag_cover.registry import open_embedder
from rag_cover_transformers.errors import UnsuitableCheckpointError

TEXTS = ["The river froze.", "She paid for the car in cash and then the shop closed.", "a"]


def _with_modules(folder: Path, to: Path, pooling: dict[str, Any], *more: tuple[str, dict[str, Any]]) -> Path:
    """Write sentence-transformers' files beside a checkpoint."""
    shutil.copytree(folder, to)
    kinds = [
        ("Transformer", ""),
        ("Pooling", "1_Pooling"),
        *((kind, f"{place}_{kind}") for place, (kind, _) in enumerate(more, 2)),
    ]
    modules = [{"idx": n, "path": path, "type": f"sentence_transformers.models.{kind}"} for n, (kind, path) in enumerate(kinds)]
    (to / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    for path, config in [("1_Pooling", pooling), *((path, c) for (_, path), (_, c) in zip(kinds[2:], more, strict=True))]:
        (to / path).mkdir()
        (to / path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return to


def _token_vectors(folder: Path, text: str) -> torch.Tensor:
    with torch.inference_mode():
        batch = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
        vectors: torch.Tensor = AutoModel.from_pretrained(folder)(**batch).last_hidden_state[0]
        return vectors


def test_without_more_it_is_the_mean_of_the_token_vectors(bert_folder: Path) -> None:
    embedder = open_embedder(f"transformers:{bert_folder}")

    found = embedder.embed(TEXTS)

    mean = _token_vectors(bert_folder, TEXTS[0]).mean(dim=0)
    assert isinstance(embedder, Embedder)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert np.allclose(found[0], (mean / mean.norm()).numpy(), atol=1e-5)


def test_the_batch_and_its_padding_do_not_matter(bert_folder: Path) -> None:
    embedder = open_embedder(f"transformers:{bert_folder}")

    single = np.concatenate([embedder.embed([text]) for text in TEXTS])

    assert np.abs(embedder.embed(TEXTS) - single).max() <= 1e-5


@pytest.mark.parametrize(
    "pooling", [{"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}]
)
def test_the_checkpoint_says_how_to_pool(bert_folder: Path, tmp_path: Path, pooling: dict[str, Any]) -> None:
    folder = _with_modules(bert_folder, tmp_path / "cls", pooling, ("Normalize", {}))

    found = open_embedder(f"transformers:{folder}").embed(TEXTS[:1])

    first = _token_vectors(bert_folder, TEXTS[0])[0]
    assert np.allclose(found[0], (first / first.norm()).numpy(), atol=1e-5)


def test_dense_layers_are_read_from_safetensors(bert_folder: Path, tmp_path: Path) -> None:
    dense = {"in_features": 32, "out_features": 4, "activation_function": "torch.nn.modules.activation.Tanh"}
    folder = _with_modules(bert_folder, tmp_path / "dense", {"pooling_mode": "mean"}, ("Dense", dense))
    weight, bias = torch.randn(4, 32), torch.randn(4)
    save_file({"linear.weight": weight, "linear.bias": bias}, folder / "2_Dense" / "model.safetensors")

    embedder = open_embedder(f"transformers:{folder}")

    wanted = torch.tanh(weight @ _token_vectors(bert_folder, TEXTS[0]).mean(dim=0) + bias)
    assert np.allclose(embedder.embed(TEXTS[:1])[0], (wanted / wanted.norm()).numpy(), atol=1e-5)
    assert embedder.embed([]).shape == (0, 4)


def test_a_module_that_is_not_known_is_refused(bert_folder: Path, tmp_path: Path) -> None:
    folder = _with_modules(bert_folder, tmp_path / "odd", {"pooling_mode": "mean"}, ("Whitening", {}))

    with pytest.raises(UnsuitableCheckpointError, match="a module 'Whitening' is not known here"):
        open_embedder(f"transformers:{folder}")


def test_the_end_of_a_long_text_counts(bert_folder: Path) -> None:
    embedder = open_embedder(f"transformers:{bert_folder}")
    long = "The river froze completely last winter. " * 20

    ends = embedder.embed([long + "She paid in cash.", long + "The violin is small."])

    assert np.abs(ends[0] - ends[1]).max() > 1e-4


def test_a_prompt_stands_before_every_text(bert_folder: Path) -> None:
    prompted = open_embedder(f"transformers:{bert_folder}", prompt="who: ").embed(["river"])

    assert np.allclose(prompted, open_embedder(f"transformers:{bert_folder}").embed(["who: river"]), atol=1e-6)


@pytest.mark.parametrize("config", [MPNetConfig, ModernBertConfig])
def test_encoders_that_no_list_of_text_encoders_names_embed_too(config: Any, bert_tokenizer: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64, "pad_token_id": 0}
    network = AutoModel.from_config(config(vocab_size=len(bert_tokenizer), max_position_embeddings=66, **sizes))
    network.save_pretrained(tmp_path)
    bert_tokenizer.save_pretrained(tmp_path)
    embedder = open_embedder(f"transformers:{tmp_path}")

    found = embedder.embed(TEXTS)

    assert np.abs(found - np.concatenate([embedder.embed([text]) for text in TEXTS])).max() <= 1e-5


def test_a_language_model_embeds_by_its_last_token_where_its_files_say_so(llama_folder: Path, tmp_path: Path) -> None:
    folder = _with_modules(llama_folder, tmp_path / "last", {"pooling_mode": "lasttoken"})

    found = open_embedder(f"transformers:{folder}").embed(TEXTS)

    for text, vector in zip(TEXTS, found, strict=True):
        last = _token_vectors(llama_folder, text)[-1]
        assert np.allclose(vector, (last / last.norm()).numpy(), atol=1e-5)
