"""The answers of remote models in one SQLite file, by content key: what was answered once is not asked and paid for again.

Any number of threads and processes may share a file. It is made when the first answer is kept, so that a run without remote
models leaves none. Keys hold no text and no credentials: they are hashes; answers are what the server wrote.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rag_cover.errors import StoreError
from rag_cover.private_files import create_private
from rag_cover.sqlite_errors import close_where_opened, refuse_strangers, translating_sqlite_errors, write_ahead

__all__ = ["ResponseFile", "cache_for"]

_APPLICATION = 0x52414752  # "RAGR": tells our files from other programs' databases
_KIND = "a cache of answers"
_REMEDY = "delete it; what it held is asked again"
_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, packed BLOB NOT NULL) WITHOUT ROWID"
_FIND = "SELECT key, packed FROM answers WHERE key IN ({})"
_KEEP = "INSERT OR IGNORE INTO answers (key, packed) VALUES (?, ?)"
_AT_ONCE = 500  # keys in one statement; SQLite allows 999 in its oldest versions
_PATIENCE_S = 30.0


class ResponseFile:
    """A cache of answers in a file (`rag_cover.llm.session.ResponseCache`).

    Where two threads or processes keep an answer to the same key, the first one stays.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the answers that are known, by key; one that is damaged is not known."""
        if not self._has_begun():
            return {}
        found: dict[str, bytes] = {}
        for start in range(0, len(keys), _AT_ONCE):
            chunk = keys[start : start + _AT_ONCE]
            with self._open_connection() as connection:
                rows = connection.execute(_FIND.format(",".join("?" * len(chunk))), chunk).fetchall()
            found |= {key: answer for key, packed in rows if (answer := _unpack(packed)) is not None}
        return found

    def put(self, answers: Mapping[str, bytes]) -> None:
        """Keep answers, all or none; what is there already stays."""
        rows = [(key, zlib.compress(answer)) for key, answer in answers.items()]
        with self._open_connection() as connection, connection:
            connection.executemany(_KEEP, rows)

    def close(self) -> None:
        """Close the file; it opens again when it is used again."""
        self._leave_to_parent()
        with self._lock:
            if self._connection is not None:
                self._closing()
            self._connection = None

    def __len__(self) -> int:
        if not self._has_begun():
            return 0
        with self._open_connection() as connection:
            return int(connection.execute("SELECT COUNT(*) FROM answers").fetchone()[0])

    def __bool__(self) -> bool:
        return True  # an empty cache is a cache

    def __reduce__(self) -> tuple[type[ResponseFile], tuple[Path]]:
        """Travel to another process as the same file."""
        return ResponseFile, (self.path,)

    def _has_begun(self) -> bool:
        with translating_sqlite_errors(self.path, kind=_KIND, remedy=_REMEDY):
            return self._connection is not None or self.path.exists()

    @contextmanager
    def _open_connection(self) -> Iterator[sqlite3.Connection]:
        self._leave_to_parent()
        with self._lock, translating_sqlite_errors(self.path, kind=_KIND, remedy=_REMEDY):
            if self._connection is None:
                self._connection = _open(self.path)
                self._closing = weakref.finalize(self, close_where_opened, self._connection, self._process)
            yield self._connection

    def _leave_to_parent(self) -> None:
        """Begin anew in a process that was forked off: connection and lock are those of the process it comes from."""
        if os.getpid() != self._process:
            if self._connection is not None:
                self._closing()
            self._process, self._connection, self._lock = os.getpid(), None, threading.Lock()


def cache_for(chosen: Path | bool, store: Path | None) -> ResponseFile | None:  # noqa: FBT001  # as `evaluate` is given it
    """Open the cache that a run is to use: a file of its own, or the one beside its store; None where it has neither.

    >>> cache_for(True, Path("runs/traces-coverage.sqlite")).path.as_posix()
    'runs/traces-coverage.answers.sqlite'
    """
    if isinstance(chosen, Path):
        return ResponseFile(chosen)
    return ResponseFile(store.with_suffix(".answers.sqlite")) if chosen and store is not None else None


def _open(path: Path) -> sqlite3.Connection:
    create_private(path)
    connection = sqlite3.connect(path, timeout=_PATIENCE_S, check_same_thread=False)
    try:
        refuse_strangers(connection, path, application=_APPLICATION, kind=_KIND)
        write_ahead(connection, patience_s=_PATIENCE_S)
        connection.execute("PRAGMA synchronous = NORMAL")
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    except (sqlite3.Error, StoreError):
        connection.close()
        raise
    return connection


def _unpack(packed: bytes) -> bytes | None:
    try:
        return zlib.decompress(packed)
    except zlib.error:
        return None
