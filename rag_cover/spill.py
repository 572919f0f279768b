"""A dict with bounded memory: what goes beyond it spills to a temporary SQLite file, deleted with the process.

The file is SQLite's own temporary one: it has no name, and is gone with the roll, however the process ends.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from rag_cover.errors import StoreError

__all__ = ["SpillingDict"]

Entry = TypeVar("Entry", int, str)

_HELD = 20_000
_TABLE = "CREATE TABLE entries (name BLOB PRIMARY KEY, entry) WITHOUT ROWID"
_FIND = "SELECT entry FROM entries WHERE name = ?"
_KEEP = "INSERT OR REPLACE INTO entries (name, entry) VALUES (?, ?)"


class SpillingDict(Generic[Entry]):
    """Remembers an entry for each name; of more than ``held`` names, the earlier ones on disk. For one thread at a time.

    >>> roll = SpillingDict[int](held=1)
    >>> roll.setdefault("a", 1), roll.setdefault("b", 2), roll.setdefault("a", 3), roll.get("c")
    (1, 2, 1, None)
    """

    def __init__(self, *, held: int = _HELD) -> None:
        self._held = held
        self._recent: dict[str, Entry] = {}
        self._disk: sqlite3.Connection | None = None

    def get(self, name: str) -> Entry | None:
        """Return the entry of a name, None where it has none.

        Raises:
            StoreError: the temporary file cannot be used.
        """
        if (entry := self._recent.get(name)) is not None or self._disk is None:
            return entry
        with _translating_errors():
            found = self._disk.execute(_FIND, (_encode_name(name),)).fetchone()
        return found[0] if found else None

    def setdefault(self, name: str, entry: Entry) -> Entry:
        """Return the value of a key; store this one first if there is none."""
        if (known := self.get(name)) is not None:
            return known
        self[name] = entry
        return entry

    def __setitem__(self, name: str, entry: Entry) -> None:
        self._recent[name] = entry
        if len(self._recent) > self._held:
            self._put_away()

    def _put_away(self) -> None:
        with _translating_errors():
            if self._disk is None:
                self._disk = _temporary()
                weakref.finalize(self, self._disk.close)
            rows = sorted((_encode_name(name), entry) for name, entry in self._recent.items())
            self._disk.executemany(_KEEP, rows)  # sorted: neighbours share a page
        self._recent.clear()


def _temporary() -> sqlite3.Connection:
    connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = OFF")  # what is gone with the process need not survive it
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(_TABLE)
    connection.execute("BEGIN")  # and is never committed
    return connection


def _encode_name(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


@contextmanager
def _translating_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        problem = (
            f"The ids of the traces read so far cannot be kept in a temporary file ({error}); free some space in the folder "
            "for temporary files, or name another with the environment variable TMPDIR"
        )
        raise StoreError(problem) from error
