"""Products of integers, and real numbers written in digits."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover_embedded.retrieval.integers import BASE, IntegerProducts, PackedProducts, split_digits

shapes = st.tuples(st.integers(1, 5), st.integers(1, 9), st.integers(1, 7), st.integers(0, 2**32))


@given(shapes)
def test_bytes_are_multiplied_exactly(shape: tuple[int, int, int, int]) -> None:
    rows, width, columns, seed = shape
    generator = np.random.default_rng(seed)
    left = generator.integers(0, 256, (rows, width), dtype=np.uint8) // 2
    right = generator.integers(-63, 64, (width, columns), dtype=np.int8)

    found = IntegerProducts().multiply(left, right)

    assert found.tolist() == (left.astype(int) @ right.astype(int)).tolist()


@given(shapes, st.integers(1, 4))
def test_signed_rows_are_multiplied_by_what_was_packed(shape: tuple[int, int, int, int], threads: int) -> None:
    rows, width, columns, seed = shape
    generator = np.random.default_rng(seed)
    left = generator.integers(-63, 64, (rows, width), dtype=np.int8)
    right = generator.integers(-127, 128, (width, columns), dtype=np.int8)

    found = PackedProducts(right, threads=threads).multiply(left)

    assert found.tolist() == (left.astype(int) @ right.astype(int)).tolist()


def test_products_do_not_saturate_where_pairs_are_added_in_sixteen_bits() -> None:
    rows, others = np.full((1, 384), 63, dtype=np.int8), np.full((384, 33), 127, dtype=np.int8)

    assert set(PackedProducts(others).multiply(rows)[0].tolist()) == {384 * 63 * 127}
    assert set(PackedProducts(others).multiply(-rows)[0].tolist()) == {-384 * 63 * 127}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_goes_on_multiplying() -> None:
    rows, products = np.full((1, 8), 2, dtype=np.int8), PackedProducts(np.full((8, 3), 5, dtype=np.int8), threads=2)
    products.multiply(rows)  # the parent's threads have started

    if not (child := os.fork()):
        signal.alarm(60)
        os._exit(0 if products.multiply(rows).tolist() == [[80, 80, 80]] else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("count", [1, 2, 3])
@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=20))
def test_digits_give_the_numbers_back_to_half_a_step(count: int, numbers: list[float]) -> None:
    values = np.array([numbers], dtype=np.float32)

    digits, steps = split_digits(values, count)

    whole = sum(digits[place].astype(np.int64) * BASE ** (count - 1 - place) for place in range(count))
    assert np.abs(digits).max() <= BASE // 2
    assert np.abs(whole * steps[:, None] - values).max() <= steps[0] * 0.51
