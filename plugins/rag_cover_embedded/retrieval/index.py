"""What the retriever keeps of a corpus, in memory or in a folder: built once, memory-mapped, and kept up with its corpus.

A folder holds arrays as .npy files and JSON, no pickle, in a folder of their own that index.json names. It appears under its
name when it is complete: what a broken-off build leaves behind is a hidden folder beside it, which may be deleted. A changed
corpus gets a new folder inside, from the moment on that index.json names it: who opens the index, at whatever moment, finds
all of the old one or all of the new one. A folder inside that index.json does not name may be deleted. Of two that change one
index, who comes second is refused: it would undo what it has not seen.

index.json also holds checksums of the files. What opens the index compares them, of a large index with a sample, and holds the
numbers that are used as places against their bounds; what changes the index, or verifies it, compares every byte. An index
without checksums was kept by an earlier version: it is opened by its bounds alone, and has checksums from its next change on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rag_cover.errors import CorruptFileError, IndexChangedError, StoreError
from rag_cover.questions import Passage
from rag_cover.stores.locks import hold
from rag_cover_embedded.retrieval.building import Allocate, allocate_memory, encode_passages, rearrange_vectors
from rag_cover_embedded.retrieval.checksums import checksums_of, compare_checksums, sample_checksums
from rag_cover_embedded.retrieval.encoding import Encoder
from rag_cover_embedded.retrieval.keywords import Keywords
from rag_cover_embedded.retrieval.vectors import Vectors

__all__ = ["Index", "corpus_digest"]

FORMAT = 2  # to be raised with every change of what is kept, and of how words are cut
SLAB = 256
_ABOUT = "index.json"
_LOCK = ".lock"
_DIGEST_BYTES = 16
_FILES = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Index:
    """A corpus by its words and by its vectors; ``digests`` are (passages, 16) bytes that tell which passage is which.

    ``files`` is the folder inside its folder that holds it; None is memory.
    """

    keywords: Keywords
    vectors: Vectors
    digests: NDArray[np.uint8]
    files: str | None = None

    @classmethod
    def of(cls, passages: Sequence[Passage], encoder: Encoder) -> Self:
        """Index passages in memory."""
        return cls(Keywords.of(passages), encode_passages(passages, encoder, allocate_memory), _digest_each(passages))

    @classmethod
    def open_or_build(cls, passages: Sequence[Passage], encoder: Encoder, folder: Path, digest: str | None = None) -> Self:
        """Open the index that a folder holds, or build it there first; ``digest`` is the passages' where it is known.

        The index of a corpus that shares passages with this one is updated: what is new is encoded.

        Raises:
            StoreError: the folder holds something else, or the index of another encoder or of a corpus that shares no passage
                with this one; or it cannot be written.
            CorruptFileError: the index is damaged.
        """
        about = _describe(passages, encoder, digest)
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            _write_new(folder, about, partial(_build, passages, encoder))
        opened, corpus = cls._open(folder, about)
        if corpus == about["corpus"]:
            return opened
        try:
            return opened.update(passages, encoder, folder, str(about["corpus"]))
        except IndexChangedError:  # nothing of this corpus is lost: it is all given
            return cls.open_or_build(passages, encoder, folder, str(about["corpus"]))

    def update(
        self, passages: Sequence[Passage], encoder: Encoder, folder: Path | None = None, digest: str | None = None
    ) -> Self:
        """Index a corpus of which this one holds a part: only what is new is encoded. A folder is updated with it.

        Raises:
            StoreError: the folder cannot be written, or the corpora share nothing, so that another folder may be meant.
            IndexChangedError: another retriever changed the folder since this index was opened.
            CorruptFileError: the index is damaged.
        """
        order, added = self._match(passages)
        if folder is not None and len(added) == len(passages):
            raise _other_error(folder, "corpus")
        if folder is not None:
            return self._rewrite(order, added, encoder, folder, _describe(passages, encoder, digest))
        return self._rearrange(order, added, encoder, allocate_memory)

    def verify(self, folder: Path, encoder: Encoder) -> None:
        """Compare every byte of the index in a folder with its checksums.

        Raises:
            IndexChangedError: another retriever changed the folder since this index was opened.
            CorruptFileError: the index is damaged.
            StoreError: it was kept without checksums.
        """
        stored = _read_about(folder, {"format": FORMAT, "encoder": encoder.fingerprint})
        if _refuse_damaged(folder, self._require_current(folder, stored)) is None:
            message = f"The index {folder} was kept by an earlier version, without checksums. Delete it to have it built anew."
            raise StoreError(message)

    def _require_current(self, folder: Path, stored: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a folder says of its index, which must be this one."""
        if stored["files"] != self.files:
            raise IndexChangedError(folder)
        return stored

    def _match(self, passages: Sequence[Passage]) -> tuple[NDArray[np.intp], list[Passage]]:
        """Return each passage's place in this index, from its size on where it is new, and the new ones."""
        known = {row.tobytes(): place for place, row in enumerate(self.digests)}
        order, added = np.empty(len(passages), dtype=np.intp), list[Passage]()
        for number, (passage, row) in enumerate(zip(passages, _digest_each(passages), strict=True)):
            key = row.tobytes()
            if key not in known:
                known[key] = len(self.digests) + len(added)
                added.append(passage)
            order[number] = known[key]
        return order, added

    def _rearrange(self, order: NDArray[np.intp], added: Sequence[Passage], encoder: Encoder, allocate: Allocate) -> Self:
        new = type(self).of(added, encoder)
        sizes = len(self.digests), len(added)
        return type(self)(
            self.keywords.rearrange(new.keywords, order),
            rearrange_vectors(self.vectors, new.vectors, sizes, order, allocate),
            np.concatenate([self.digests, new.digests])[order],
        )

    def _rewrite(
        self, order: NDArray[np.intp], added: Sequence[Passage], encoder: Encoder, folder: Path, about: Mapping[str, Any]
    ) -> Self:
        """Write the index of another corpus into a folder that holds this one's."""

        def fill(files: Path) -> None:
            made = self._rearrange(order, added, encoder, partial(_allocate_file, files))
            made.keywords.save(files)
            np.save(files / "digests.npy", made.digests)

        def require_current() -> Mapping[str, Any]:
            return self._require_current(folder, _read_about(folder, about))

        _refuse_damaged(folder, require_current())  # what is copied gets checksums of its own
        _replace(folder, about, fill, require_current)
        return self._open(folder, about)[0]

    @classmethod
    def _open(cls, folder: Path, about: Mapping[str, Any]) -> tuple[Self, str]:
        """Open an index as it stands, with its corpus's digest."""
        stored = _read_about(folder, about)
        files = folder / stored["files"]
        try:
            if (checksums := _checksums_in(stored)) is not None:
                sample_checksums(files, checksums)
            arrays = {field.name: _map(files / f"{field.name}.npy") for field in fields(Vectors)}
            opened = cls(Keywords.open(files), Vectors(**arrays), _map(files / "digests.npy"), stored["files"])
            opened._refuse_misfit(stored["passages"])
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            if _read_about(folder, about) != stored:  # it was replaced in between
                return cls._open(folder, about)
            raise _corrupt_file_error(folder, error) from error
        return opened, str(stored.get("corpus"))

    def _refuse_misfit(self, passages: int) -> None:
        fits = self.digests.shape == (passages, _DIGEST_BYTES) and len(self.keywords) == passages
        if not fits or not self.vectors.fit(passages):
            message = "its files do not fit together"
            raise ValueError(message)


def corpus_digest(passages: Sequence[Passage]) -> str:
    """Hash what is searched of a corpus: titles and texts, in their order."""
    digest = hashlib.sha256()  # many processors have instructions for it
    for start in range(0, len(passages), SLAB):
        digest.update(_as_bytes(passages[start : start + SLAB]))
    return digest.hexdigest()


def _digest_each(passages: Sequence[Passage]) -> NDArray[np.uint8]:
    """Hash what is searched of each passage, as (passages, 16) bytes."""
    found = b"".join(hashlib.blake2b(_as_bytes([each]), digest_size=_DIGEST_BYTES).digest() for each in passages)
    return np.frombuffer(found, dtype=np.uint8).reshape(-1, _DIGEST_BYTES)


def _as_bytes(passages: Sequence[Passage]) -> bytes:
    """Write what is searched of passages: how long each title and text is, and all of them without anything between."""
    texts = [""] * (2 * len(passages))
    texts[::2] = [each.title or "" for each in passages]
    texts[1::2] = [each.text for each in passages]
    return f"{[*map(len, texts)]}{''.join(texts)}".encode("utf-8", "surrogatepass")


def _describe(passages: Sequence[Passage], encoder: Encoder, digest: str | None) -> dict[str, Any]:
    corpus = digest or corpus_digest(passages)
    return {"format": FORMAT, "encoder": encoder.fingerprint, "corpus": corpus, "passages": len(passages)}


def _build(passages: Sequence[Passage], encoder: Encoder, files: Path) -> None:
    Keywords.of(passages).save(files)
    np.save(files / "digests.npy", _digest_each(passages))
    encode_passages(passages, encoder, partial(_allocate_file, files))


def _write_new(folder: Path, about: Mapping[str, Any], fill: Callable[[Path], None]) -> None:
    """Write an index under a name of its own, and give it its place when it is complete."""
    made, name = folder.with_name(f".{folder.name}.{uuid4().hex}"), uuid4().hex
    try:
        (made / name).mkdir(parents=True)
        fill(made / name)
        _write_about(made / _ABOUT, about, made / name)
        if folder.exists():
            folder.rmdir()
        made.rename(folder)
    except OSError as error:
        if not (folder / _ABOUT).exists():  # else another process was faster; its index is judged like any other
            raise _unwritable_error(folder, error) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _replace(
    folder: Path, about: Mapping[str, Any], fill: Callable[[Path], None], require_current: Callable[[], Mapping[str, Any]]
) -> None:
    """Write an index into a folder that holds one: what opens it reads the old one until the new one is complete.

    The one that is to be replaced must still be there then: that is looked at, and the new one put in its place, by one process
    at a time.
    """
    name = uuid4().hex
    files, made, unused = folder / name, folder / f".{name}.json", {name}
    try:
        files.mkdir()
        fill(files)
        _write_about(made, about, files)
        with hold(folder, folder / _LOCK):
            unused.add(require_current()["files"])
            made.replace(folder / _ABOUT)
    except StoreError:
        raise
    except OSError as error:
        raise _unwritable_error(folder, error) from error
    finally:
        made.unlink(missing_ok=True)
        for each in unused - {_read_about(folder, about)["files"]}:
            shutil.rmtree(folder / each, ignore_errors=True)


def _write_about(path: Path, about: Mapping[str, Any], files: Path) -> None:
    written = {**about, "files": files.name, "checksums": checksums_of(files)}
    path.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")


def _checksums_in(about: Mapping[str, Any]) -> Mapping[str, str] | None:
    """Return the checksums that an index brings; None where it was kept without."""
    match about.get("checksums"):
        case None:
            return None
        case dict() as checksums if all(isinstance(each, str) for each in checksums.values()):
            return checksums
    message = f"{_ABOUT} holds no checksums of files"
    raise ValueError(message)


def _refuse_damaged(folder: Path, about: Mapping[str, Any]) -> Mapping[str, str] | None:
    """Compare all that an index holds with its checksums, and return these; None where it was kept without.

    Raises:
        CorruptFileError: it is damaged.
    """
    try:
        if (checksums := _checksums_in(about)) is not None:
            compare_checksums(folder / about["files"], checksums)
    except (OSError, ValueError) as error:
        raise _corrupt_file_error(folder, error) from error
    return checksums


def _allocate_file(folder: Path, name: str, shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """Make an array in a file, which takes its room on the disk at once: a full disk would end the process later."""
    path = folder / f"{name}.npy"
    if 0 in shape:  # cannot be mapped
        np.save(path, np.empty(shape, kind))
        return np.empty(shape, kind)
    array = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


def _map(path: Path) -> NDArray[Any]:
    return np.asarray(np.load(path, mmap_mode="r"))


def _read_about(folder: Path, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Read what an index says of itself; another format or encoder than is wanted is refused."""
    try:
        about: dict[str, Any] = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        message = f"{folder} holds no index of the embedded retriever. Name a folder that is not there yet."
        raise StoreError(message) from error
    except (OSError, ValueError) as error:
        raise _corrupt_file_error(folder, error) from error
    for part in ("format", "encoder"):
        if not isinstance(about, dict) or about.get(part) != wanted[part]:
            raise _other_error(folder, part)
    if not _FILES.fullmatch(str(about.get("files"))):  # it may be deleted one day: it must be inside
        raise _corrupt_file_error(folder, f"{_ABOUT} names no folder of files")
    return about


def _other_error(folder: Path, part: str) -> StoreError:
    return StoreError(f"The index {folder} was built with another {part} than this one. Delete it to have it built anew.")


def _unwritable_error(folder: Path, problem: OSError) -> StoreError:
    message = f"The index {folder} cannot be written: {problem}. Name another folder, or none to index in memory."
    return StoreError(message)


def _corrupt_file_error(folder: Path, problem: object) -> CorruptFileError:
    return CorruptFileError(f"The index {folder} is damaged ({problem}). Delete it to have it built anew.")
