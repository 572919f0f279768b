"""What is still open when the interpreter ends, closed while threads can still be begun.

Models run on pools of threads, which end before `atexit` is called: whatever would be measured then fails. The hook that those
pools end by is one of ``threading``'s own, run latest first; ours is registered after theirs.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401  # its hook must be there before ours
import threading
import time
from typing import Protocol
from weakref import WeakValueDictionary

__all__ = ["close_at_exit", "unregister"]

_PATIENCE_S = 10.0


class Closable(Protocol):
    """What can be closed within a time."""

    def close(self, timeout_s: float | None = None) -> None:
        """Finish what waits, for as long as there is time."""
        ...


_open: WeakValueDictionary[int, Closable] = WeakValueDictionary()
_hooked: list[bool] = []
_lock = threading.Lock()


def close_at_exit(closable: Closable) -> None:
    """Close something when the interpreter ends, unless `unregister` said before that it is, or nobody holds it any more.

    There are ten seconds for all together.
    """
    with _lock:
        _open[id(closable)] = closable
        if not _hooked:
            _hooked.append(True)
            getattr(threading, "_register_atexit", atexit.register)(_close_all)


def unregister(closable: Closable) -> None:
    """Forget something: it was closed."""
    with _lock:
        _open.pop(id(closable), None)


def _close_all() -> None:
    until = time.monotonic() + _PATIENCE_S
    for closable in list(_open.values()):
        closable.close(max(0.0, until - time.monotonic()))
