"""Rows grouped into batches of about as many tokens each, and run through a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rag_cover.errors import ModelFailedError
from rag_cover_transformers.devices import Placement
from rag_cover_transformers.encodings import NetworkInput

__all__ = ["Runner", "by_length", "in_halves", "logistic", "pad_rows"]

Floats = NDArray[np.float32]
T = TypeVar("T")

_PADDING_SEEPS = ("convbert", "mobilebert", "nystromformer")
"""Networks in which padding changes the tokens beside it: their rows are batched with rows of their length alone."""


def by_length(lengths: Sequence[int], *, tokens: int) -> list[list[int]]:
    """Group row numbers by length, longest first: at most ``tokens`` in a batch, padding included, and little of that.

    >>> by_length([3, 9, 4, 2], tokens=10)
    [[1], [2, 0], [3]]
    """
    order = sorted(range(len(lengths)), key=lambda row: lengths[row], reverse=True)
    groups: list[list[int]] = []
    start = 0
    while start < len(order):
        size = max(1, tokens // max(1, lengths[order[start]]))
        groups.append(order[start : start + size])
        start += size
    return groups


def in_halves(group: list[int], run: Callable[[list[int]], T]) -> Iterator[tuple[list[int], T]]:
    """Run a group; one that does not fit into a GPU's memory is run in halves.

    Raises:
        ModelFailedError: one row alone does not fit.
    """
    try:
        done = (group, run(group))
    except torch.cuda.OutOfMemoryError as error:
        if len(group) == 1:
            message = "one input alone does not fit into the GPU's memory; lower max_tokens, or take a smaller model"
            raise ModelFailedError(message, kind="out of memory") from error
        done = None
    if done is not None:
        yield done
        return
    torch.cuda.empty_cache()  # only here, where the error no longer holds on to the tensors of the failed run
    for half in (group[: len(group) // 2], group[len(group) // 2 :]):
        yield from in_halves(half, run)


def logistic(logits: Floats) -> Floats:
    """Return the probabilities of logits, without overflow.

    >>> logistic(np.array([-np.inf, 0.0, 200.0], np.float32)).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray((1 + np.tanh(logits / 2)) / 2, dtype=np.float32)


def pad_rows(rows: Sequence[NetworkInput], *, pad: int, device: torch.device) -> dict[str, Tensor]:
    """Stack rows into (rows, tokens) ids, mask and, where the rows have them, segments, padded on the right."""
    width = max(len(row) for row in rows)
    arrays = {"input_ids": np.full((len(rows), width), pad, np.int64), "attention_mask": np.zeros((len(rows), width), np.int64)}
    if rows[0].segments is not None:
        arrays["token_type_ids"] = np.zeros((len(rows), width), np.int64)
    for place, row in enumerate(rows):
        arrays["input_ids"][place, : len(row)] = row.ids
        arrays["attention_mask"][place, : len(row)] = 1
        if row.segments is not None:
            arrays["token_type_ids"][place, : len(row)] = row.segments
    return {name: torch.from_numpy(array).to(device, non_blocking=True) for name, array in arrays.items()}


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs one network over any number of rows; one thread at a time, since a device gains nothing by two."""

    network: Any
    placement: Placement
    pad: int
    lock: Lock

    def run(self, rows: Sequence[NetworkInput], read: Callable[[Any, dict[str, Tensor]], Tensor]) -> list[Floats]:
        """Return, for each row, its row of what ``read`` makes of the network and a batch (as wide as that batch)."""
        lengths = [len(row) for row in rows]
        groups = by_length(lengths, tokens=self.placement.batch_tokens)
        if self.network.config.model_type in _PADDING_SEEPS:
            groups = [list(alike) for group in groups for _, alike in groupby(group, key=lengths.__getitem__)]

        def run_group(group: list[int]) -> Tensor:
            return read(
                self.network, pad_rows([rows[row] for row in group], pad=self.pad, device=self.placement.device)
            ).float()

        with self.lock, torch.inference_mode():
            queued = [done for group in groups for done in in_halves(group, run_group)]
            values = [(group, tensor.cpu().numpy()) for group, tensor in queued]  # once all is queued: a GPU never waits for us
        results: list[Floats] = [np.zeros(0, np.float32)] * len(rows)
        for group, array in values:
            for place, row in enumerate(group):
                results[row] = array[place]
        return results
