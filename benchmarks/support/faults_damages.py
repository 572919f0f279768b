"""How the file of a store is damaged, and moved away."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path


def _log(store: Path) -> Path:
    return store.with_name(store.name + "-wal")


def _checkpointed(store: Path) -> None:
    """Bring what the log holds into the file, as the next process to close the store would."""
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _overwritten(store: Path, rng: random.Random) -> None:
    _checkpointed(store)
    _overwrite(store, rng)


def _log_overwritten(store: Path, rng: random.Random) -> None:
    _overwrite(_log(store), rng)


def _truncated(store: Path, rng: random.Random) -> None:
    _checkpointed(store)
    os.truncate(store, rng.randrange(store.stat().st_size))


def _log_missing(store: Path, _: random.Random) -> None:
    for end in ("-wal", "-shm"):
        store.with_name(store.name + end).unlink(missing_ok=True)


def _overwrite(file: Path, rng: random.Random) -> None:
    with file.open("r+b") as raw:
        raw.seek(rng.randrange(max(1, file.stat().st_size - 64)))
        raw.write(rng.randbytes(64))


def move_away(store: Path) -> None:
    """Do as the error of a damaged store says."""
    for end in ("", "-wal", "-shm"):
        store.with_name(store.name + end).unlink(missing_ok=True)


DAMAGES: Mapping[str, Callable[[Path, random.Random], None]] = {
    "damaged: 64 bytes overwritten": _overwritten,
    "damaged: cut off": _truncated,
    "damaged: 64 bytes of the log overwritten": _log_overwritten,
    "damaged: the log is missing": _log_missing,
}
