"""Passages found by what their tokens mean: late interaction (Khattab & Zaharia, SIGIR 2020, §3.3) on one bit a dimension.

    score(q, p) = Σ_i w_i · max_j  q_i · s_j / √384          i over the query's tokens, j over the passage's

where q_i are unit vectors, s_j the signs of the passage's token vectors and w_i the query's tokens' inverse document
frequencies, divided by their sum. Tokens without a letter or digit are left out on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_cover_embedded.products import multiply_transposed
from rag_cover_embedded.retrieval.encoding import Vectorised
from rag_cover_embedded.retrieval.fusion import Places, rank_scores

__all__ = ["WIDTH", "Vectors", "pack_signs"]

Floats = NDArray[np.float32]

WIDTH = 384
MOST_PIECES = 4
_BLOCK = 32  # pieces whose vectors fit the caches of a core
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32)
"""The bits of every byte, (256, 8): looked up in less time than bits are unpacked and made numbers."""


def pack_signs(tokens: Floats) -> NDArray[np.uint8]:
    """Keep the signs of (tokens, 384) vectors, as (tokens, 48) bytes; 0 counts as positive."""
    return np.packbits(tokens >= 0, axis=1)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of a corpus, in pieces (`Piece`) that stand in the order of their passages.

    ``owners`` are each piece's passage, (pieces,); ``bounds`` where pieces begin and end in ``signs``, (pieces + 1,); ``signs``
    the packed tokens, (tokens, 48); ``embeddings`` are (pieces, 384); ``frequencies`` tell how many pieces hold each token of
    the vocabulary.
    """

    owners: NDArray[np.int32]
    bounds: NDArray[np.int64]
    signs: NDArray[np.uint8]
    embeddings: Floats
    frequencies: NDArray[np.int32]

    @property
    def consistent(self) -> bool:
        """Return whether the sizes of the arrays fit together."""
        pieces = len(self.owners)
        return (
            len(self.bounds) == pieces + 1 and self.embeddings.shape == (pieces, WIDTH) and self.bounds[-1] == len(self.signs)
        )

    def cosines(self, embedding: Floats) -> Floats:
        """Return (pieces,) cosines with a unit vector."""
        found: Floats = self.embeddings @ embedding
        return found

    def nearest(self, cosines: Floats, most: int) -> Places:
        """Return the passages whose best piece has the highest cosine, best first."""
        if not len(cosines):
            return np.zeros(0, dtype=np.intp)
        firsts = np.flatnonzero(np.diff(self.owners, prepend=-1))
        best = np.maximum.reduceat(cosines, firsts)
        return self.owners[firsts[rank_scores(best, most)]].astype(np.intp)

    def interacting(self, query: Vectorised, cosines: Floats, passages: Places) -> Places:
        """Rank passages, given in ascending order, by late interaction with a query; those without a piece are left out.

        Of a passage with more than four pieces the four with the highest cosines are read; the best piece speaks.
        """
        chosen = self._read_of(passages, cosines)
        if not chosen:
            return np.zeros(0, dtype=np.intp)
        weights = self.weights(query.ids)
        unit = query.tokens / np.maximum(np.linalg.norm(query.tokens, axis=1, keepdims=True), 1e-12)
        blocks = (chosen[start : start + _BLOCK] for start in range(0, len(chosen), _BLOCK))
        scores = np.concatenate([self._similar(unit, block) @ weights for block in blocks])
        owners = self.owners[chosen]
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        return owners[firsts[rank_scores(np.maximum.reduceat(scores, firsts), len(firsts))]].astype(np.intp)

    def weights(self, ids: NDArray[np.int32]) -> Floats:
        """Weigh tokens by how rare they are: BM25's inverse document frequency, divided by the sum."""
        held = self.frequencies[ids]
        rarity = np.log1p((len(self.owners) - held + 0.5) / (held + 0.5))
        return np.asarray(rarity / rarity.sum(), dtype=np.float32)

    def _read_of(self, passages: Places, cosines: Floats) -> list[int]:
        """Return the pieces to read of each passage, one passage's after the other's."""
        chosen: list[int] = []
        starts, stops = np.searchsorted(self.owners, [passages, passages + 1]).tolist()
        for start, stop in zip(starts, stops, strict=True):
            few = stop - start <= MOST_PIECES
            chosen += range(start, stop) if few else (start + rank_scores(cosines[start:stop], MOST_PIECES)).tolist()
        return chosen

    def _similar(self, query: Floats, pieces: Sequence[int]) -> Floats:
        """Return (pieces, query tokens): each query token's likeness to the token most like it."""
        parts = [self.signs[self.bounds[piece] : self.bounds[piece + 1]] for piece in pieces]
        positive = np.take(_BITS, np.concatenate(parts), axis=0).reshape(-1, WIDTH)
        starts = np.cumsum([0, *map(len, parts[:-1])])
        best = np.maximum.reduceat(multiply_transposed(positive, query), starts, axis=0)
        similar: Floats = (2 * best - query.sum(axis=1)) / np.float32(WIDTH**0.5)
        return similar
