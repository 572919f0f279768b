"""Matrix products on one thread: BLAS starts threads for products too small to be worth it, which wait for each other.

OpenBLAS multiplies by several threads from about 2^18 multiplications on. The products here are a hundred times larger at
most, and many of them follow each other: in the threads' waiting for their turns, on processors that others use too, most of
the time was spent. So a product is computed in blocks that are each below that size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["multiply_transposed"]

Floats = NDArray[np.float32]

_ONE_THREAD = 1 << 18  # multiplications; OpenBLAS: SMP_THRESHOLD_MIN x GEMM_MULTITHREAD_THRESHOLD


def multiply_transposed(rows: Floats, others: Floats) -> Floats:
    """Return ``rows @ others.T``, (m, n) of (m, width) and (n, width), without threads where ``others`` are few.

    >>> multiply_transposed(np.eye(2, dtype=np.float32), np.array([[1, 2], [3, 4]], dtype=np.float32)).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    found = np.empty((len(rows), len(others)), dtype=np.float32)
    step = max(1, _ONE_THREAD // max(1, others.size))
    for start in range(0, len(rows), step):
        np.matmul(rows[start : start + step], others.T, out=found[start : start + step])
    return found
