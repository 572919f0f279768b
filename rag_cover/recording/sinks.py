"""Recorded traces and results kept in files, as they come."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from rag_cover.errors import StoreError
from rag_cover.forks import reset_after_fork
from rag_cover.measures import TraceResult
from rag_cover.private_files import open_private
from rag_cover.recording.notifications import LOG
from rag_cover.redaction import Redaction, redaction_entry, refuse_other_redaction
from rag_cover.stores import Store, StoredMeta
from rag_cover.stores.journals import has_abandoned
from rag_cover.stores.locks import HeldLock
from rag_cover.stores.store_parts import make_parts_folder, new_part
from rag_cover.traces import Trace

__all__ = ["PartWriter", "RecordingSinks"]

_ABOUT, _FINISHED = "evaluation", "finished"
_DESCRIBE = "INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)"


class PartWriter:
    """Adds results to a store by a part of this process's own (`rag_cover.stores.store_parts`).

    The part is begun with the first results; a process that is forked off begins another one. A ``place`` is a part that the
    caller has locked, and goes on with. What is added is on disk when `add` returns. Closing merges the part, unless another
    process writes the store at that moment: then the next that opens the store does.

    Raises:
        StoreError: the store or its folder cannot be written, or the store holds results of other measures, or redacted in
            another way.
    """

    _part: Store | None
    _place: tuple[Path, HeldLock] | None
    _is_described: bool

    def __init__(
        self,
        path: Path,
        *,
        measures: Sequence[str],
        seed: int,
        redaction: Redaction | None = None,
        place: tuple[Path, HeldLock] | None = None,
    ) -> None:
        self._path, self._closed = path, False
        self._about = {"measures": list(measures), "seed": seed, **redaction_entry(redaction)}
        self._open()
        refuse_other_redaction(self._store.meta.get(_ABOUT), redaction, path)
        self._refuse_other({"measures": list(measures)})
        make_parts_folder(path)
        self._place = place

    @property
    def part_meta(self) -> StoredMeta:
        """Return what is known of the part, beside its results."""
        return self._open_part().meta

    def add(
        self,
        results: Sequence[tuple[str, TraceResult]],
        *,
        judged_by: Mapping[str, Any],
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Add results, each with its content key; what ``meta`` says of the part is set with them, all or none.

        Raises:
            StoreError: they cannot be written, or the store holds the results of another judge.
        """
        if os.getpid() != self._process:
            self._open()
        about = {**judged_by, **self._about}
        if self._store.meta.get(_ABOUT) is None:
            with self._store.transaction() as connection:
                connection.execute(_DESCRIBE, (_ABOUT, json.dumps(about)))
        self._refuse_other({"judge": judged_by["judge"], "measures": about["measures"]})
        part = self._open_part()
        if not self._is_described:
            part.meta[_ABOUT] = about
            self._is_described = True
        part.extend(results, meta=meta)

    def close(self) -> None:
        """Merge the part; the store holds a finished evaluation then."""
        if self._closed or os.getpid() != self._process:  # a process that was forked off, and has added nothing
            return
        self._closed = True
        try:
            if self._part is not None:
                self._part.close()
            if self._place is not None:
                self._place[1].release()
            self._store.merge_parts()
            self._store.meta.setdefault(_FINISHED, True)
        finally:
            self._store.close()

    def _open_part(self) -> Store:
        """Open the part; where that failed, as on a full disk, another attempt is at the same one."""
        if self._place is None:
            self._place = new_part(self._path)
        if self._part is None:
            self._part = Store.open(self._place[0])
        return self._part

    def _open(self) -> None:
        self._process = os.getpid()
        self._store = Store.open(self._path)
        self._part = self._place = None
        self._is_described = False

    def _refuse_other(self, ours: Mapping[str, Any]) -> None:
        """Refuse a store whose results would not be one evaluation together with ours."""
        about = self._store.meta.get(_ABOUT) or {}
        for name, value in ours.items():
            if (known := about.get(name, value)) != value:
                message = f"{self._path} holds results of another kind ({name}: {known}, not {value}); name another file"
                raise StoreError(message)


class RecordingSinks:
    """The trace file that traces are added to, and the store that results are added to; each None where there is none.

    What an earlier recording kept there stays: results follow on it, if the same was measured by the same judge.

    Raises:
        StoreError: one of them cannot be used, or the store holds results of other measures, or redacted in another way.
    """

    def __init__(
        self,
        traces: Path | str | None,
        store: Path | str | None,
        *,
        measures: Sequence[str],
        seed: int,
        redaction: Redaction | None = None,
    ) -> None:
        self._reset()
        reset_after_fork(self._reset)
        self._file = None if traces is None else _open_file(Path(traces))
        if store is not None and has_abandoned(Path(store)):
            LOG.warning("traces wait at %s to be measured: record with measuring='process', which measures them, too", store)
        self._store = None if store is None else PartWriter(Path(store), measures=measures, seed=seed, redaction=redaction)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._torn = False

    @property
    def stores_results(self) -> bool:
        """Tell whether there is a store."""
        return self._store is not None

    def add_trace(self, trace: Trace) -> None:
        """Add a trace to the file, on disk before this returns.

        Raises:
            OSError: it cannot be written.
        """
        if self._file is not None:
            line = trace.to_json().encode() + b"\n"
            with self._lock:
                self._write(self._file, line)

    def add_results(self, results: Sequence[tuple[str, TraceResult]], *, judged_by: Mapping[str, Any]) -> None:
        """Add results, each with its content key, to the store.

        Raises:
            StoreError: it cannot be written, or holds the results of another judge.
        """
        if self._store is not None:
            self._store.add(results, judged_by=judged_by)

    def _write(self, file: BinaryIO, line: bytes) -> None:
        """Write a line; one that a full disk cuts off is ended before the next, which is whole again."""
        content = b"\n" + line if self._torn else line
        self._torn = True
        if (written := file.write(content)) < len(content):
            message = f"the disk is full: {written} of {len(content)} bytes were written"
            raise OSError(errno.ENOSPC, message)
        self._torn = False

    def close(self) -> None:
        """Close both; the store holds a finished evaluation then."""
        if self._file is not None:
            self._file.close()
        if self._store is not None:
            self._store.close()


def _open_file(path: Path) -> BinaryIO:
    try:
        return open(path, "ab", buffering=0, opener=open_private)
    except OSError as broken:
        message = f"{path} cannot be written to: {broken.strerror or broken}; name another file for the traces"
        raise StoreError(message) from broken
