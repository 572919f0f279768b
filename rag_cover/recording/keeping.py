"""Recorded traces and results kept in files, as they come."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from rag_cover.errors import StoreError
from rag_cover.results import TraceResult
from rag_cover.stores import Store
from rag_cover.traces import Trace

__all__ = ["Keeping"]


class Keeping:
    """The trace file that traces are added to, and the store that results are kept in; each None where there is none.

    Raises:
        StoreError: one of them cannot be used.
    """

    def __init__(self, traces: Path | str | None, store: Path | str | None, *, seed: int) -> None:
        self._lock = threading.Lock()
        self._file = None if traces is None else _opened(Path(traces))
        self._store = None if store is None else Store.open(store)
        self._seed, self._ordinal = seed, 0
        if self._store is not None:
            self._store.clear()

    def add_trace(self, trace: Trace) -> None:
        """Add a trace to the file, on disk before this returns.

        Raises:
            OSError: it cannot be written.
        """
        if self._file is not None:
            line = trace.to_json().encode() + b"\n"
            with self._lock:
                self._file.write(line)

    def add_results(self, results: Sequence[tuple[str, TraceResult]], *, judge: str, measures: Sequence[str]) -> None:
        """Add results, each with its content key, to the store.

        Raises:
            StoreError: it cannot be written.
        """
        if self._store is None:
            return
        if not self._ordinal:
            self._store.meta["evaluation"] = {"judge": judge, "measures": list(measures), "seed": self._seed}
        items = [(self._ordinal + number, key, result) for number, (key, result) in enumerate(results)]
        self._store.append(items)
        self._ordinal += len(items)

    def close(self) -> None:
        """Close both; the store holds a finished evaluation then."""
        if self._file is not None:
            self._file.close()
        if self._store is not None:
            self._store.finished = True
            self._store.close()


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("ab", buffering=0)
    except OSError as broken:
        message = f"{path} cannot be written to: {broken.strerror or broken}; name another file for the traces"
        raise StoreError(message) from broken
