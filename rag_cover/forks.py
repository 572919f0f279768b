"""What a process that is forked off begins anew: threads and queues, and locks that a thread of the parent may have held."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakMethod

__all__ = ["reset_after_fork"]

_methods: list[WeakMethod[Callable[[], object]]] = []


def reset_after_fork(method: Callable[[], object]) -> None:
    """Call a method of an object in every process that is forked off from now on, for as long as the object is alive.

    Methods are called in the order in which they were given; what one raises costs no other its turn. Where processes cannot be
    forked, nothing is done.
    """
    _methods[:] = [each for each in _methods if each() is not None]
    _methods.append(WeakMethod(method))


def _reset_all() -> None:
    for each in _methods:
        if (method := each()) is not None:
            with suppress(Exception):
                method()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)
