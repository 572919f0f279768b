"""The vectors of passages, written where they are to stay: encoded, or taken from where they stood before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rag_cover.questions import Passage
from rag_cover_embedded.retrieval.encoding import Encoder, Vectorised
from rag_cover_embedded.retrieval.rows import join_ranges
from rag_cover_embedded.retrieval.vectors import WIDTH, Vectors, pack_signs, round_embeddings

__all__ = ["Allocate", "allocate_memory", "encode_passages", "rearrange_vectors"]

SLAB = 256
CHUNK = 4_096  # pieces that are copied at once
QUIET = 2_000  # passages that are indexed without a progress bar


class Allocate(Protocol):
    """Makes an array to write into: of memory, or of a file."""

    def __call__(self, name: str, shape: tuple[int, ...], kind: DTypeLike, /) -> NDArray[Any]:
        """Make an array of a name, shape and kind."""
        ...


def allocate_memory(_name: str, shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """Make an array in memory."""
    return np.empty(shape, kind)


def encode_passages(passages: Sequence[Passage], encoder: Encoder, allocate: Allocate) -> Vectors:
    """Encode passages into arrays whose sizes are known before the first is encoded, since tokens are counted first."""
    slabs = range(0, len(passages), SLAB)
    pieces = [piece for start in slabs for piece in encoder.pieces(passages[start : start + SLAB], start)]
    sizes = np.array([int(encoder.telling(piece.ids).sum()) for piece in pieces], dtype=np.int64)
    owners = np.array([piece.passage for piece in pieces], dtype=np.int32)
    made = _allocate(owners, sizes, encoder.vocabulary, allocate)
    made.frequencies[:] = 0
    for start in _show_progress(range(0, len(pieces), SLAB), loud=len(passages) > QUIET):
        _fill(made, start, encoder.read([piece.ids for piece in pieces[start : start + SLAB]]))
    return made


def rearrange_vectors(
    old: Vectors, added: Vectors, sizes: tuple[int, int], order: NDArray[np.intp], allocate: Allocate
) -> Vectors:
    """Copy the vectors of passages of two corpora of the given sizes: ``order`` names them, the second's after the first's."""
    starts, counts = _pieces_of(old, added, sizes)
    pieces = join_ranges(starts[order], counts[order])
    lengths = np.concatenate([np.diff(old.bounds), np.diff(added.bounds)])[pieces]
    owners = np.repeat(np.arange(len(order), dtype=np.int32), counts[order])
    made = _allocate(owners, lengths, len(old.frequencies), allocate)
    changes = np.repeat(np.bincount(order, minlength=len(counts)) - 1, counts)  # by how much more often a piece stands there
    made.frequencies[:] = sum(
        part.frequencies + _count_tokens(part, change)
        for part, change in ((old, changes[: len(old.owners)]), (added, changes[len(old.owners) :]))
    )
    for start in range(0, len(pieces), CHUNK):
        chunk = pieces[start : start + CHUNK]
        is_old = chunk < len(old.owners)
        _copy(old, chunk[is_old], made, start + np.flatnonzero(is_old))
        _copy(added, chunk[~is_old] - len(old.owners), made, start + np.flatnonzero(~is_old))
    return made


def _allocate(owners: NDArray[np.int32], sizes: NDArray[np.int64], vocabulary: int, allocate: Allocate) -> Vectors:
    """Make room for pieces of the given passages and numbers of tokens; owners and bounds are filled in."""
    pieces, tokens = len(owners), int(sizes.sum())
    made = Vectors(
        owners=allocate("owners", (pieces,), np.int32),
        bounds=allocate("bounds", (pieces + 1,), np.int64),
        signs=allocate("signs", (tokens, WIDTH // 8), np.uint8),
        ids=allocate("ids", (tokens,), np.min_scalar_type(vocabulary)),
        embeddings=allocate("embeddings", (pieces, WIDTH), np.float32),
        rounded=allocate("rounded", (WIDTH, pieces), np.int8),
        scales=allocate("scales", (pieces,), np.float32),
        frequencies=allocate("frequencies", (vocabulary,), np.int32),
    )
    made.owners[:] = owners
    made.bounds[0] = 0
    np.cumsum(sizes, out=made.bounds[1:])
    return made


def _fill(vectors: Vectors, start: int, read: Sequence[Vectorised]) -> None:
    """Write what was read of the pieces from ``start`` on."""
    stop = start + len(read)
    embeddings = np.stack([each.embedding for each in read])
    vectors.embeddings[start:stop] = embeddings
    vectors.rounded[:, start:stop], vectors.scales[start:stop] = round_embeddings(embeddings)
    tokens = slice(int(vectors.bounds[start]), int(vectors.bounds[stop]))
    vectors.signs[tokens] = pack_signs(np.concatenate([each.tokens for each in read]))
    vectors.ids[tokens] = np.concatenate([each.ids for each in read])
    held = np.concatenate([np.unique(each.ids) for each in read])
    vectors.frequencies[:] += np.bincount(held, minlength=len(vectors.frequencies)).astype(np.int32)


def _pieces_of(old: Vectors, added: Vectors, sizes: tuple[int, int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each passage's pieces begin, the second corpus's after all of the first's, and how many they are."""
    owners = np.concatenate([old.owners, added.owners + np.int32(sizes[0])])
    bounds = np.searchsorted(owners, np.arange(sum(sizes) + 1))
    return bounds[:-1], np.diff(bounds)


def _count_tokens(vectors: Vectors, changes: NDArray[np.intp]) -> NDArray[np.int32]:
    """Return by how much the frequencies of tokens change where each piece stands so many times more than it did."""
    pieces = np.flatnonzero(changes)
    sizes = np.diff(vectors.bounds)[pieces]
    vocabulary = len(vectors.frequencies)
    ids = vectors.ids[join_ranges(vectors.bounds[pieces], sizes)].astype(np.int64)
    place, token = np.divmod(np.unique(np.repeat(np.arange(len(pieces)), sizes) * vocabulary + ids), vocabulary)
    return np.bincount(token, changes[pieces][place], minlength=vocabulary).astype(np.int32)


def _copy(source: Vectors, pieces: NDArray[np.intp], target: Vectors, places: NDArray[np.intp]) -> None:
    """Copy pieces to their places."""
    if not len(pieces):
        return
    target.embeddings[places] = source.embeddings[pieces]
    target.rounded[:, places] = source.rounded[:, pieces]
    target.scales[places] = source.scales[pieces]
    sizes = source.bounds[pieces + 1] - source.bounds[pieces]
    tokens, their_places = join_ranges(source.bounds[pieces], sizes), join_ranges(target.bounds[places], sizes)
    target.signs[their_places] = source.signs[tokens]
    target.ids[their_places] = source.ids[tokens]


def _show_progress(steps: range, *, loud: bool) -> Iterable[int]:
    """Show a progress bar on the terminal's error stream, where there is a terminal and much to do."""
    from rich.console import Console
    from rich.progress import track

    screen = Console(stderr=True)
    return track(steps, "Indexing passages", console=screen, transient=True, disable=not (loud and screen.is_terminal))
