"""What recording processes add to a store: each appends to a part of its own beside it; opening the store merges the parts.

A part is a store itself, in the folder ``<store>.parts``, and is locked as long as its process lives. Up to which result a part
is merged is written in the transaction that copies them, so that none is copied twice, whoever dies when. The part of a process
that is over is removed once it is merged; that of a living one is read and stays, and so does one whose traces are not all
measured yet: a journal of the same name lies beside it (`rag_cover.stores.journals`).
"""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_cover.errors import StoreError
from rag_cover.stores.locks import HeldLock, acquire, lock_beside
from rag_cover.stores.schema import open_database, translating_store_errors

__all__ = [
    "Unmerged",
    "claim_name",
    "has_parts",
    "make_parts_folder",
    "merge_parts",
    "new_part",
    "parts_folder",
    "read_unmerged",
    "remove_parts_folder",
]

JOURNAL = ".jsonl"
"""The ending of a part's journal, in place of the part's own."""

_CHUNK = 256
_ATTEMPTS = 20
_TIMEOUT_S = 5.0
_SAME = ("judge", "measures", "redaction")  # of what is said of an evaluation; without them its results do not go together
_INSERT = """INSERT INTO results (ordinal, key, trace_id, json)
    VALUES ((SELECT COALESCE(MAX(ordinal), -1) + 1 FROM results), ?, ?, ?)"""
_AFTER = "SELECT ordinal, key, trace_id, json FROM results WHERE ordinal > ? ORDER BY ordinal LIMIT ?"
_NOTE = "INSERT OR REPLACE INTO parts (name, merged) VALUES (?, ?)"
_EVALUATION = "SELECT value FROM meta WHERE name = 'evaluation'"

Row = tuple[int, str, str | None, bytes]


@dataclass(frozen=True, slots=True)
class Unmerged:
    """The packed results of parts that could not be merged, and the last ordinal that the store held then."""

    last: int
    packed: tuple[bytes, ...]


def has_parts(store: Path) -> bool:
    """Return whether there is a folder of parts beside a store."""
    return parts_folder(store).is_dir()


def new_part(store: Path) -> tuple[Path, HeldLock]:
    """Name a new part for this process, and lock it until the process releases it or ends.

    Raises:
        StoreError: the folder of parts cannot be made or written.
    """
    return claim_name(store, ".sqlite")


def claim_name(store: Path, ending: str) -> tuple[Path, HeldLock]:
    """Name a new file of this process among the parts of a store, and lock it until the process releases it or ends.

    Raises:
        StoreError: the folder of parts cannot be made or written.
    """
    host = re.sub(r"[^A-Za-z0-9.-]", "_", platform.node())
    while True:
        folder = make_parts_folder(store)
        claimed = folder / f"{host}-{os.getpid()}-{secrets.token_hex(4)}{ending}"
        try:
            lock = acquire(lock_beside(claimed))
        except StoreError:
            if folder.is_dir():
                raise
            continue  # another process has removed the folder, which was empty
        if lock is not None:
            return claimed, lock


def make_parts_folder(store: Path) -> Path:
    """Make the folder of a store's parts, if it is not there.

    Raises:
        StoreError: it cannot be made or written.
    """
    folder = parts_folder(store)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as denied:
        message = f"{folder} cannot be made ({denied.strerror or denied}); check the permissions of its folder, or name another"
        raise StoreError(message) from denied
    if not os.access(folder, os.W_OK):
        message = f"{folder} cannot be written; make it writable, or name another store"
        raise StoreError(message)
    return folder


def remove_parts_folder(store: Path) -> None:
    """Remove the folder of a store's parts, if it is empty."""
    with suppress(OSError):
        parts_folder(store).rmdir()


def merge_parts(connection: sqlite3.Connection, store: Path) -> None:
    """Copy what is new in the parts into the store, whose lock the caller holds.

    Raises:
        sqlite3.Error: the store cannot be written.
        StoreError: a part is damaged, or holds the results of another evaluation.
    """
    for part in _parts(store):
        lock = acquire(lock_beside(part))  # None: its process lives
        try:
            _merge(connection, store, part)
            if lock is not None and not part.with_suffix(JOURNAL).exists():
                _remove(connection, part)
        finally:
            if lock is not None:
                lock.release()
    remove_parts_folder(store)


def read_unmerged(connection: sqlite3.Connection, store: Path) -> Unmerged | None:
    """Read what is new in the parts without merging it; None where there is nothing.

    Raises:
        StoreError: a part is damaged, or holds the results of another evaluation.
    """
    for _ in range(_ATTEMPTS):
        with translating_store_errors(store):
            merged, last = _state(connection)
        try:
            packed = tuple(row[3] for part in _parts(store) for row in _rows(part, merged.get(part.name, -1)))
        except FileNotFoundError:
            continue  # merged by another process meanwhile: what it held is in the store now
        return Unmerged(last, packed) if packed else None
    message = f"The parts of {store} change all the time; open it again"
    raise StoreError(message)


def parts_folder(store: Path) -> Path:
    """Name the folder of a store's parts."""
    real = store.resolve()
    return real.with_name(f"{real.name}.parts")


def _parts(store: Path) -> list[Path]:
    folder = parts_folder(store)
    return sorted(folder.glob("*.sqlite")) if folder.is_dir() else []


def _state(connection: sqlite3.Connection) -> tuple[dict[str, int], int]:
    """Read at one moment up to where each part is merged, and the last ordinal of the store."""
    connection.execute("BEGIN")
    try:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'parts'").fetchone():
            merged: dict[str, int] = {}  # an older store that can only be read
        else:
            merged = dict(connection.execute("SELECT name, merged FROM parts"))
        last = connection.execute("SELECT COALESCE(MAX(ordinal), -1) FROM results").fetchone()[0]
    finally:
        connection.rollback()
    return merged, last


def _merge(connection: sqlite3.Connection, store: Path, part: Path) -> None:
    """Copy what is new in one part, and note how far, all or none."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        found = connection.execute("SELECT merged FROM parts WHERE name = ?", (part.name,)).fetchone()
        merged = found[0] if found else -1
        with suppress(FileNotFoundError):
            _refuse_other(connection, store, part)
            for ordinal, *row in _rows(part, merged):
                connection.execute(_INSERT, row)
                merged = ordinal
        connection.execute(_NOTE, (part.name, merged))


def _refuse_other(connection: sqlite3.Connection, store: Path, part: Path) -> None:
    """Refuse a part whose results would not be one evaluation together with those of the store, which it describes if empty."""
    with _open(part) as source:
        found = source.execute(_EVALUATION).fetchone() if _is_laid_out(source) else None
    ours = connection.execute(_EVALUATION).fetchone()
    if found and not ours:
        connection.execute("INSERT INTO meta (name, value) VALUES ('evaluation', ?)", found)
    elif found and _identity(found[0]) != _identity(ours[0]):
        message = (
            f"The part {part} was recorded by other measures or another judge than the results of {store}; move it to a place "
            "of its own, where it can be opened as a store"
        )
        raise StoreError(message)


def _identity(evaluation: str) -> list[Any]:
    about = json.loads(evaluation)
    return [about.get(name) for name in _SAME]


def _rows(part: Path, after: int) -> Iterator[Row]:
    """Read the rows of a part that follow an ordinal.

    Raises:
        FileNotFoundError: there is no such part any more.
    """
    with _open(part) as source:
        while _is_laid_out(source) and (rows := source.execute(_AFTER, (after, _CHUNK)).fetchall()):
            yield from rows
            after = rows[-1][0]


@contextmanager
def _open(part: Path) -> Iterator[sqlite3.Connection]:
    """Open a part.

    Raises:
        FileNotFoundError: there is no such part any more.
        StoreError: it is damaged.
    """
    try:
        connection = open_database(part, create=False, timeout_s=_TIMEOUT_S)
    except StoreError as unusable:
        if part.exists():
            raise
        raise FileNotFoundError(str(part)) from unusable
    with closing(connection), translating_store_errors(part):
        yield connection


def _is_laid_out(source: sqlite3.Connection) -> bool:
    """Return whether a part has its tables; one that can only be read and whose process died at once has none."""
    return bool(source.execute("PRAGMA user_version").fetchone()[0])


def _remove(connection: sqlite3.Connection, part: Path) -> None:
    """Remove a part that is merged; one that somebody reads, where that hinders it, is removed another time."""
    try:
        for ending in ("-wal", "-shm", ""):
            part.with_name(f"{part.name}{ending}").unlink(missing_ok=True)
    except OSError:
        return
    with connection:
        connection.execute("DELETE FROM parts WHERE name = ?", (part.name,))
