"""SQLite files of ours that any number of threads and processes open at once, and what their errors mean to a user."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_cover.errors import StoreError

__all__ = [
    "close_where_opened",
    "read_only_address",
    "refuse_strangers",
    "translating_sqlite_errors",
    "writable",
    "write_ahead",
]

_PAUSE_S = 0.02
_INHERITED: list[sqlite3.Connection] = []  # of a process that forked this one off: not ours to close

_MEANING = {
    sqlite3.SQLITE_BUSY: "is in use by another process; wait until it ends, or name another file",
    sqlite3.SQLITE_LOCKED: "is in use by another process; wait until it ends, or name another file",
    sqlite3.SQLITE_READONLY: "cannot be written; make it and its folder writable, or name another file",
    sqlite3.SQLITE_PERM: "may not be opened; check its permissions, or name another file",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that its folder exists and is writable, or name another file",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full; free some space and run again with --resume",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error; free some space, or name another disk's file",
    sqlite3.SQLITE_CORRUPT: "is damaged; {remedy}",
    sqlite3.SQLITE_NOTADB: "is not {kind}: it is no SQLite database; name another file",
}


@contextmanager
def translating_sqlite_errors(path: Path, *, kind: str, remedy: str) -> Iterator[None]:
    """Turn SQLite's errors into a sentence that says what to do; ``remedy`` is for a file that is damaged.

    Raises:
        StoreError: what SQLite raised.
    """
    try:
        yield
    except sqlite3.Error as error:
        meaning = _MEANING.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)  # the low byte is the primary code
        sentence = meaning.format(kind=kind, remedy=remedy) if meaning else f"cannot be used: {error}"
        problem = f"The {kind.partition(' ')[2]} {path} {sentence}"
        raise StoreError(problem) from error
    except PermissionError as denied:
        problem = f"The {kind.partition(' ')[2]} {path} may not be opened; check the permissions of its folder"
        raise StoreError(problem) from denied


def writable(path: Path) -> bool:
    """Return whether a file that is there can be written: SQLite keeps files beside it, so its folder too."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def read_only_address(path: Path) -> str:
    """Name a file that cannot be written, as SQLite opens it for reading.

    A file that was closed is whole, and nobody changes it. Beside one that was not lies its log, which has to be read with it;
    beside one that somebody else has open lies the log's index.
    """
    log, index = (path.with_name(f"{path.name}-{ending}") for ending in ("wal", "shm"))
    is_closed = not index.exists() and not (log.exists() and log.stat().st_size)
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_closed else ''}"


def refuse_strangers(connection: sqlite3.Connection, path: Path, *, application: int, kind: str) -> None:
    """Refuse a database that is neither empty nor marked with our application id; ``kind`` says what was looked for.

    Mark and contents are read at one moment: another process may be laying the file out.

    Raises:
        StoreError: it is another program's.
    """
    connection.execute("BEGIN")
    try:
        ours = connection.execute("PRAGMA application_id").fetchone()[0] == application
        filled = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0] > 0
    finally:
        connection.rollback()
    if filled and not ours:
        problem = f"{path} is another program's database, not {kind}; name another file"
        raise StoreError(problem)


def write_ahead(connection: sqlite3.Connection, *, patience_s: float) -> None:
    """Switch to the write-ahead log; retry while another process that opens the same new file locks it."""
    give_up = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as busy:
            if busy.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def close_where_opened(connection: sqlite3.Connection, process: int) -> None:
    """Close a connection in the process that opened it; one forked off would take the other's log away, and keeps it open."""
    if os.getpid() == process:
        connection.close()
    else:
        _INHERITED.append(connection)
