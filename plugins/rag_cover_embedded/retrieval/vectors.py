"""Passages found by what their tokens mean: late interaction (Khattab & Zaharia, SIGIR 2020, §3.3) on one bit a dimension.

    score(q, p) = Σ_i w_i · max_j  q_i · s_j / √384          i over the query's tokens, j over the passage's

where q_i are unit vectors, s_j the signs of the passage's token vectors and w_i the query's tokens' inverse document
frequencies, divided by their sum. Tokens without a letter or digit are left out on both sides.

Of many pieces the nearest to a query are found in two steps. All of them are compared by embeddings rounded to bytes,
e ≈ s · b with s = max |e| / 127, whose cosines are wrong by at most s · √384 / 2; what may be among the nearest by that bound
is compared by the embeddings themselves. So the second step's order is that of all exact cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import NDArray

from rag_cover_embedded.retrieval.encoding import Vectorised
from rag_cover_embedded.retrieval.fusion import Places, rank_scores
from rag_cover_embedded.retrieval.integers import BASE, IntegerProducts, split_digits
from rag_cover_embedded.retrieval.rows import are_places
from rag_cover_embedded.retrieval.workers import shared_workers

__all__ = ["WIDTH", "Vectors", "pack_signs", "round_embeddings"]

Floats = NDArray[np.float32]

WIDTH = 384
MOST_PIECES = 4
EXACT = 8_192
"""Pieces up to which all cosines are computed exactly: that takes less time than packing what is rounded."""
_BLOCK = 16  # pieces whose bits, and what they are multiplied with, fit the caches of a core
_DIGITS = 2  # of each of a query's numbers: 14 bits, where those of a passage have one
_SLACK = 1e-4  # more than what two digits of a query, and sums in single precision, add to the error


def pack_signs(tokens: Floats) -> NDArray[np.uint8]:
    """Keep the signs of (tokens, 384) vectors, as (tokens, 48) bytes; 0 counts as positive."""
    return np.packbits(tokens >= 0, axis=1)


def round_embeddings(embeddings: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Round (pieces, 384) embeddings to (384, pieces) bytes and the (pieces,) scales that they are to be multiplied by."""
    scales = np.maximum(np.abs(embeddings).max(axis=1, initial=0), np.float32(1e-12)) / np.float32(127)
    return np.rint(embeddings / scales[:, None]).astype(np.int8).T, scales


@dataclass(frozen=True)
class Vectors:
    """The vectors of a corpus, in pieces (`Piece`) that stand in the order of their passages.

    ``owners`` are each piece's passage, (pieces,); ``bounds`` where pieces begin and end in ``signs``, (pieces + 1,); ``signs``
    the packed tokens, (tokens, 48), and ``ids`` their token ids, (tokens,); ``embeddings`` are (pieces, 384), ``rounded`` the
    same in bytes, (384, pieces), by ``scales``, (pieces,); ``frequencies`` tell how many pieces hold each token of the
    vocabulary.
    """

    owners: NDArray[np.int32]
    bounds: NDArray[np.int64]
    signs: NDArray[np.uint8]
    ids: NDArray[np.uint16]
    embeddings: Floats
    rounded: NDArray[np.int8]
    scales: Floats
    frequencies: NDArray[np.int32]

    def fit(self, passages: int) -> bool:
        """Return whether the arrays fit together and a corpus of so many passages: their sizes, and the places they name."""
        pieces = len(self.owners)
        return (
            self.bounds.shape == (pieces + 1,)
            and self.embeddings.shape == (pieces, WIDTH)
            and self.rounded.shape == (WIDTH, pieces)
            and self.scales.shape == (pieces,)
            and self.signs.shape == (len(self.ids), WIDTH // 8)
            and self.ids.ndim == self.frequencies.ndim == 1
            and are_places(self.bounds, len(self.ids) + 1)
            and self.bounds[-1] == len(self.ids)
            and are_places(self.owners, passages)
            and int(self.ids.max(initial=0)) < len(self.frequencies)
        )

    def cosines(self, embedding: Floats) -> Floats:
        """Return (pieces,) cosines with a unit vector."""
        return _dot(self.embeddings, embedding)

    def nearest(self, embedding: Floats, most: int) -> Places:
        """Return the passages whose best piece has the highest cosine with a unit vector, best first."""
        if len(self.owners) <= EXACT:
            return self._first(np.arange(len(self.owners)), self.cosines(embedding), most)
        rough = self._rough_cosines(embedding)
        near = np.flatnonzero(rough >= self._least_of_best(rough, most) - 2 * self._error)
        return self._first(near, _dot(self.embeddings[near], embedding), most)

    def interacting(self, query: Vectorised, passages: Places) -> Places:
        """Rank passages, given in ascending order, by late interaction with a query; those without a piece are left out.

        Of a passage with more than four pieces the four with the highest cosines are read; the best piece speaks.
        """
        chosen = self._choose_pieces(passages, query.embedding)
        if not chosen:
            return np.zeros(0, dtype=np.intp)
        weights = self.weights(query.ids)
        unit = query.tokens / np.maximum(np.linalg.norm(query.tokens, axis=1, keepdims=True), 1e-12)
        scores = (self._similar(unit, chosen) @ weights).astype(np.float32)
        owners = self.owners[chosen]
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        return owners[firsts[rank_scores(np.maximum.reduceat(scores, firsts), len(firsts))]].astype(np.intp)

    def weights(self, ids: NDArray[np.int32]) -> Floats:
        """Weigh tokens by how rare they are: BM25's inverse document frequency, divided by the sum."""
        held = self.frequencies[ids]
        rarity = np.log1p((len(self.owners) - held + 0.5) / (held + 0.5))
        return np.asarray(rarity / rarity.sum(), dtype=np.float32)

    def _first(self, pieces: Places, cosines: Floats, most: int) -> Places:
        """Return the passages whose best of some pieces, in ascending order, has the highest cosine."""
        if not len(pieces):
            return np.zeros(0, dtype=np.intp)
        owners = self.owners[pieces]
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        best = np.maximum.reduceat(cosines, firsts)
        return owners[firsts[rank_scores(best, most)]].astype(np.intp)

    def _rough_cosines(self, embedding: Floats) -> Floats:
        """Return (pieces,) cosines of rounded embeddings."""
        digits, steps = split_digits(embedding[None], _DIGITS)
        step = np.float32(steps[0])

        def multiply(share: tuple[IntegerProducts, Floats]) -> Floats:
            packed, scales = share
            return np.asarray(np.multiply(_join_digits(packed.with_packed(digits[:, 0])), scales * step, dtype=np.float32))

        return np.concatenate(shared_workers().map(multiply, self._packed))

    def _least_of_best(self, cosines: Floats, most: int) -> np.float32:
        """Return a cosine that at least ``most`` passages reach, and few more (or all, where there are no more)."""
        pieces = min(most, len(cosines))
        while True:
            least = np.partition(cosines, len(cosines) - pieces)[len(cosines) - pieces]
            if pieces == len(cosines) or len(np.unique(self.owners[cosines >= least])) >= most:
                return np.float32(least)
            pieces = min(2 * pieces, len(cosines))

    @cached_property
    def _packed(self) -> Sequence[tuple[IntegerProducts, Floats]]:
        """Return the rounded embeddings and their scales, in a share for each thread."""
        count = shared_workers().count
        rounded, scales = np.array_split(self.rounded, count, axis=1), np.array_split(self.scales, count)
        return [(IntegerProducts(share), scale) for share, scale in zip(rounded, scales, strict=True)]

    @cached_property
    def _error(self) -> np.float32:
        """Return by how much a rough cosine may be wrong."""
        return np.float32(self.scales.max() * WIDTH**0.5 / 2 + _SLACK)

    def _choose_pieces(self, passages: Places, embedding: Floats) -> list[int]:
        """Return the pieces to read of each passage, one passage's after the other's."""
        chosen: list[int] = []
        starts, stops = np.searchsorted(self.owners, [passages, passages + 1]).tolist()
        for start, stop in zip(starts, stops, strict=True):
            if stop - start <= MOST_PIECES:
                chosen += range(start, stop)
            else:
                chosen += (start + rank_scores(_dot(self.embeddings[start:stop], embedding), MOST_PIECES)).tolist()
        return chosen

    def _similar(self, query: Floats, pieces: Sequence[int]) -> NDArray[np.float64]:
        """Return (pieces, query tokens): each query token's likeness to the token most like it.

        Σ_d q_d · s_d = 2 · Σ_{d: s_d > 0} q_d - Σ_d q_d, in whole numbers up to the last step.
        """
        digits, steps = split_digits(query, _DIGITS)
        columns = np.ascontiguousarray(digits.reshape(-1, WIDTH).T)
        blocks = (pieces[start : start + _BLOCK] for start in range(0, len(pieces), _BLOCK))
        best = np.concatenate(shared_workers().map(partial(self._best, columns), blocks))
        whole = _join_digits(digits.sum(axis=2, dtype=np.int32))
        return np.asarray((2 * best.astype(np.float64) - whole) * steps / WIDTH**0.5)

    def _best(self, columns: NDArray[np.int8], pieces: Sequence[int]) -> NDArray[np.int32]:
        """Return (pieces, query tokens): the highest sum of a query token's numbers where a token's signs are positive."""
        parts = [self.signs[self.bounds[piece] : self.bounds[piece + 1]] for piece in pieces]
        positive = np.unpackbits(np.concatenate(parts), axis=1)
        sums = _join_digits(_products().multiply(positive, columns).reshape(len(positive), _DIGITS, -1).swapaxes(0, 1))
        return np.maximum.reduceat(sums, np.cumsum([0, *map(len, parts[:-1])]), axis=0)


def _dot(rows: Floats, vector: Floats) -> Floats:
    """Multiply rows by a vector, each by itself: the same for equal rows, and without BLAS's threads."""
    return np.asarray(np.vecdot(rows, vector), dtype=np.float32)


def _join_digits(digits: NDArray[np.int32]) -> NDArray[np.int32]:
    """Add up digits, highest first: 384 numbers of two digits stay below 2^31."""
    total = digits[0]
    for digit in digits[1:]:
        total = np.add(total * np.int32(BASE), digit, dtype=np.int32)
    return np.asarray(total, dtype=np.int32)


@cache
def _products() -> IntegerProducts:
    """Return what multiplies bits by digits, the same for all indexes."""
    return IntegerProducts()
