"""The judge's network, run by torch: the same weights as `Session` runs in bytes, in floats, on a GPU.

The packed weights are read from ``judge.onnx`` and multiplied in fp32; rows of activations are not rounded to bytes, so that
probabilities differ a little from those of the CPU (`benchmarks/judge/torch_device.py`). Needs the extra ``gpu``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from rag_cover.errors import InvalidValueError
from rag_cover_embedded.inputs import Encoded
from rag_cover_embedded.packed_weights import read_weights
from rag_cover_embedded.session import feed, group_by_length, take_rows

__all__ = ["TorchSession"]

Floats = NDArray[np.float32]

HEADS = 12
EPSILON = 1e-12
BATCH_TOKENS = 32_768
"""Tokens of a batch on a GPU, padding included; a CPU takes an eighth."""


class TorchSession:
    """A thread-safe runner of the weights in one ONNX file on a device of torch; one batch runs at a time."""

    def __init__(self, path: Path, device: str = "cpu") -> None:
        self._device = _device_of(device)
        self._weights = {name: torch.from_numpy(values).to(self._device) for name, values in read_weights(path).items()}
        self._layers = len({name.partition(".")[0] for name in self._weights if name.startswith("layer")})
        self._batch_tokens = BATCH_TOKENS // (8 if self._device.type == "cpu" else 1)
        self._one_at_a_time = Lock()

    def run(self, encoded: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[Floats, ...]]:
        """Return, for each encoding, the named outputs, as `Session.run` does."""
        results: list[tuple[Floats, ...]] = [()] * len(encoded)
        for rows in group_by_length(encoded, self._batch_tokens):
            for row, found in zip(rows, self._run([encoded[row] for row in rows], outputs), strict=True):
                results[row] = found
        return results

    def _run(self, batch: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[Floats, ...]]:
        fed = feed(batch)
        given = {name: torch.from_numpy(values).to(self._device) for name, values in fed.items()}
        with self._one_at_a_time, torch.inference_mode():
            tokens = self._encode(given["ids"], given["segments"], given["mask"].bool())
            logits = torch.maximum(self._head(tokens[:, 0], "answers"), self._head(tokens[:, 0], "replies"))[:, 0]
            whole = (logits >= given["least"]).nonzero()[:, 0].tolist()
            found = {name: self._output(name, tokens, given).cpu().numpy() for name in outputs}
        return take_rows(batch, outputs, found, {row: row for row in whole})

    def _output(self, name: str, tokens: Tensor, given: Mapping[str, Tensor]) -> Tensor:
        """Compute an output of token vectors: of each pair (batch, …), or of each token (batch, tokens, …)."""
        match name:
            case "tokens":
                return tokens
            case "span" | "relevance":
                return self._linear(tokens, name)
            case "embedding":
                return functional.normalize((tokens * given["mask"][..., None]).sum(dim=1), dim=-1)
            case "correct":
                return self._head(torch.cat([tokens[:, 0], given["features"]], dim=1), name)
            case _:
                return self._head(tokens[:, 0], name)

    def _encode(self, ids: Tensor, segments: Tensor, real: Tensor) -> Tensor:
        """Encode (batch, tokens) into (batch, tokens, 384)."""
        known, length = self._weights, ids.shape[1]
        hidden = known["words"][ids] + known["kinds.w"][segments] + known["places.w"][:length, 0]
        hidden = self._norm(hidden, "embedded.norm")
        for number in range(self._layers):
            name = f"layer{number}"
            asked, keys, values = (self._by_head(hidden, f"{name}.{part}") for part in ("query", "key", "value"))
            attended = functional.scaled_dot_product_attention(asked, keys, values, attn_mask=real[:, None, None])
            mixed = self._linear(attended.transpose(1, 2).flatten(2), f"{name}.mixed")
            hidden = self._norm(mixed + hidden, f"{name}.norm1")
            wide = functional.gelu(self._linear(hidden, f"{name}.wide"), approximate="tanh")
            hidden = self._norm(self._linear(wide, f"{name}.narrow") + hidden, f"{name}.norm2")
        return hidden

    def _by_head(self, hidden: Tensor, name: str) -> Tensor:
        return self._linear(hidden, name).unflatten(-1, (HEADS, -1)).transpose(1, 2)

    def _head(self, rows: Tensor, name: str) -> Tensor:
        return self._linear(torch.tanh(self._linear(rows, f"{name}.hidden")), name)

    def _linear(self, rows: Tensor, name: str) -> Tensor:
        return functional.linear(rows, self._weights[f"{name}.w"], self._weights.get(f"{name}.b"))

    def _norm(self, rows: Tensor, name: str) -> Tensor:
        scale, shift = self._weights[f"{name}.g"], self._weights[f"{name}.b"]
        return functional.layer_norm(rows, scale.shape, scale, shift, EPSILON)


def _device_of(name: str) -> torch.device:
    """Return a device that torch can use here.

    Raises:
        InvalidValueError: there is no such device.
    """
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (AssertionError, RuntimeError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        message = f"torch has no device {name!r} here: {first}. Give 'cpu', 'cuda', 'cuda:1' or 'mps'"
        raise InvalidValueError(message) from error
    return device
