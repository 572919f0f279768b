"""Which conversation a turn belongs to, and what the host said of it by LlamaIndex's ``instrument_tags``."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.memory import BaseMemory
from llama_index.core.workflow import StartEvent

from rag_cover.recording import Call

__all__ = ["name_thread", "read_tags"]

_THREADS = ("thread_id", "session_id", "conversation_id", "session.id")
_USERS = ("user_id", "user.id")
_COMMON_KEY = "chat_history"  # of all buffers for which nobody chose one

_threads: dict[int, str] = {}
"""Names of conversations whose memory has none of its own, by its id; an entry goes with its object."""


def read_tags(call: Call, tags: Mapping[str, Any] | None) -> None:
    """Note what ``instrument_tags`` hold: thread, user and tags by their usual names, all else as metadata."""
    if not tags:
        return
    call.thread_id = next(filter(None, (_text(tags.get(name)) for name in _THREADS)), None)
    call.user_id = next(filter(None, (_text(tags.get(name)) for name in _USERS)), None)
    given = tags.get("tags")
    call.tags = [each for each in map(_text, given if isinstance(given, list | tuple) else [given]) if each]
    call.metadata = {name: value for name, value in tags.items() if name not in (*_THREADS, *_USERS, "tags")}


def name_thread(instance: object, arguments: Mapping[str, Any]) -> str | None:
    """Name the conversation of a chat turn or an agent's run; None where it is none, or nothing tells which.

    That is the memory's session, else the memory itself. A turn whose history was handed over is one of a conversation that
    only the caller knows, and so is an agent's run with a context: a recording does not see it.
    """
    if isinstance(instance, BaseQueryEngine) or arguments.get("chat_history"):
        return None
    event = arguments.get("start_event")
    memory = event.get("memory", None) if isinstance(event, StartEvent) else getattr(instance, "_memory", None)
    if not isinstance(memory, BaseMemory):
        return None
    key = _text(getattr(memory, "session_id", None)) or _text(getattr(memory, "chat_store_key", None))
    return key if key is not None and key != _COMMON_KEY else _name(memory)


def _name(kept: object) -> str | None:
    """Name an object, the same as long as it lives."""
    if id(kept) not in _threads:
        try:
            weakref.finalize(kept, _threads.pop, id(kept), None).atexit = False
        except TypeError:  # it cannot be watched
            return None
    return _threads.setdefault(id(kept), str(uuid4()))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else str(value) if isinstance(value, int) else None
