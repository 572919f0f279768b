"""One writer at a time: a lock of the operating system beside a store, and a note that says who holds it.

The system gives the lock back when its process ends, however it ends, so that a process that died holds nothing. Reading needs
no lock. On a file system without such locks, `filelock` falls back to a file that is there while the lock is held.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rag_cover.errors import StoreError, StoreInUseError

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["HeldLock", "Holder", "acquire", "hold", "lock_beside"]

_PATIENCE_S = 2.0  # who opens a store may hold its lock for a moment, to merge what recordings added


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A lock that was taken. It is held until it is released or its process ends; a process that is forked off has no part."""

    path: Path
    lock: BaseFileLock

    def release(self) -> None:
        """Give it back, and remove its file: who waits for that one finds it removed, and begins another (`filelock`)."""
        with suppress(OSError):  # such as on Windows, where it is removed by itself
            self.path.unlink()
        self.lock.release()


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lock, since when (UTC), and the name of its program."""

    process: int
    host: str
    since: str
    command: str

    @classmethod
    def this_process(cls) -> Holder:
        """Describe this process; its arguments are left out, since they may hold secrets."""
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        return cls(os.getpid(), platform.node(), since, Path(sys.argv[0]).name or Path(sys.executable).name)

    @classmethod
    def read(cls, note: Path) -> Holder | None:
        """Read what a holder wrote; None where it is not there yet, or cannot be read."""
        try:
            return cls(**json.loads(note.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def __str__(self) -> str:
        return f"process {self.process} on {self.host} since {self.since} ({self.command})"


def lock_beside(path: Path) -> Path:
    """Name the lock of a file: beside it, whatever link the file is reached by.

    >>> lock_beside(Path("/runs/results.sqlite")).name
    'results.sqlite.lock'
    """
    real = path.resolve()
    return real.with_name(f"{real.name}.lock")


def acquire(lock: Path, *, patience_s: float = 0.0) -> HeldLock | None:
    """Take a lock; None where another process, or another holder in this one, has it for so many seconds.

    Raises:
        StoreError: the lock cannot be made.
    """
    from filelock import FileLock, Timeout  # only who writes waits for it to be loaded

    taken = FileLock(lock, timeout=patience_s, thread_local=False)
    try:
        taken.acquire()
    except Timeout:
        return None
    except OSError as denied:
        message = (
            f"{lock} cannot be made ({denied.strerror or denied}); check that its folder exists and can be written, or give "
            "another store"
        )
        raise StoreError(message) from denied
    return HeldLock(lock, taken)


@contextmanager
def hold(path: Path, lock: Path | None = None) -> Iterator[None]:
    """Be the only one that writes a store; ``lock`` is a file beside it, by default.

    Raises:
        StoreInUseError: another process writes it.
        StoreError: the lock cannot be made.
    """
    lock = lock or lock_beside(path)
    note = lock.with_name(f"{lock.name}.json")
    if (held := acquire(lock, patience_s=_PATIENCE_S)) is None:
        raise StoreInUseError(path, str(Holder.read(note) or "another process"))
    try:
        with suppress(OSError):  # on a full disk the lock holds all the same
            note.write_text(json.dumps(asdict(Holder.this_process())), encoding="utf-8")
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)
        held.release()
