"""Late interaction on signs: the arithmetic, against numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover_embedded.retrieval.encoding import Vectorised
from rag_cover_embedded.retrieval.vectors import MOST_PIECES, WIDTH, Vectors, pack_signs

Floats = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def random_vectors(seed: int, count: int) -> Floats:
    return np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32)


def vectors_of(passages: list[list[Floats]]) -> Vectors:
    """Store passages given as pieces of token vectors; the embedding of a piece is its tokens' unit mean."""
    pieces = [(number, piece) for number, passage in enumerate(passages) for piece in passage]
    means = np.stack([piece.mean(axis=0) for _, piece in pieces])
    return Vectors(
        owners=np.array([number for number, _ in pieces], dtype=np.int32),
        bounds=np.cumsum([0, *(len(piece) for _, piece in pieces)]),
        signs=pack_signs(np.concatenate([piece for _, piece in pieces])),
        embeddings=means / np.linalg.norm(means, axis=1, keepdims=True),
        frequencies=np.ones(100, dtype=np.int32),
    )


def asked(tokens: Floats) -> Vectorised:
    mean = tokens.mean(axis=0)
    return Vectorised(np.arange(len(tokens), dtype=np.int32), tokens, mean / np.linalg.norm(mean))


def by_hand(query: Floats, passage: list[Floats]) -> float:
    unit = query / np.linalg.norm(query, axis=1, keepdims=True)
    best = [np.max(unit @ np.where(piece >= 0, 1, -1).T, axis=1) for piece in passage]
    return max(float(likeness.mean()) for likeness in best) / float(WIDTH**0.5)


def test_signs_take_a_bit_a_dimension_and_zero_counts_as_positive() -> None:
    tokens = np.array([[0.0] * 8 + [-1.0] * 8 + [1.0, -1.0] * 184], dtype=np.float32)

    assert pack_signs(tokens).tolist() == [[0b11111111, 0, *[0b10101010] * 46]]


@given(st.integers(0, 2**32), st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=3), min_size=1, max_size=6))
def test_passages_are_ranked_by_the_mean_of_their_best_likenesses(seed: int, shape: list[list[int]]) -> None:
    passages = [
        [random_vectors(seed + 31 * number + place, size) for place, size in enumerate(sizes)]
        for number, sizes in enumerate(shape)
    ]
    query = random_vectors(seed + 7, 3)
    vectors = vectors_of(passages)

    found = vectors.interacting(asked(query), vectors.cosines(asked(query).embedding), np.arange(len(passages)))

    scores = [by_hand(query, passages[place]) for place in found.tolist()]
    assert sorted(found.tolist()) == list(range(len(passages)))
    assert scores == pytest.approx(sorted(scores, reverse=True))


def test_a_token_equal_to_the_querys_is_about_four_fifths_alike() -> None:
    tokens = random_vectors(0, 5)
    vectors = vectors_of([[tokens]])

    similar = vectors._similar(tokens / np.linalg.norm(tokens, axis=1, keepdims=True), [0])

    assert similar.shape == (1, 5)
    assert similar[0].tolist() == pytest.approx([(2 / np.pi) ** 0.5] * 5, abs=0.04)


def test_of_a_long_passage_only_the_nearest_pieces_are_read() -> None:
    tokens = random_vectors(1, MOST_PIECES + 2)
    vectors = vectors_of([[tokens[place : place + 1] for place in range(len(tokens))]])
    cosines = np.array([0.9, 0.1, 0.8, 0.7, 0.0, 0.6], dtype=np.float32)

    assert vectors._read_of(np.array([0]), cosines) == [0, 2, 3, 5]


def test_the_nearest_passages_are_those_with_the_nearest_piece() -> None:
    vectors = vectors_of([[random_vectors(number, 1)] * size for number, size in enumerate([2, 1, 3])])
    cosines = np.array([0.2, 0.5, 0.4, 0.1, 0.5, 0.3], dtype=np.float32)

    assert vectors.nearest(cosines, 2).tolist() == [0, 2]


def test_rarity_is_bm25s_inverse_document_frequency() -> None:
    vectors = vectors_of([[random_vectors(number, 1)] for number in range(4)])
    vectors.frequencies[:3] = [0, 1, 4]

    found = vectors.weights(np.array([0, 1, 2], dtype=np.int32))

    rarities = np.log([1 + 4.5 / 0.5, 1 + 3.5 / 1.5, 1 + 0.5 / 4.5])
    assert found.tolist() == pytest.approx((rarities / rarities.sum()).tolist())
