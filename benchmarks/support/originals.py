"""The judge's network as it was trained: fp32, run by torch. What the shipped ONNX file is measured against."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from rag_cover_embedded.features import FEATURES
from rag_cover_embedded.inputs import Encoded
from rag_cover_embedded.training.network import JudgeNetwork, mean_pooled
from rag_cover_embedded.training.trainer import pad_batch

Floats = NDArray[np.float32]


class Original:
    """A checkpoint of the training, asked as `rag_cover_embedded.session.Session` is."""

    def __init__(self, checkpoint: Path, *, threads: int | None = None, batch: int = 32) -> None:
        if threads:
            torch.set_num_threads(threads)
        self._network = JudgeNetwork.from_state(torch.load(checkpoint, weights_only=True)["network"]).eval()
        self._batch = batch

    def run(self, encoded: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[Floats, ...]]:
        """Return, for each encoding, the named outputs, in batches of so many texts of similar lengths."""
        results: list[tuple[Floats, ...]] = [()] * len(encoded)
        order = sorted(range(len(encoded)), key=lambda row: len(encoded[row]), reverse=True)
        for start in range(0, len(order), self._batch):
            rows = order[start : start + self._batch]
            for row, arrays in zip(rows, self._batched([encoded[row] for row in rows], outputs), strict=True):
                results[row] = arrays
        return results

    @torch.inference_mode()
    def _batched(self, batch: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[Floats, ...]]:
        ids, mask, segments = pad_batch(batch, torch.device("cpu"))
        vectors = self._network.token_vectors(ids, mask, segments)
        features = torch.zeros(len(batch), len(FEATURES))
        for row, encoded in enumerate(batch):
            features[row, : len(encoded.features)] = torch.tensor(encoded.features)
        lead = vectors[:, 0]
        sources = {"entailment": lead, "answers": lead, "correct": torch.cat([lead, features], dim=-1)}
        sources |= {"span": vectors, "relevance": vectors}
        found = []
        for name in outputs:
            if name == "embedding":
                found.append(mean_pooled(vectors, mask).numpy())
            elif name == "tokens":
                found.append(vectors.numpy())
            else:
                found.append(getattr(self._network, name)(sources[name]).numpy())
        return [
            tuple(array[row, : len(encoded)] if array.ndim > 2 else array[row] for array in found)  # noqa: PLR2004  # (batch, tokens, …)
            for row, encoded in enumerate(batch)
        ]
