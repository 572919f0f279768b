"""How a store's file is laid out, opened and brought up to date, and what its errors mean to a user."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

from rag_cover import sqlite_errors
from rag_cover.errors import StoreError
from rag_cover.private_files import create_private
from rag_cover.sqlite_errors import read_only_address, refuse_strangers, writable, write_ahead

__all__ = ["MIGRATIONS", "open_database", "refuse_damage", "translating_store_errors"]

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE results (ordinal INTEGER PRIMARY KEY, key TEXT NOT NULL, trace_id TEXT, json BLOB NOT NULL)",
        "CREATE INDEX results_key ON results (key)",
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
    (
        "DROP INDEX IF EXISTS results_key",  # results are looked up by ordinal
        "ALTER TABLE results ADD COLUMN during INTEGER NOT NULL DEFAULT 0",  # the latest run that had begun by then
        "CREATE TABLE runs (run INTEGER PRIMARY KEY AUTOINCREMENT, beats INTEGER NOT NULL, home TEXT)",
        "CREATE TABLE claims (ordinal INTEGER PRIMARY KEY, run INTEGER NOT NULL)",
    ),
    (
        "DROP TABLE claims",  # one process writes a store, and holds its lock
        "DROP TABLE runs",
        "ALTER TABLE results DROP COLUMN during",
        "CREATE TABLE parts (name TEXT PRIMARY KEY, merged INTEGER NOT NULL)",  # up to which ordinal a recording's part is here
    ),
)
"""The statements that take a store from each schema version to the next; version 0 is an empty file."""

_APPLICATION = 0x52414743  # "RAGC": tells our files from other programs' databases

_KIND = "a store"
_REMEDY = "move it away, with its -wal and -shm, and measure again; what remote models answered is kept in a file of its own"


def open_database(path: Path, *, create: bool, timeout_s: float) -> sqlite3.Connection:
    """Open a store's file, lay it out where it is new, and bring an older one up to date.

    One that is there and cannot be written, such as on a read-only disk, is opened for reading where ``create`` is false.
    """
    with translating_store_errors(path):
        _refuse_absent(path, create=create)
        reading = not create and not writable(path)
        address = read_only_address(path) if reading else path
        if not reading:
            create_private(path)
        connection = sqlite3.connect(address, timeout=timeout_s, check_same_thread=False, uri=reading)
    try:
        with translating_store_errors(path):
            _refuse_others(connection, path)
            if not reading:
                _prepare(connection, timeout_s)
    except StoreError:
        connection.close()
        raise
    return connection


def translating_store_errors(path: Path) -> AbstractContextManager[None]:
    """Turn SQLite's errors into a sentence that says what to do with a store."""
    return sqlite_errors.translating_sqlite_errors(path, kind=_KIND, remedy=_REMEDY)


def refuse_damage(connection: sqlite3.Connection, path: Path) -> None:
    """Read the file through in search of damage: what is damaged is not added to, and not taken for results.

    Raises:
        StoreError: it is damaged.
    """
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        problem = f"The store {path} is damaged ({' '.join(found.split())}); {_REMEDY}"
        raise StoreError(problem)


def _refuse_others(connection: sqlite3.Connection, path: Path) -> None:
    refuse_strangers(connection, path, application=_APPLICATION, kind=_KIND)
    if (version := _version(connection)) > len(MIGRATIONS):
        problem = f"The store {path} has schema {version}, and this version reads up to {len(MIGRATIONS)}; upgrade rag-cover"
        raise StoreError(problem)


def _prepare(connection: sqlite3.Connection, timeout_s: float) -> None:
    write_ahead(connection, patience_s=timeout_s)
    connection.execute("PRAGMA synchronous = NORMAL")  # with WAL, a killed process loses nothing that was committed
    if _version(connection) < len(MIGRATIONS):
        _migrate(connection)


def _refuse_absent(path: Path, *, create: bool) -> None:
    if path.is_dir():
        problem = f"{path} is a folder; name a file in it as the store"
        raise StoreError(problem)
    if not create and not path.exists():
        problem = f"There is no store at {path}; check the path, or run an evaluation into it first"
        raise StoreError(problem)


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
