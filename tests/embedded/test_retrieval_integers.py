"""Products of integers, and real numbers written in digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover_embedded.retrieval.integers import BASE, IntegerProducts, split_digits

shapes = st.tuples(st.integers(1, 5), st.integers(1, 9), st.integers(1, 7), st.integers(0, 2**32))


@given(shapes)
def test_bytes_are_multiplied_exactly(shape: tuple[int, int, int, int]) -> None:
    rows, width, columns, seed = shape
    generator = np.random.default_rng(seed)
    left = generator.integers(0, 256, (rows, width), dtype=np.uint8) // 2
    right = generator.integers(-63, 64, (width, columns), dtype=np.int8)

    found = IntegerProducts().multiply(left, right)

    assert found.tolist() == (left.astype(int) @ right.astype(int)).tolist()


@given(shapes)
def test_signed_rows_are_multiplied_by_what_was_packed(shape: tuple[int, int, int, int]) -> None:
    rows, width, columns, seed = shape
    generator = np.random.default_rng(seed)
    left = generator.integers(-63, 64, (rows, width), dtype=np.int8)
    right = generator.integers(-127, 128, (width, columns), dtype=np.int8)

    found = IntegerProducts(right).with_packed(left)

    assert found.tolist() == (left.astype(int) @ right.astype(int)).tolist()


def test_products_do_not_saturate_where_pairs_are_added_in_sixteen_bits() -> None:
    rows, others = np.full((1, 384), 63, dtype=np.int8), np.full((384, 33), 127, dtype=np.int8)

    assert set(IntegerProducts(others).with_packed(rows)[0].tolist()) == {384 * 63 * 127}
    assert set(IntegerProducts(others).with_packed(-rows)[0].tolist()) == {-384 * 63 * 127}


@pytest.mark.parametrize("count", [1, 2, 3])
@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=20))
def test_digits_give_the_numbers_back_to_half_a_step(count: int, numbers: list[float]) -> None:
    values = np.array([numbers], dtype=np.float32)

    digits, steps = split_digits(values, count)

    whole = sum(digits[place].astype(np.int64) * BASE ** (count - 1 - place) for place in range(count))
    assert np.abs(digits).max() <= BASE // 2
    assert np.abs(whole * steps[:, None] - values).max() <= steps[0] * 0.51
