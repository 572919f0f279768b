"""Products in blocks are products."""

import numpy as np
import pytest

from rag_cover_embedded.products import multiply_transposed


@pytest.mark.parametrize(("rows", "others"), [(0, 3), (5, 0), (1, 1), (700, 12), (3, 900)])
def test_a_product_in_blocks_is_the_product(rows: int, others: int) -> None:
    rng = np.random.default_rng(rows + others)
    left = rng.normal(size=(rows, 384)).astype(np.float32)
    right = rng.normal(size=(others, 384)).astype(np.float32)

    found = multiply_transposed(left, right)

    assert found.shape == (rows, others)
    np.testing.assert_allclose(found, left @ right.T, atol=1e-4)
