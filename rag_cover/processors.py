"""How many processors this process may keep busy."""

from __future__ import annotations

import os

__all__ = ["allot", "usable_processors"]

_allotted: list[int] = []


def usable_processors() -> int:
    """Return how many threads are worth having: what the process was allotted, else what the system lets it run on."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _allotted[-1]) if _allotted else available


def allot(number: float) -> None:
    """Allot the process so many processors, one at least: an engine does so where it runs several workers on one machine.

    Models that are opened afterwards go by it.
    """
    _allotted.append(max(1, int(number)))
