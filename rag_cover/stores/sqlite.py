"""One evaluation's results in one SQLite file: written block by block, so that a run that dies is resumed, not repeated.

The file survives a killed process at any moment (write-ahead log, one transaction per block): it holds exactly the blocks
that were committed.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, overload

from rag_cover.errors import CorruptFileError, StoreError
from rag_cover.known_measures import result_type_of, result_types
from rag_cover.llm.usage import UsageReport
from rag_cover.measures import Measure, ResultType, TraceResult
from rag_cover.sqlite_errors import close_where_opened
from rag_cover.stores.locks import acquire, lock_beside
from rag_cover.stores.origin import Origin
from rag_cover.stores.packing import is_whole, pack_result, unpack_result
from rag_cover.stores.schema import open_database, refuse_damage, translating_store_errors
from rag_cover.stores.store_parts import Unmerged, has_parts, merge_parts, read_unmerged

__all__ = ["Store", "StoredMeta", "StoredResults"]

Item = tuple[int, str, TraceResult]

_INSERT = "INSERT OR REPLACE INTO results (ordinal, key, trace_id, json) VALUES (?, ?, ?, ?)"
_EXTEND = """INSERT INTO results (ordinal, key, trace_id, json)
    VALUES ((SELECT COALESCE(MAX(ordinal), -1) + 1 FROM results), ?, ?, ?)"""
_AFTER = "SELECT ordinal, json FROM results WHERE ordinal > ? AND ordinal <= ? ORDER BY ordinal LIMIT ?"
_RANGE = "SELECT json FROM results WHERE ordinal <= ? ORDER BY ordinal LIMIT ? OFFSET ?"
_COUNT = "SELECT COUNT(*) FROM results WHERE ordinal <= ?"
_GET_RESULTS = "SELECT ordinal, key, json FROM results WHERE ordinal IN (SELECT value FROM json_each(?))"
_LAST = (1 << 63) - 1
_SET = "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)"
_FAILED = ":failed"  # ends the key of a result with a failure: no trace has such a key, so a later run measures it again
_FINISHED, _EVALUATION, _SPENDING = "finished", "evaluation", "spending"


class Store:
    """The results of one evaluation, by the ordinal of their trace; safe to use from many threads.

    An item's ``key`` is the content key that the caller computed: a resumed run measures again what has another key.

    Raises:
        StoreError: the file is not a store, is in use, was written by a newer version, or cannot be read or written.
    """

    def __init__(self, path: Path | str, *, create: bool = True, timeout_s: float = 5.0) -> None:
        self.path = Path(path)
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._connection = open_database(self.path, create=create, timeout_s=timeout_s)
        self._place = self.path.absolute()
        self._file = _identity(self._place)
        self._closing = weakref.finalize(self, close_where_opened, self._connection, self._process)
        self._unmerged: Unmerged | None = None
        self.merge_parts()

    @classmethod
    def open(cls, path: Path | str, *, create: bool = True, timeout_s: float = 5.0) -> Self:
        """Open a store; without ``create``, one that is not there is an error."""
        return cls(path, create=create, timeout_s=timeout_s)

    def append(self, items: Sequence[Item]) -> None:
        """Add items in one transaction, all or none; one with an ordinal that is there already takes its place."""
        rows = [(ordinal, key, result.trace.id, pack_result(result)) for ordinal, key, result in items]
        with self.transaction() as connection:
            connection.executemany(_INSERT, rows)

    def extend(self, items: Sequence[tuple[str, TraceResult]], *, meta: Mapping[str, Any] | None = None) -> None:
        """Add results, each with its content key, after those that are there, whoever else adds to the store meanwhile.

        What ``meta`` says is set in the same transaction.
        """
        rows = [(key, result.trace.id, pack_result(result)) for key, result in items]
        with self.transaction() as connection:
            connection.executemany(_EXTEND, rows)
            connection.executemany(_SET, [(name, json.dumps(value)) for name, value in (meta or {}).items()])

    def merge_parts(self) -> None:
        """Add what recordings have put beside the store since (`rag_cover.stores.store_parts`).

        Where that cannot be, as while another process writes the store or in a folder that can only be read, it stays where it
        is, and `results` has it all the same.

        Raises:
            StoreError: a part is damaged, or holds the results of another evaluation.
        """
        self._unmerged = None
        if not has_parts(self.path):
            return
        try:
            lock = acquire(lock_beside(self.path))
        except StoreError:
            lock = None
        try:
            self._merge(is_held=lock is not None)
        finally:
            if lock is not None:
                lock.release()

    def _merge(self, *, is_held: bool) -> None:
        with self._reachable():
            self._unmerged = None
            try:
                if is_held:
                    merge_parts(self._connection, self.path)
                    return
            except sqlite3.Error:  # such as on a full disk: what is there can be read
                pass
            self._unmerged = read_unmerged(self._connection, self.path)

    def begin(self, about: Mapping[str, Any], *, resume: bool, overwrite: bool = False) -> None:
        """Begin an evaluation that is ``about`` this; with ``overwrite``, remove what an earlier one kept here.

        The caller holds the lock (`rag_cover.stores.locks.hold`).

        Raises:
            StoreError: the store is damaged, or holds an evaluation that is neither to be resumed nor written over.
        """
        self.refuse_to_begin(resume=resume, overwrite=overwrite)
        with self.transaction() as connection:
            if not resume:
                _remove_all(connection)
            connection.executemany(_SET, [(_FINISHED, json.dumps(obj=False)), (_EVALUATION, json.dumps(about))])

    def refuse_to_begin(self, *, resume: bool, overwrite: bool) -> None:
        """Refuse to begin an evaluation where another one is kept, unless that is resumed or written over.

        Raises:
            StoreError: the store is damaged, or holds an evaluation that is neither to be resumed nor written over.
        """
        self._merge(is_held=True)
        if len(self):
            self.check()
            if not resume and not overwrite:
                found = "an evaluation" if self.finished else "an unfinished evaluation"
                origin = Origin.read(self.meta.get(_EVALUATION))
                of = f"{found} {origin}" if origin else found
                message = (
                    f"{self.path} holds {of} ({len(self):,} {'trace' if len(self) == 1 else 'traces'} done); go on with it "
                    "(resume=True, --resume), replace it (overwrite=True, --force), or name another store (store=…, --store)"
                )
                raise StoreError(message)

    def present(self, wanted: Mapping[int, str]) -> set[int]:
        """Return which of these ordinals have an undamaged result with this key that is no failure."""
        rows = self.rows(_GET_RESULTS, json.dumps(list(wanted)))
        return {ordinal for ordinal, key, content in rows if key == wanted[ordinal] and is_whole(content)}

    def keep(self, items: Sequence[Item], spent: UsageReport) -> None:
        """Keep results of the evaluation and add what they cost, all or none; a failure is not `present` later.

        Raises:
            StoreError: they cannot be written.
        """
        rows = [
            (ordinal, key + _FAILED if result.is_to_repeat else key, result.trace.id, pack_result(result))
            for ordinal, key, result in items
        ]
        with self.transaction() as connection:
            connection.executemany(_INSERT, rows)
            if spent != UsageReport():
                found = connection.execute("SELECT value FROM meta WHERE name = ?", (_SPENDING,)).fetchone()
                before = UsageReport.from_dict(json.loads(found[0])) if found else UsageReport()
                connection.execute(_SET, (_SPENDING, json.dumps((before + spent).to_dict())))

    def finish(self, length: int) -> None:
        """Mark the evaluation as whole, and remove the results of traces that are no longer there."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM results WHERE ordinal >= ?", (length,))
            connection.execute(_SET, (_FINISHED, json.dumps(obj=True)))

    def remove(self, ordinals: Iterable[int]) -> None:
        """Remove results, such as those that are to be made anew."""
        with self.transaction() as connection:
            connection.executemany("DELETE FROM results WHERE ordinal = ?", [(ordinal,) for ordinal in ordinals])

    def arrange(self, order: Sequence[int]) -> None:
        """Put the results in another order: that of the ordinals, all of them, under which they are kept now."""
        moves = [(-1 - place, ordinal) for place, ordinal in enumerate(order)]
        with self.transaction() as connection:  # by way of negative ones, as no two may be the same meanwhile
            connection.executemany("UPDATE results SET ordinal = ? WHERE ordinal = ?", moves)
            connection.execute("UPDATE results SET ordinal = -1 - ordinal WHERE ordinal < 0")

    def keys(self) -> dict[int, str]:
        """Return the content key of every item, by ordinal."""
        return dict(self.rows("SELECT ordinal, key FROM results ORDER BY ordinal"))

    def result(self, ordinal: int) -> TraceResult:
        """Return the result with this ordinal.

        Raises:
            KeyError: the store has no such ordinal.
        """
        found = self.rows("SELECT json FROM results WHERE ordinal = ?", ordinal)
        if not found:
            raise KeyError(ordinal)
        return unpack_result(found[0][0], self.path)

    def results(self, measures: Iterable[Measure] = ()) -> StoredResults:
        """Return all results in ordinal order, as a sequence that reads them when they are asked for.

        Those of ``measures`` are read by their types, beside those of the installed measures; others are `UnknownResult`.
        """
        return StoredResults(self, result_types(measures), unmerged=self._unmerged)

    @property
    def meta(self) -> StoredMeta:
        """What is known of the evaluation as a whole, as a mapping of names to JSON values."""
        return StoredMeta(self)

    @property
    def finished(self) -> bool:
        """Return whether the evaluation ran to its end."""
        return bool(self.meta.get(_FINISHED))

    @finished.setter
    def finished(self, finished: bool) -> None:
        self.meta[_FINISHED] = finished

    @property
    def spending(self) -> UsageReport:
        """Return what remote models were asked for the evaluation, over all the runs it took."""
        return UsageReport.from_dict(self.meta.get(_SPENDING, UsageReport().to_dict()))

    def check(self) -> None:
        """Read the file through in search of damage.

        Raises:
            StoreError: it is damaged.
        """
        with self._reachable():
            refuse_damage(self._connection, self.path)

    def clear(self) -> None:
        """Remove every result and everything in ``meta``."""
        with self.transaction() as connection:
            _remove_all(connection)

    def scrub(self) -> None:
        """Write the file anew without what was removed from it, of which nothing can be read any more then."""
        with self._reachable():
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        with self._reachable():
            self._closing()

    def rows(self, statement: str, *parameters: object) -> list[Any]:
        """Run one reading statement."""
        with self._reachable():
            return self._connection.execute(statement, parameters).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run statements, all or none, while no other process writes.

        Raises:
            StoreError: they cannot be written, or the file was removed or replaced since the store was opened.
        """
        with self._reachable(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._refuse_replaced()
            yield self._connection

    def _refuse_replaced(self) -> None:
        """Refuse to write where nobody would find it: SQLite goes on with a file that has no name any more."""
        if (found := _identity(self._place)) is None:
            problem = f"The store {self.path} was removed while it was written; what it held is lost, run the command again"
            raise StoreError(problem)
        if found != self._file:
            problem = f"The store {self.path} was replaced by another file while it was written; name another, and run again"
            raise StoreError(problem)

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        if os.getpid() != self._process:
            problem = f"The store {self.path} was opened before this process was forked off; open it anew in this process"
            raise StoreError(problem)
        with self._lock, translating_store_errors(self.path):
            yield

    def __len__(self) -> int:
        return len(self.results())

    def __bool__(self) -> bool:
        return True  # an empty store is a store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from others, whatever it is called; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _remove_all(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM results")
    connection.execute("DELETE FROM meta")


class StoredMeta(MutableMapping[str, Any]):
    """What is known of the evaluation as a whole: JSON values by name, written as they are set."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getitem__(self, name: str) -> Any:
        found = self._store.rows("SELECT value FROM meta WHERE name = ?", name)
        if not found:
            raise KeyError(name)
        try:
            return json.loads(found[0][0])
        except (ValueError, TypeError) as damaged:
            problem = f"{self._store.path} holds a {name!r} that cannot be read ({damaged}); measure again into a new store"
            raise CorruptFileError(problem) from damaged

    def __setitem__(self, name: str, value: Any) -> None:
        with self._store.transaction() as connection:
            connection.execute(_SET, (name, json.dumps(value)))

    def __delitem__(self, name: str) -> None:
        with self._store.transaction() as connection:
            if not connection.execute("DELETE FROM meta WHERE name = ?", (name,)).rowcount:
                raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter([name for (name,) in self._store.rows("SELECT name FROM meta ORDER BY name")])

    def __len__(self) -> int:
        return int(self._store.rows("SELECT COUNT(*) FROM meta")[0][0])


class StoredResults(Sequence[TraceResult]):
    """The results of a store in ordinal order, read in chunks whenever they are iterated, never all held.

    Those that could not be merged follow; the store is then read as it was when they were.
    """

    def __init__(
        self, store: Store, result_type: ResultType = result_type_of, *, chunk: int = 64, unmerged: Unmerged | None = None
    ) -> None:
        self._store = store
        self._result_type = result_type
        self._chunk = chunk
        self._last, self._more = (_LAST, ()) if unmerged is None else (unmerged.last, unmerged.packed)

    def __len__(self) -> int:
        return self._stored + len(self._more)

    def __iter__(self) -> Iterator[TraceResult]:
        last = -(1 << 63)
        while rows := self._store.rows(_AFTER, last, self._last, self._chunk):
            yield from (self._unpack(content) for _, content in rows)
            last = rows[-1][0]
        yield from map(self._unpack, self._more)

    @overload
    def __getitem__(self, index: int) -> TraceResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[TraceResult]: ...
    def __getitem__(self, index: int | slice) -> TraceResult | list[TraceResult]:
        positions = range(len(self))
        if isinstance(index, slice):
            return self._at(positions[index])
        return self._at([positions[index]])[0]

    @property
    def _stored(self) -> int:
        return int(self._store.rows(_COUNT, self._last)[0][0])

    def _at(self, positions: Sequence[int]) -> list[TraceResult]:
        if not positions:
            return []
        first, stored = min(positions), self._stored
        rows = self._store.rows(_RANGE, self._last, max(positions) - first + 1, first)
        packed = [content for (content,) in rows] + list(self._more[max(0, first - stored) :])
        return [self._unpack(packed[position - first]) for position in positions]

    def _unpack(self, content: bytes) -> TraceResult:
        return unpack_result(content, self._store.path, self._result_type)
