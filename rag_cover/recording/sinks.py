"""Recorded traces and results kept in files, as they come."""

from __future__ import annotations

import errno
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from rag_cover.errors import StoreError
from rag_cover.measures import TraceResult
from rag_cover.redaction import Redaction, redaction_entry, refuse_other_redaction
from rag_cover.stores import Store
from rag_cover.traces import Trace

__all__ = ["RecordingSinks"]

_ABOUT = "evaluation"


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
        self._lock = threading.Lock()
        self._file = None if traces is None else _opened(Path(traces))
        self._store = None if store is None else Store.open(store)
        self._measures, self._seed, self._torn = tuple(measures), seed, False
        self._redaction = redaction
        if self._store is not None:
            refuse_other_redaction(self._store.meta.get(_ABOUT), redaction, self._store.path)
            self._refuse_other(self._store, "measures", list(measures))

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

    def add_results(self, results: Sequence[tuple[str, TraceResult]], *, judge: str) -> None:
        """Add results, each with its content key, to the store.

        Raises:
            StoreError: it cannot be written, or holds the results of another judge.
        """
        if self._store is None:
            return
        if not self._refuse_other(self._store, "judge", judge):
            redacted = redaction_entry(self._redaction)
            self._store.meta[_ABOUT] = {"judge": judge, "measures": list(self._measures), "seed": self._seed, **redacted}
        self._store.extend(results)

    def _write(self, file: BinaryIO, line: bytes) -> None:
        """Write a line; one that a full disk cuts off is ended before the next, which is whole again."""
        content = b"\n" + line if self._torn else line
        self._torn = True
        if (written := file.write(content)) < len(content):
            message = f"the disk is full: {written} of {len(content)} bytes were written"
            raise OSError(errno.ENOSPC, message)
        self._torn = False

    @staticmethod
    def _refuse_other(store: Store, name: str, value: object) -> bool:
        """Refuse a store whose results would not be one evaluation together with ours; tell whether it says what it holds."""
        about = store.meta.get(_ABOUT)
        if about and (known := about.get(name, value)) != value:
            message = f"{store.path} holds results of another kind ({name}: {known}, not {value}); name another file"
            raise StoreError(message)
        return about is not None

    def close(self) -> None:
        """Close both; the store holds a finished evaluation then."""
        if self._file is not None:
            self._file.close()
        if self._store is not None:
            try:
                self._store.finished = True
            finally:
                self._store.close()


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("ab", buffering=0)
    except OSError as broken:
        message = f"{path} cannot be written to: {broken.strerror or broken}; name another file for the traces"
        raise StoreError(message) from broken
