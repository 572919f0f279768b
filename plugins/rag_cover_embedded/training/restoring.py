"""A packed judge made back into a network that can be trained further, or averaged with one that was.

Weights come back as the bytes hold them: quantising them again gives the same bytes. What the bytes lost is lost.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rag_cover_embedded.packed_weights import read_weights
from rag_cover_embedded.training.network import TASK_TOKENS, JudgeNetwork

Arrays = dict[str, NDArray[np.float32]]
_HEADS = ("entailment", "answers", "replies", "abstention", "correct")


def restore_weights(network: JudgeNetwork, path: Path) -> None:
    """Give a network the weights of a ``judge.onnx`` in bytes; word vectors but for the task tokens' stay as they are."""
    found = read_weights(path)
    table = network.encoder.embeddings
    with torch.no_grad():
        _fill(network.task_vectors, found["words"][:TASK_TOKENS])
        _fill(table.token_type_embeddings.weight, found["kinds.w"])
        _fill(table.position_embeddings.weight, found["places.w"][:, 0])
        _norm(table.LayerNorm, found, "embedded.norm")
        for number, layer in enumerate(network.encoder.encoder.layer):
            name = f"layer{number}"
            own, output = layer.attention.self, layer.attention.output
            _linear(own.query, found, f"{name}.query")
            _fill(own.key.weight, found[f"{name}.key.w"])
            _fill(own.value.weight, found[f"{name}.value.w"])
            own.key.bias.zero_()
            own.value.bias.zero_()  # the next bias holds what it added
            _linear(output.dense, found, f"{name}.mixed")
            _norm(output.LayerNorm, found, f"{name}.norm1")
            _linear(layer.intermediate.dense, found, f"{name}.wide")
            _linear(layer.output.dense, found, f"{name}.narrow")
            _norm(layer.output.LayerNorm, found, f"{name}.norm2")
        for name in _HEADS:
            head = getattr(network, name)
            _linear(head[0], found, f"{name}.hidden")
            _linear(head[3], found, name)
        for name in ("span", "relevance"):
            _linear(getattr(network, name), found, name)


def average_with_packed(network: JudgeNetwork, packed: Path, checkpoint: Path, out: Path, *, share: float) -> None:
    """Write the mean of a checkpoint's weights, which count ``share`` in [0, 1], and those of a ``judge.onnx``, the rest.

    ``network`` is one of the same form; it takes the weights of ``packed``. Of two networks of which one goes on from the other
    the mean is often better than both (Wortsman et al., 2022, "Robust fine-tuning of zero-shot models").
    """
    restore_weights(network, packed)
    old, new = network.state_dict(), torch.load(checkpoint, weights_only=True)["network"]
    mean = {
        name: torch.lerp(old[name], values, share) if values.is_floating_point() else values for name, values in new.items()
    }
    torch.save({"network": mean}, out)


def _fill(parameter: nn.Parameter, values: NDArray[np.float32]) -> None:
    parameter.copy_(torch.tensor(values))


def _linear(layer: nn.Linear, found: Arrays, name: str) -> None:
    _fill(layer.weight, found[f"{name}.w"])
    _fill(layer.bias, found[f"{name}.b"])


def _norm(layer: nn.LayerNorm, found: Arrays, name: str) -> None:
    _fill(layer.weight, found[f"{name}.g"])
    _fill(layer.bias, found[f"{name}.b"])
