"""How often a model for tests was asked."""

from __future__ import annotations

from threading import Lock

__all__ = ["Counter"]


class Counter:
    """How often a model was called, and with how many items in all.

    >>> counter = Counter()
    >>> counter.count(3)
    >>> counter.calls, counter.items
    (1, 3)
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls = self._items = 0

    @property
    def calls(self) -> int:
        """Return the number of calls."""
        return self._calls

    @property
    def items(self) -> int:
        """Return the number of items over all calls."""
        return self._items

    def count(self, items: int) -> None:
        """Note one call with so many items."""
        with self._lock:
            self._calls += 1
            self._items += items

    def __reduce__(self) -> tuple[type[Counter], tuple[()]]:
        """Travel to another process as a fresh counter: a lock cannot."""
        return Counter, ()
