"""Who measures which trace of an evaluation: several processes share the work on one store, and none is done twice.

A run claims traces in the transaction that looks which are done, and gives the claims up in the one that keeps the results.
What a living run has claimed is left to it; a dead run's claims are taken over. A run that was taken for dead and was only
slow does no harm: of two results of one trace the first stays, and what the slower one spent is counted.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rag_cover.errors import StoreError
from rag_cover.llm.usage import UsageReport
from rag_cover.measures import TraceResult
from rag_cover.stores.heartbeats import BEAT_S, HeartbeatMonitor, process_ended, process_identity
from rag_cover.stores.packing import is_whole, packed
from rag_cover.stores.sqlite import Store

__all__ = ["Claimable", "Lot", "Worker", "join_store"]

About = Mapping[str, Any]
Carried = TypeVar("Carried")

_FAILED = ":failed"  # ends the key of a result with a failure: no trace has such a key, so a later run measures it again
_PAUSE_S = 0.2

_KEEP = """INSERT INTO results (ordinal, key, trace_id, json, during)
    VALUES (?, ?, ?, ?, (SELECT seq FROM sqlite_sequence WHERE name = 'runs'))
    ON CONFLICT (ordinal) DO UPDATE
    SET key = excluded.key, trace_id = excluded.trace_id, json = excluded.json, during = excluded.during
    WHERE results.key != ?"""
_BEAT = "INSERT INTO runs (run, beats, home) VALUES (?, 1, ?) ON CONFLICT (run) DO UPDATE SET beats = beats + 1"
_DAMAGED = "DELETE FROM results WHERE ordinal = ? AND key = ?"  # were it whole, it would not be measured again
_SET = "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)"


@dataclass(frozen=True, slots=True)
class Claimable(Generic[Carried]):
    """A trace that may have to be measured: its place, the content key that its result will have, and the trace itself."""

    ordinal: int
    key: str
    carried: Carried


@dataclass(frozen=True, slots=True)
class Lot(Generic[Carried]):
    """What became of some traces: ``mine`` are for this run to measure, ``theirs`` another has claimed, the rest is done."""

    mine: Sequence[Claimable[Carried]]
    theirs: Sequence[Claimable[Carried]]
    done: int
    failed: int


@contextmanager
def join_store(store: Store, about: About, *, resume: bool) -> Iterator[Worker]:
    """Take part in the evaluation that is ``about`` this, as one run of it; without ``resume`` it is begun anew.

    Raises:
        StoreError: the store holds an unfinished evaluation and ``resume`` is False, is damaged, or a living process fills it
            with another evaluation.
    """
    share = Worker(store, about, HeartbeatMonitor())
    share.begin(resume=resume)
    try:
        with _beating(share):
            yield share
    finally:
        share.leave()


class Worker:
    """One run's share of the work on a store."""

    def __init__(self, store: Store, about: About, watch: HeartbeatMonitor) -> None:
        self.store = store
        self._about = json.dumps(about)
        self._watch = watch
        self._home = process_identity(os.getpid())
        self._run = 0

    def begin(self, *, resume: bool) -> None:
        """Enter this run; where others that do something else may be alive, wait until it is known."""
        if len(self.store):
            self.store.check()
        while not self._entered(resume=resume):
            self.pause()

    def take(self, wanted: Sequence[Claimable[Carried]]) -> Lot[Carried]:
        """Claim what is neither done nor claimed by another run that lives."""
        with self.store.transaction() as connection:
            self._bury(connection)
            connection.execute(_BEAT, (self._run, self._home))
            done = self._done(connection, wanted)
            theirs = self._claimed(connection, wanted)
            left = [each for each in wanted if each.ordinal not in done]
            mine = [each for each in left if each.ordinal not in theirs]
            connection.executemany(_DAMAGED, [(each.ordinal, each.key) for each in mine])
            connection.executemany("INSERT INTO claims VALUES (?, ?)", [(each.ordinal, self._run) for each in mine])
        return Lot(mine, [each for each in left if each.ordinal in theirs], len(done), sum(done.values()))

    def keep(self, results: Sequence[tuple[int, str, TraceResult]], spent: UsageReport) -> None:
        """Keep results and add what they cost, all or none; where another run has kept one meanwhile, that one stays.

        Raises:
            StoreError: it cannot be written, or another evaluation was begun in the store.
        """
        rows = [_row(ordinal, key, result) for ordinal, key, result in results]
        with self.store.transaction() as connection:
            self._refuse_another(connection)
            connection.executemany(_KEEP, rows)
            claims = [(ordinal, self._run) for ordinal, *_ in results]
            connection.executemany("DELETE FROM claims WHERE ordinal = ? AND run = ?", claims)
            _add(connection, spent)

    def finish(self, length: int) -> None:
        """Mark the evaluation as whole; the last of its runs removes the results of traces that are no longer there."""
        while not self._ended(length):
            self.pause()

    def pause(self) -> None:
        """Wait a moment for the other runs."""
        time.sleep(_PAUSE_S)

    def beat(self) -> None:
        """Show that this run lives."""
        with self.store.transaction() as connection:
            connection.execute(_BEAT, (self._run, self._home))

    def leave(self) -> None:
        """Give up what this run has claimed and not measured, at once or not at all: it is found dead then."""
        with suppress(StoreError), self.store.at_once(), self.store.transaction() as connection:
            connection.execute("DELETE FROM claims WHERE run = ?", (self._run,))
            connection.execute("DELETE FROM runs WHERE run = ?", (self._run,))

    def _entered(self, *, resume: bool) -> bool:
        with self.store.transaction() as connection:
            others = self._bury(connection)
            if not resume:
                self._refuse_unfinished()
            if others and not (resume and self._is_ours(connection)):
                self._refuse_alive(others)
                return False
            if not resume:
                connection.execute("DELETE FROM results")
                connection.execute("DELETE FROM meta")
            connection.executemany(_SET, [("finished", "false"), ("evaluation", self._about)])
            self._run = int(connection.execute("INSERT INTO runs (beats, home) VALUES (1, ?)", (self._home,)).lastrowid or 0)
        return True

    def _ended(self, length: int) -> bool:
        with self.store.transaction() as connection:
            others = self._bury(connection)
            surplus = connection.execute("SELECT 1 FROM results WHERE ordinal >= ? LIMIT 1", (length,)).fetchone()
            if surplus and not all(self._watch.is_alive(run) for run in others):
                return False
            self._refuse_another(connection)
            if not others:
                connection.execute("DELETE FROM results WHERE ordinal >= ?", (length,))
            connection.execute(_SET, ("finished", "true"))
        return True

    def _bury(self, connection: sqlite3.Connection) -> list[int]:
        """Forget the runs that are dead and what they had claimed; return the others but this one."""
        rows = connection.execute("SELECT run, beats, home FROM runs WHERE run != ?", (self._run,)).fetchall()
        self._watch.look({run: beats for run, beats, _ in rows})
        dead = [run for run, _, home in rows if self._watch.is_dead(run) or process_ended(home)]
        connection.executemany("DELETE FROM runs WHERE run = ?", [(run,) for run in dead])
        connection.executemany("DELETE FROM claims WHERE run = ?", [(run,) for run in dead])
        return [run for run, *_ in rows if run not in dead]

    def _done(self, connection: sqlite3.Connection, wanted: Sequence[Claimable[Carried]]) -> dict[int, bool]:
        """Tell which results are there, and whether each failed: a failure counts only if this run could not have mended it."""
        keys = {each.ordinal: each.key for each in wanted}
        rows = connection.execute(_among("SELECT ordinal, key, json, during FROM results", keys), list(keys)).fetchall()
        return {
            ordinal: key != keys[ordinal]
            for ordinal, key, content, during in rows
            if (key == keys[ordinal] or (key == keys[ordinal] + _FAILED and during >= self._run)) and is_whole(content)
        }

    def _claimed(self, connection: sqlite3.Connection, wanted: Sequence[Claimable[Carried]]) -> set[int]:
        ordinals = [each.ordinal for each in wanted]
        return {ordinal for (ordinal,) in connection.execute(_among("SELECT ordinal FROM claims", ordinals), ordinals)}

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        found = connection.execute("SELECT value FROM meta WHERE name = 'evaluation'").fetchone()
        return found is not None and found[0] == self._about

    def _refuse_unfinished(self) -> None:
        if len(self.store) and not self.store.finished:
            message = (
                f"{self.store.path} holds an unfinished evaluation ({len(self.store)} traces done); "
                "go on with it (resume=True, --resume) or delete the file to begin anew"
            )
            raise StoreError(message)

    def _refuse_alive(self, others: Sequence[int]) -> None:
        if any(self._watch.is_alive(run) for run in others):
            message = (
                f"{self.store.path} is being filled by another process; share its work by the same measures and models "
                "(resume=True, --resume), wait until it ends, or name another store"
            )
            raise StoreError(message)

    def _refuse_another(self, connection: sqlite3.Connection) -> None:
        if not self._is_ours(connection):
            message = f"Another evaluation was begun in {self.store.path} while this process stood still; name another store"
            raise StoreError(message)


@contextmanager
def _beating(share: Worker) -> Iterator[None]:
    """Raise the run's counter while the work goes on."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_S):
            with suppress(StoreError):  # one beat less; who works meets the same error and tells it
                share.beat()

    thread = threading.Thread(target=beat, name="rag-cover-beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _row(ordinal: int, key: str, result: TraceResult) -> tuple[int, str, str | None, bytes, str]:
    return ordinal, key + _FAILED if result.failures else key, result.trace.id, packed(result), key


def _add(connection: sqlite3.Connection, spent: UsageReport) -> None:
    if spent == UsageReport():
        return
    found = connection.execute("SELECT value FROM meta WHERE name = 'spending'").fetchone()
    before = UsageReport.from_dict(json.loads(found[0])) if found else UsageReport()
    connection.execute(_SET, ("spending", json.dumps((before + spent).to_dict())))


def _among(statement: str, ordinals: Mapping[int, object] | Sequence[int]) -> str:
    return f"{statement} WHERE ordinal IN ({','.join('?' * len(ordinals))})"
