"""How a store's file is laid out, opened and brought up to date, and what its errors mean to a user."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_cover.databases import refuse_strangers, write_ahead
from rag_cover.errors import StoreError

__all__ = ["MIGRATIONS", "opened", "told"]

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE results (ordinal INTEGER PRIMARY KEY, key TEXT NOT NULL, trace_id TEXT, json BLOB NOT NULL)",
        "CREATE INDEX results_key ON results (key)",
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
)
"""The statements that take a store from each schema version to the next; version 0 is an empty file."""

_APPLICATION = 0x52414743  # "RAGC": tells our files from other programs' databases

_MEANING = {
    sqlite3.SQLITE_BUSY: "is in use by another process; wait until it ends, or name another store",
    sqlite3.SQLITE_LOCKED: "is in use by another process; wait until it ends, or name another store",
    sqlite3.SQLITE_READONLY: "cannot be written; make it and its folder writable, or name another store",
    sqlite3.SQLITE_PERM: "may not be opened; check its permissions, or name another store",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that its folder exists and is writable, or name another store",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full; free some space and run again with --resume",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error; name a store on another disk",
    sqlite3.SQLITE_CORRUPT: "is damaged; measure again into a new store",
    sqlite3.SQLITE_NOTADB: "is not a store: it is no SQLite database; name another file",
}


def opened(path: Path, *, create: bool, timeout_s: float) -> sqlite3.Connection:
    """Open a store's file, lay it out where it is new, and bring an older one up to date."""
    if path.is_dir():
        problem = f"{path} is a folder; name a file in it as the store"
        raise StoreError(problem)
    if not create and not path.exists():
        problem = f"There is no store at {path}; check the path, or run an evaluation into it first"
        raise StoreError(problem)
    with told(path):
        connection = sqlite3.connect(path, timeout=timeout_s, check_same_thread=False)
    try:
        with told(path):
            _prepare(connection, path, timeout_s)
    except StoreError:
        connection.close()
        raise
    return connection


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into a sentence that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        meaning = _MEANING.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)  # the low byte is the primary code
        problem = f"The store {path} {meaning}" if meaning else f"The store {path} cannot be used: {error}"
        raise StoreError(problem) from error


def _prepare(connection: sqlite3.Connection, path: Path, timeout_s: float) -> None:
    refuse_strangers(connection, path, application=_APPLICATION, kind="a store")
    if (version := _version(connection)) > len(MIGRATIONS):
        problem = f"The store {path} has schema {version}, and this version reads up to {len(MIGRATIONS)}; upgrade rag-cover"
        raise StoreError(problem)
    write_ahead(connection, patience_s=timeout_s)
    connection.execute("PRAGMA synchronous = NORMAL")  # with WAL, a killed process loses nothing that was committed
    if _version(connection) < len(MIGRATIONS):
        _migrate(connection)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection) -> None:
    """Apply what is missing in one exclusive transaction: of two processes that open a new file, one lays it out."""
    connection.execute("BEGIN EXCLUSIVE")
    with connection:
        for statements in MIGRATIONS[_version(connection) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
