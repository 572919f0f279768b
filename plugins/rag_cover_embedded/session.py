"""The judge's network, run by onnxruntime: encodings in, one array per encoding out, batched by length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import CorruptFileError
from rag_cover.forks import reset_after_fork
from rag_cover.processors import usable_processors
from rag_cover_embedded.features import FEATURES
from rag_cover_embedded.inputs import PAD, Encoded, Task
from rag_cover_embedded.runtime import onnxruntime

__all__ = ["Network", "RoutedNetwork", "Session", "feed", "group_by_length", "take_rows"]

Floats = NDArray[np.float32]

BATCH_TOKENS = 256  # small enough for the caches of one core, beside the weights of a layer
_PER_TOKEN = frozenset({"tokens", "span", "relevance"})
_OF_REPLIES = frozenset({int(Task.REPLIES), int(Task.CORRECT)})
_OF_TOKENS = _PER_TOKEN | {"embedding"}
"""Outputs made of vectors of all tokens."""


class Network(Protocol):
    """What runs the judge's network."""

    def run(self, encoded: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[Floats, ...]]:
        """Return, for each encoding, the named outputs; those per token have the encoding's own length."""


class Session:
    """A thread-safe runner of one ONNX file. Each thread runs batches of its own, so that none waits for another."""

    def __init__(self, path: Path, *, threads: int | None = None, batch_tokens: int = BATCH_TOKENS) -> None:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the runtime's own errors have no common class; re-raised with what to do
            message = f"{path} cannot be run by onnxruntime {onnxruntime.__version__}: {error}. Reinstall rag-cover."
            raise CorruptFileError(message) from error
        if "least" not in {each.name for each in self._session.get_inputs()}:
            message = f"{path} was packed by another version of rag_cover. Reinstall rag-cover, or train these weights anew."
            raise CorruptFileError(message)
        self._threads = threads or usable_processors()
        self._batch_tokens = batch_tokens
        self._start_workers()
        reset_after_fork(self._start_workers)

    def _start_workers(self) -> None:
        """Start the threads; those of a parent process are not there after a fork."""
        self._workers = ThreadPoolExecutor(self._threads, thread_name_prefix="rag-cover-judge")

    def run(self, encoded: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[Floats, ...]]:
        """Return, for each encoding, the named outputs; those per token have the encoding's own length.

        What is made of vectors of all tokens is empty for an encoding whose logit stays below its ``least``.
        """
        results: list[tuple[Floats, ...]] = [()] * len(encoded)
        batches = self._batches(encoded)
        feeds = ([encoded[row] for row in rows] for rows in batches)
        for rows, found in zip(batches, self._workers.map(partial(self._run, outputs), feeds), strict=True):
            for row, arrays in zip(rows, found, strict=True):
                results[row] = arrays
        return results

    def _run(self, outputs: Sequence[str], batch: Sequence[Encoded]) -> list[tuple[Floats, ...]]:
        asks_tokens = not _OF_TOKENS.isdisjoint(outputs)
        whole, *arrays = self._session.run(["whole", *outputs], feed(batch, asks_tokens=asks_tokens))
        found = dict(zip(outputs, arrays, strict=True))
        return take_rows(batch, outputs, found, {int(row): place for place, row in enumerate(whole)})

    def _batches(self, encoded: Sequence[Encoded]) -> list[list[int]]:
        """Group row numbers so that every thread has its share."""
        share = -(-sum(map(len, encoded)) // self._threads)
        return group_by_length(encoded, min(self._batch_tokens, share))


class RoutedNetwork:
    """Reads replies, and answers against references, by a network of their own, opened when one is first met; thread-safe."""

    def __init__(self, others: Network, open_replies: Callable[[], Network]) -> None:
        self._others, self._open_replies = others, open_replies

    @cached_property
    def _replies(self) -> Network:
        return self._open_replies()

    def run(self, encoded: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[Floats, ...]]:
        """Return, for each encoding, the named outputs; those per token have the encoding's own length."""
        results: list[tuple[Floats, ...]] = [()] * len(encoded)
        of_replies = [row for row, each in enumerate(encoded) if each.ids[0] in _OF_REPLIES]
        others = [row for row, each in enumerate(encoded) if each.ids[0] not in _OF_REPLIES]
        if others:
            self._fill(results, others, self._others.run([encoded[row] for row in others], outputs))
        if of_replies:
            self._fill(results, of_replies, self._replies.run([encoded[row] for row in of_replies], outputs))
        return results

    @staticmethod
    def _fill(results: list[tuple[Floats, ...]], rows: Sequence[int], found: Sequence[tuple[Floats, ...]]) -> None:
        for row, arrays in zip(rows, found, strict=True):
            results[row] = arrays


def group_by_length(encoded: Sequence[Encoded], most: int) -> list[list[int]]:
    """Group row numbers by length, longest first, so that little is padding; a group has ``most`` tokens, or one row."""
    order = sorted(range(len(encoded)), key=lambda row: len(encoded[row]), reverse=True)
    batches, start = [], 0
    while start < len(order):
        size = max(1, most // len(encoded[order[start]]))
        batches.append(order[start : start + size])
        start += size
    return batches


def take_rows(
    batch: Sequence[Encoded], outputs: Sequence[str], found: Mapping[str, Floats], places: Mapping[int, int]
) -> list[tuple[Floats, ...]]:
    """Give each text of a batch its own of every output; ``places`` tell where a text's token vectors are, if it has any."""
    return [
        tuple(
            _own(found[name], places.get(row), len(each) if name in _PER_TOKEN else None)
            if name in _OF_TOKENS
            else found[name][row]
            for name in outputs
        )
        for row, each in enumerate(batch)
    ]


def _own(array: Floats, place: int | None, length: int | None) -> Floats:
    """Cut out what one text has of an output, none of it where the text was left out."""
    return array[:0, 0] if place is None else array[place, :length]


def feed(batch: Sequence[Encoded], *, asks_tokens: bool = True) -> dict[str, NDArray[Any]]:
    """Stack encodings as the network takes them: (batch, length) arrays, (batch, features), and the (batch,) least logits.

    Without ``asks_tokens`` no logit is high enough for vectors of all tokens.
    """
    width = max(map(len, batch))
    ids = np.full((len(batch), width), PAD, dtype=np.int64)
    segments = np.zeros((len(batch), width), dtype=np.int64)
    mask = np.zeros((len(batch), width), dtype=np.int32)
    features = np.zeros((len(batch), len(FEATURES)), dtype=np.float32)
    for row, encoded in enumerate(batch):
        ids[row, : len(encoded)], segments[row, : len(encoded)], mask[row, : len(encoded)] = encoded.ids, encoded.segments, 1
        features[row, : len(encoded.features)] = encoded.features
    least = np.array([encoded.least if asks_tokens else np.inf for encoded in batch], dtype=np.float32)
    return {"ids": ids, "segments": segments, "mask": mask, "features": features, "least": least}
