"""Questions dealt into folds, so that what is fitted is judged on questions it has not seen (Stone, 1974)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import InvalidValueError

__all__ = ["folds_of"]


def folds_of(groups: Sequence[Hashable], folds: int = 5, *, seed: int = 0) -> Iterator[NDArray[np.bool_]]:
    """Yield (n,) masks, one for each fold: what is held out; each group is held out once, and whole.

    >>> [fold.tolist() for fold in folds_of(["a", "b", "a"], 2)]
    [[True, False, True], [False, True, False]]

    Raises:
        InvalidValueError: fewer than two folds, or fewer groups than folds.
    """
    places: dict[Hashable, int] = {}
    index = np.array([places.setdefault(key, len(places)) for key in groups], dtype=int)
    if folds < 2 or len(places) < folds:  # noqa: PLR2004 - one to fit on, one to judge by
        message = f"{folds} folds need two folds at least and as many groups, not {len(places)}"
        raise InvalidValueError(message)
    dealt = np.random.default_rng(seed).permutation(len(places)) % folds
    for fold in range(folds):
        yield dealt[index] == fold
