"""Vectors of a framework's embedding model, normalised as `rag_cover.backends.Embedder` requires."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import ModelFailedError

__all__ = ["unit_vectors"]

_MATRIX = 2


def unit_vectors(
    texts: Sequence[str], embed: Callable[[list[str]], Sequence[Sequence[float]]], *, name: str
) -> NDArray[np.float32]:
    """Return (n, d) vectors of unit length; a blank text is embedded as a space.

    Args:
        texts: what is embedded.
        embed: the framework's model.
        name: what failures call it.

    Raises:
        ModelFailedError: the model failed, or gave no vector for a text, or one that has no direction.
    """
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    try:
        given = embed([text if text.strip() else " " for text in texts])
        vectors = np.array(given, dtype=np.float64)
    except Exception as broken:  # the plugin boundary
        message = f"the embedding model {name!r} failed: {broken}"
        raise ModelFailedError(message, kind=type(broken).__name__) from broken
    if vectors.ndim != _MATRIX or len(vectors) != len(texts):
        message = f"the embedding model {name!r} gave numbers of the shape {vectors.shape} for {len(texts)} texts, "
        message += "not a vector each"
        raise ModelFailedError(message, kind="malformed")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    for place in np.flatnonzero(~((lengths > 0) & (lengths < np.inf)))[:1]:
        message = f"the embedding model {name!r} gave no direction (zeros or NaN) for {texts[place][:80]!r}"
        raise ModelFailedError(message, kind="malformed")
    unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return unit
