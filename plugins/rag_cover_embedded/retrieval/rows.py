"""Rows that belong together in groups, such as the pieces of a passage: which of them stand where when the groups move.

Pure: numbers in, numbers out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["are_places", "join_ranges", "places_of"]

Whole = NDArray[np.integer]


def join_ranges(starts: Whole, sizes: Whole) -> NDArray[np.intp]:
    """Write ranges one after the other.

    >>> join_ranges(np.array([5, 0, 9]), np.array([2, 3, 0])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()), dtype=np.intp)


def places_of(order: Whole, count: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return where each of ``count`` groups went: all places, and per group the first of its own among them and how many.

    >>> places, firsts, sizes = places_of(np.array([2, 0, 2]), 3)
    >>> places.tolist(), firsts.tolist(), sizes.tolist()
    ([1, 0, 2], [0, 1, 1], [1, 0, 2])
    """
    sizes = np.bincount(order, minlength=count)
    return np.argsort(order, kind="stable"), np.cumsum(sizes) - sizes, sizes


def are_places(numbers: Whole, size: int) -> bool:
    """Return whether numbers are in ascending order, none below 0 and all below a size.

    >>> are_places(np.array([0, 0, 2]), 3), are_places(np.array([0, 2, 1]), 3), are_places(np.array([1, 3]), 3)
    (True, False, False)
    """
    if not len(numbers):
        return True
    return bool(numbers[0] >= 0 and numbers[-1] < size and np.all(numbers[1:] >= numbers[:-1]))
