"""The judge's network, run by onnxruntime: encodings in, one array per encoding out, batched by length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from rag_cover.errors import CorruptFileError
from rag_cover_embedded.inputs import PAD, Encoded
from rag_cover_embedded.likeness import FEATURES

__all__ = ["Session"]

Floats = NDArray[np.float32]

BATCH_TOKENS = 4096
_PER_TOKEN = frozenset({"tokens", "span", "relevance"})


class Session:
    """A thread-safe runner of one ONNX file."""

    def __init__(self, path: Path, *, threads: int | None = None, batch_tokens: int = BATCH_TOKENS) -> None:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if threads:
            options.intra_op_num_threads = threads
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the runtime's own errors have no common class; re-raised with what to do
            message = f"{path} cannot be run by onnxruntime {onnxruntime.__version__}: {error}. Reinstall rag-cover."
            raise CorruptFileError(message) from error
        self._batch_tokens = batch_tokens

    def run(self, encoded: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[Floats, ...]]:
        """Return, for each encoding, the named outputs; those per token have the encoding's own length."""
        results: list[tuple[Floats, ...]] = [()] * len(encoded)
        for rows in self._batches(encoded):
            arrays = self._session.run(list(outputs), _feed([encoded[row] for row in rows]))
            for place, row in enumerate(rows):
                results[row] = tuple(
                    array[place, : len(encoded[row])] if name in _PER_TOKEN else array[place]
                    for name, array in zip(outputs, arrays, strict=True)
                )
        return results

    def _batches(self, encoded: Sequence[Encoded]) -> Iterator[list[int]]:
        """Group row numbers by length, longest first, so that little is padding and memory peaks at once."""
        order = sorted(range(len(encoded)), key=lambda row: len(encoded[row]), reverse=True)
        start = 0
        while start < len(order):
            size = max(1, self._batch_tokens // len(encoded[order[start]]))
            yield order[start : start + size]
            start += size


def _feed(batch: Sequence[Encoded]) -> dict[str, NDArray[Any]]:
    width = max(map(len, batch))
    ids = np.full((len(batch), width), PAD, dtype=np.int64)
    segments = np.zeros((len(batch), width), dtype=np.int64)
    mask = np.zeros((len(batch), width), dtype=np.int32)
    features = np.zeros((len(batch), len(FEATURES)), dtype=np.float32)
    for row, encoded in enumerate(batch):
        ids[row, : len(encoded)], segments[row, : len(encoded)], mask[row, : len(encoded)] = encoded.ids, encoded.segments, 1
        features[row, : len(encoded.features)] = encoded.features
    return {"ids": ids, "segments": segments, "mask": mask, "features": features}
