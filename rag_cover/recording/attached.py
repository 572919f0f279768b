"""Recordings that are attached: attaching again with the same options gives the one that is open."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakValueDictionary

from rag_cover.recording.identities import equality_key
from rag_cover.recording.recorder import Recording

__all__ = ["attach_once"]

_open: WeakValueDictionary[Hashable, Recording] = WeakValueDictionary()
_lock = threading.RLock()


def attach_once(listened: object, options: Mapping[str, Any], attach: Callable[[], Recording]) -> Recording:
    """Return the open recording that listens to something with these options, else a new one.

    So that a cell of a notebook that is run again records no question twice. Options are the same by value; models and other
    objects, by which object they are; functions, by what they do.

    Args:
        listened: what is listened to, such as the framework's dispatcher of events.
        options: what the recording is made with, by name.
        attach: makes a recording that listens.
    """
    key = (id(listened), tuple((name, _identity(value)) for name, value in sorted(options.items())))
    with _lock:
        known = _open.get(key)
        if known is None or not known.is_attached:
            known = attach()
            known.hold(options)  # what the key names by its id lives as long
            _open[key] = known
        return known


def _identity(value: object) -> Hashable:
    match value:
        case Mapping():
            return tuple((str(name), _identity(item)) for name, item in sorted(value.items(), key=str))
        case list() | tuple():
            return tuple(map(_identity, value))
        case FunctionType() if value.__closure__ is None:
            return (value.__module__, value.__qualname__, _code(value.__code__), id(value.__globals__))
        case _:
            return equality_key(value)


def _code(code: CodeType) -> Hashable:
    constants = tuple(_code(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts)
    return (code.co_code, code.co_names, constants)
