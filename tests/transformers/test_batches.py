"""Rows in batches: none is lost, none speaks for its neighbours, and what a GPU cannot hold at once is run in halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import ConvBertConfig, ConvBertModel

from rag_cover.errors import ModelFailedError
from rag_cover_transformers.batches import Runner, by_length, in_halves
from rag_cover_transformers.devices import choose_placement
from rag_cover_transformers.encodings import NetworkInput

ROWS = [NetworkInput(np.arange(1, length)) for length in (5, 9, 3, 12, 9)]


def _full_above(most: int) -> Callable[[list[int]], int]:
    """Run groups of at most so many rows."""

    def run(group: list[int]) -> int:
        if len(group) > most:
            message = "CUDA out of memory"
            raise torch.cuda.OutOfMemoryError(message)
        return sum(group)

    return run


@given(st.lists(st.integers(1, 50), max_size=40), st.integers(1, 200))
def test_every_row_is_in_one_batch_and_no_batch_is_too_large(lengths: Sequence[int], tokens: int) -> None:
    groups = by_length(lengths, tokens=tokens)

    assert sorted(row for group in groups for row in group) == list(range(len(lengths)))
    assert all(len(group) == 1 or len(group) * max(lengths[row] for row in group) <= tokens for group in groups)


@given(st.integers(1, 30), st.integers(1, 30))
def test_what_does_not_fit_is_run_in_halves_and_nothing_twice(rows: int, most: int) -> None:
    done = list(in_halves(list(range(rows)), _full_above(most)))

    assert [row for group, _ in done for row in group] == list(range(rows))
    assert all(result == sum(group) and len(group) <= most for group, result in done)


def test_one_row_that_does_not_fit_is_an_error_that_says_what_to_lower() -> None:
    with pytest.raises(ModelFailedError, match="does not fit into the GPU's memory; lower max_tokens"):
        list(in_halves([0, 1], _full_above(0)))


def test_where_padding_changes_its_neighbours_rows_are_batched_by_length() -> None:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "embedding_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    network = ConvBertModel(ConvBertConfig(vocab_size=20, **sizes)).eval()
    runner = Runner(network, choose_placement("cpu", "auto", 1000), 0, Lock())

    def read(network: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return network(**batch).last_hidden_state[:, 0]

    together = runner.run(ROWS, read)

    for row, found in zip(ROWS, together, strict=True):
        assert np.abs(runner.run([row], read)[0] - found).max() <= 1e-5
