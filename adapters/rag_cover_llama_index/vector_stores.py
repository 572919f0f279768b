"""Vector stores that a pipeline queries itself, without a retriever: their ``query`` made a span, as LlamaIndex's mixin does.

LlamaIndex gives spans to retrievers, and none to vector stores. While something is recorded, the stores' own classes have them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR

__all__ = ["unwatch_vector_stores", "watch_vector_stores"]

_METHODS = ("query", "aquery")

_lock = threading.Lock()
_watched: dict[tuple[type, str], Any] = {}
"""The methods as they were, by class and name."""
_watchers: set[int] = set()


def watch_vector_stores(watcher: object) -> None:
    """Give the queries of all vector stores that are known by now spans, until `unwatch_vector_stores` is called for all."""
    with _lock:
        _watchers.add(id(watcher))
        for store, name in _list_methods(BasePydanticVectorStore):
            if (store, name) not in _watched:
                method = vars(store)[name]
                _watched[store, name] = method
                setattr(store, name, get_dispatcher(__name__).span(method))


def unwatch_vector_stores(watcher: object) -> None:
    """Stop watching; the last one gives the methods back."""
    with _lock:
        if id(watcher) in _watchers:
            _watchers.remove(id(watcher))
            if not _watchers:
                for (store, name), method in _watched.items():
                    setattr(store, name, method)
                    with suppress(AttributeError):
                        delattr(method, DISPATCHER_SPAN_DECORATED_ATTR)  # else it is never decorated again
                _watched.clear()


def _list_methods(kind: type) -> Iterator[tuple[type, str]]:
    for store in (kind, *kind.__subclasses__()):
        for name in _METHODS:
            if callable(vars(store).get(name)) and not getattr(vars(store)[name], "__isabstractmethod__", False):
                yield store, name
    for store in kind.__subclasses__():
        yield from _list_methods(store)
