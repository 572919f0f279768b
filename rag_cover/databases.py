"""SQLite files of ours that any number of threads and processes open at once, a new one too."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from rag_cover.errors import StoreError

__all__ = ["refuse_strangers", "write_ahead"]

_PAUSE_S = 0.02


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
    """Switch to the write-ahead log; of several that open a new file at once, SQLite tells some to try again."""
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
