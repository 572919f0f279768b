"""What the retriever keeps of a corpus, in memory or in a folder: built once, then memory-mapped.

A folder holds arrays as .npy files and JSON, no pickle. It appears under its name when it is complete: what a broken-off build
leaves behind is a hidden folder beside it, which may be deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any, Protocol, Self
from uuid import uuid4

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rag_cover.errors import CorruptFileError, StoreError
from rag_cover.questions import Passage
from rag_cover_embedded.retrieval.encoding import Encoder, Vectorised
from rag_cover_embedded.retrieval.keywords import Keywords
from rag_cover_embedded.retrieval.vectors import WIDTH, Vectors, pack_signs

__all__ = ["Index", "corpus_digest"]

FORMAT = 1  # to be raised with every change of what is kept, and of how words are cut
SLAB = 256
QUIET = 2_000  # passages that are indexed without a progress bar


class _Allocate(Protocol):
    """Makes an array to write into: of memory, or of a file."""

    def __call__(self, name: str, shape: tuple[int, ...], kind: DTypeLike, /) -> NDArray[Any]: ...


@dataclass(frozen=True, slots=True)
class Index:
    """A corpus by its words and by its vectors."""

    keywords: Keywords
    vectors: Vectors

    @classmethod
    def of(cls, passages: Sequence[Passage], encoder: Encoder) -> Self:
        """Index passages in memory."""
        return cls(Keywords.of(passages), _vectors(passages, encoder, lambda _, shape, kind: np.empty(shape, kind)))

    @classmethod
    def open_or_build(cls, passages: Sequence[Passage], encoder: Encoder, folder: Path, digest: str | None = None) -> Self:
        """Open the index that a folder holds, or build it there first; ``digest`` is the passages' where it is known.

        Raises:
            StoreError: the folder holds something else, or the index of another corpus or encoder; or it cannot be written.
            CorruptFileError: the index is damaged.
        """
        corpus = digest or corpus_digest(passages)
        about = {"format": FORMAT, "corpus": corpus, "passages": len(passages), "encoder": encoder.fingerprint}
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            _build(passages, encoder, folder, about)
        _refuse_other(folder, about)
        try:
            arrays = {field.name: np.asarray(np.load(folder / f"{field.name}.npy", mmap_mode="r")) for field in fields(Vectors)}
            opened = cls(Keywords.open(folder / "keywords"), Vectors(**arrays))
        except (OSError, ValueError, KeyError, TypeError) as error:  # TypeError: bm25s takes its parameters from its file
            raise _corrupt_file_error(folder, error) from error
        if len(opened.keywords) != len(passages) or not opened.vectors.consistent:
            raise _corrupt_file_error(folder, "its files do not fit together")
        return opened


def corpus_digest(passages: Sequence[Passage]) -> str:
    """Hash what is searched of a corpus: titles and texts, in their order."""
    digest = hashlib.sha256()
    for start in range(0, len(passages), SLAB):
        digest.update("".join(map(_as_json, passages[start : start + SLAB])).encode())
    return digest.hexdigest()


def _as_json(passage: Passage) -> str:
    """Write what is searched of a passage as ``json.dumps`` writes a list, in a fifth of the time."""
    return f"[{encode_basestring_ascii(passage.title or '')}, {encode_basestring_ascii(passage.text)}]"


def _build(passages: Sequence[Passage], encoder: Encoder, folder: Path, about: Mapping[str, Any]) -> None:
    """Build an index under a name of its own, and give it its place when it is complete."""
    made = folder.with_name(f".{folder.name}.{uuid4().hex}")
    try:
        (made / "keywords").mkdir(parents=True)
        Keywords.of(passages).save(made / "keywords")
        _vectors(passages, encoder, lambda name, shape, kind: _file(made / f"{name}.npy", shape, kind))
        (made / "index.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        if folder.exists():
            folder.rmdir()
        made.rename(folder)
    except OSError as error:
        if not (folder / "index.json").exists():  # else another process was faster; its index is judged like any other
            message = f"The index {folder} cannot be written: {error}. Name another folder, or none to index in memory."
            raise StoreError(message) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _file(path: Path, shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """Make an array in a file, which takes its room on the disk at once: a full disk would end the process later."""
    if 0 in shape:  # cannot be mapped
        np.save(path, np.empty(shape, kind))
        return np.empty(shape, kind)
    array = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


def _vectors(passages: Sequence[Passage], encoder: Encoder, allocate: _Allocate) -> Vectors:
    """Encode passages into arrays whose sizes are known before the first is encoded, since tokens are counted first."""
    slabs = range(0, len(passages), SLAB)
    pieces = [piece for start in slabs for piece in encoder.pieces(passages[start : start + SLAB], start)]
    sizes = [int(encoder.telling(piece.ids).sum()) for piece in pieces]
    found = Vectors(
        owners=allocate("owners", (len(pieces),), np.int32),
        bounds=allocate("bounds", (len(pieces) + 1,), np.int64),
        signs=allocate("signs", (sum(sizes), WIDTH // 8), np.uint8),
        embeddings=allocate("embeddings", (len(pieces), WIDTH), np.float32),
        frequencies=allocate("frequencies", (encoder.vocabulary,), np.int32),
    )
    found.owners[:] = [piece.passage for piece in pieces]
    found.bounds[:] = np.cumsum([0, *sizes])
    found.frequencies[:] = 0
    for start in _show_progress(range(0, len(pieces), SLAB), loud=len(passages) > QUIET):
        _fill(found, start, encoder.read([piece.ids for piece in pieces[start : start + SLAB]]))
    return found


def _fill(vectors: Vectors, start: int, read: Sequence[Vectorised]) -> None:
    """Write what was read of the pieces from ``start`` on."""
    stop = start + len(read)
    vectors.embeddings[start:stop] = [each.embedding for each in read]
    vectors.signs[vectors.bounds[start] : vectors.bounds[stop]] = pack_signs(np.concatenate([each.tokens for each in read]))
    held = np.concatenate([np.unique(each.ids) for each in read])
    vectors.frequencies[:] += np.bincount(held, minlength=len(vectors.frequencies)).astype(np.int32)


def _show_progress(steps: range, *, loud: bool) -> Iterable[int]:
    """Show a progress bar on the terminal's error stream, where there is a terminal and much to do."""
    from rich.console import Console
    from rich.progress import track

    screen = Console(stderr=True)
    return track(steps, "Indexing passages", console=screen, transient=True, disable=not (loud and screen.is_terminal))


def _refuse_other(folder: Path, wanted: Mapping[str, Any]) -> None:
    try:
        about = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        message = f"{folder} holds no index of the embedded retriever. Name a folder that is not there yet."
        raise StoreError(message) from error
    except (OSError, ValueError) as error:
        raise _corrupt_file_error(folder, error) from error
    for part, value in wanted.items():
        if not isinstance(about, dict) or about.get(part) != value:
            message = f"The index {folder} was built with another {part} than this one. Delete it to have it built anew."
            raise StoreError(message)


def _corrupt_file_error(folder: Path, problem: object) -> CorruptFileError:
    return CorruptFileError(f"The index {folder} is damaged ({problem}). Delete it to have it built anew.")
