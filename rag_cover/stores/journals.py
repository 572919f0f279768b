"""Traces that wait to be measured by another process: journals among the parts of a store (`rag_cover.stores.store_parts`).

A process that records writes its traces, one a line, to a journal of its own, cut into segments ``<name>-000000.jsonl`` and so
on, and holds the lock ``<name>.host.lock`` as long as it lives: where that lock is free, no more lines come. Each segment is
measured into the part of the same name by whoever holds the lock of that part. How far it is measured is written in the
transaction that adds the results to the part, so that no trace is measured twice or left out, whoever dies when; a segment is
removed once it is measured and will not grow.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from rag_cover.errors import StoreError
from rag_cover.private_files import open_private
from rag_cover.stores.locks import HeldLock, acquire, lock_beside
from rag_cover.stores.store_parts import JOURNAL, claim_name, parts_folder, remove_parts_folder

__all__ = [
    "JournalReader",
    "JournalWriter",
    "clear_journal",
    "find_segments",
    "has_abandoned",
    "is_abandoned",
    "lock_abandoned",
    "part_of",
]

_SEGMENT_BYTES = 4_000_000
_BLOCK_BYTES = 256_000
_HOST = ".host"


class JournalWriter:
    """Writes the journal of this process; for one thread at a time.

    Raises:
        StoreError: the folder of parts cannot be made or written.
    """

    def __init__(self, store: Path, *, segment_bytes: int = _SEGMENT_BYTES) -> None:
        self._store, self._segment_bytes = store, segment_bytes
        host, self._lock = claim_name(store, _HOST)
        self.name = host.name.removesuffix(_HOST)
        self._folder = host.parent
        self._segments = self._size = 0
        self._file: int | None = None

    def append(self, line: bytes) -> None:
        """Add a line, which ends in a line break: in the file when this returns, so that it survives this process.

        A line that a full disk cuts off is taken back.

        Raises:
            OSError: it cannot be written.
        """
        file = self._segment()
        if (written := os.write(file, line)) < len(line):
            os.ftruncate(file, self._size)
            message = f"the disk is full: {written} of {len(line)} bytes were written"
            raise OSError(errno.ENOSPC, message)
        self._size += len(line)

    def close(self) -> None:
        """Write no more; the lock is held until `release`."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def release(self) -> None:
        """Leave what is not measured to whoever finds it first."""
        self.close()
        self._lock.release()
        remove_parts_folder(self._store)

    def _segment(self) -> int:
        """Return the file of the segment that is written, the next one where the last is full."""
        if self._file is None or self._size >= self._segment_bytes:
            path = self._folder / f"{self.name}-{self._segments:06}{JOURNAL}"
            begun = open_private(str(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND)
            self.close()
            self._file, self._size = begun, 0
            self._segments += 1
        return self._file


class JournalReader:
    """Reads the whole lines of a segment from a position in bytes on, while another process may add to it.

    Raises:
        FileNotFoundError: the segment is measured, and removed.
    """

    def __init__(self, segment: Path, position: int) -> None:
        self._file = segment.open("rb", buffering=0)  # a line that was cut off may be taken back
        self.position = position

    def read(self, most: int) -> Sequence[bytes]:
        """Read at most so many lines, and, beyond the first, about 256 KB; none where nothing was added."""
        self._file.seek(self.position)
        content = self._file.read(_BLOCK_BYTES)
        while b"\n" not in content and (more := self._file.read(_BLOCK_BYTES)):
            content += more
        whole, _, _ = content.rpartition(b"\n")
        return [line + b"\n" for line in whole.split(b"\n", most)[:most]] if whole else []

    def skip(self, lines: Sequence[bytes]) -> None:
        """Go on after lines that were read."""
        self.position += sum(map(len, lines))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def find_segments(store: Path, name: str | None = None) -> list[Path]:
    """Return the segments beside a store, those of one journal or of all, in the order in which they were begun."""
    folder = parts_folder(store)
    found = sorted(folder.glob(f"*{JOURNAL}")) if folder.is_dir() else []
    return found if name is None else [each for each in found if _name_of(each) == name]


def part_of(segment: Path) -> Path:
    """Name the part that a segment is measured into.

    >>> part_of(Path("results.sqlite.parts/host-7-0a1b2c3d-000000.jsonl")).name
    'host-7-0a1b2c3d-000000.sqlite'
    """
    return segment.with_suffix(".sqlite")


def lock_abandoned(store: Path, *, besides: str) -> Iterator[tuple[Path, HeldLock]]:
    """Yield the segments of journals whose process is over, each with the lock of its journal, which the caller releases."""
    for segment in find_segments(store):
        name = _name_of(segment)
        if name != besides and (lock := _lock_of_host(store, name)) is not None:
            yield segment, lock


def has_abandoned(store: Path) -> bool:
    """Tell whether traces wait beside a store that no living process recorded."""
    for _, lock in lock_abandoned(store, besides=""):
        lock.release()
        return True
    return False


def is_abandoned(store: Path, name: str) -> bool:
    """Tell whether the process that wrote a journal is over, or has closed it."""
    if (lock := _lock_of_host(store, name)) is None:
        return not parts_folder(store).is_dir()
    lock.release()
    return True


def clear_journal(store: Path, name: str) -> None:
    """Remove the lock that a journal's process left, if that is over."""
    if (lock := _lock_of_host(store, name)) is not None:
        lock.release()
        remove_parts_folder(store)


def _lock_of_host(store: Path, name: str) -> HeldLock | None:
    """Take the lock of a journal's process; None where that has it, or the folder of parts is gone."""
    with suppress(StoreError):
        return acquire(lock_beside(parts_folder(store) / f"{name}{_HOST}"))
    return None


def _name_of(segment: Path) -> str:
    return segment.name.rpartition("-")[0]
