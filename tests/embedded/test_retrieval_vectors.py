"""Late interaction on signs: the arithmetic, against numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover_embedded.retrieval import vectors as vectors_module
from rag_cover_embedded.retrieval.encoding import Vectorised
from rag_cover_embedded.retrieval.vectors import MOST_PIECES, WIDTH, Vectors, pack_signs, round_embeddings

Floats = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def random_vectors(seed: int, count: int) -> Floats:
    return np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32)


def vectors_of(passages: list[list[Floats]]) -> Vectors:
    """Store passages given as pieces of token vectors; the embedding of a piece is its tokens' unit mean."""
    pieces = [(number, piece) for number, passage in enumerate(passages) for piece in passage]
    means = np.stack([piece.mean(axis=0) for _, piece in pieces])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    rounded, scales = round_embeddings(means)
    return Vectors(
        owners=np.array([number for number, _ in pieces], dtype=np.int32),
        bounds=np.cumsum([0, *(len(piece) for _, piece in pieces)]),
        signs=pack_signs(np.concatenate([piece for _, piece in pieces])),
        ids=np.concatenate([np.arange(len(piece), dtype=np.uint16) for _, piece in pieces]),
        embeddings=means,
        rounded=rounded,
        scales=scales,
        frequencies=np.ones(100, dtype=np.int32),
    )


def one_hot(place: int) -> Floats:
    return np.eye(1, WIDTH, place, dtype=np.float32)


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

    found = vectors.interacting(asked(query), np.arange(len(passages)))

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
    cosines = vectors.cosines(tokens[3])

    read = vectors._choose_pieces(np.array([0]), tokens[3])

    assert read[0] == 3
    assert read == sorted(range(len(tokens)), key=lambda piece: -cosines[piece])[:MOST_PIECES]


def test_the_nearest_passages_are_those_with_the_nearest_piece() -> None:
    near, middle, far = (one_hot(place) for place in range(3))
    vectors = vectors_of([[far, near], [far], [middle, far, far]])
    query = (0.9 * near + 0.4 * middle + 0.1 * far)[0]

    assert vectors.nearest(query, 3).tolist() == [0, 2, 1]
    assert vectors.nearest(query, 2).tolist() == [0, 2]


@given(st.integers(0, 2**32), st.integers(1, 120), st.booleans())
def test_what_is_rounded_to_bytes_finds_what_all_cosines_find(seed: int, most: int, is_alike: bool) -> None:  # noqa: FBT001
    generator = np.random.default_rng(seed)
    pieces = generator.standard_normal((200, WIDTH)).astype(np.float32)
    pieces = pieces[0] + 0.02 * pieces if is_alike else pieces  # so alike that rounding errors change their order
    cuts = np.unique(generator.integers(1, 200, 80))
    vectors = vectors_of([list(passage[:, None]) for passage in np.split(pieces, cuts)])
    query = pieces[7] / np.linalg.norm(pieces[7])
    exact = vectors.nearest(query, most)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors_module, "EXACT", 0)
        found = vectors.nearest(query, most)

    assert np.abs(vectors._rough_cosines(query) - vectors.cosines(query)).max() <= vectors._error
    assert found.tolist() == exact.tolist()


def test_rarity_is_bm25s_inverse_document_frequency() -> None:
    vectors = vectors_of([[random_vectors(number, 1)] for number in range(4)])
    vectors.frequencies[:3] = [0, 1, 4]

    found = vectors.weights(np.array([0, 1, 2], dtype=np.int32))

    rarities = np.log([1 + 4.5 / 0.5, 1 + 3.5 / 1.5, 1 + 0.5 / 4.5])
    assert found.tolist() == pytest.approx((rarities / rarities.sum()).tolist())
