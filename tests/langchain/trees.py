"""Who called whom in a run, as LangChain's callbacks tell it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

__all__ = ["RunTree"]


class RunTree(BaseCallbackHandler):
    """Keeps the name, the parent, the tags and the metadata of every run, and custom events; raises what goes wrong in it."""

    raise_error = True

    def __init__(self) -> None:
        self.names: dict[UUID, str] = {}
        self.runs: list[tuple[str, str | None, tuple[str, ...], Mapping[str, Any]]] = []
        self.events: list[tuple[str, str | None, Any]] = []
        self._lock = threading.Lock()

    def of(self, name: str) -> list[str | None]:
        """Return the names of the runs that called those of this name."""
        return [parent for each, parent, _, _ in self.runs if each == name]

    def tags(self, name: str) -> list[tuple[str, ...]]:
        """Return the tags of the runs of this name."""
        return [tags for each, _, tags, _ in self.runs if each == name]

    def metadata(self, name: str, key: str) -> list[Any]:
        """Return what the metadata of the runs of this name have under a key."""
        return [metadata.get(key) for each, _, _, metadata in self.runs if each == name]

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self._begin(kwargs)

    def on_retriever_start(self, serialized: Any, query: str, **kwargs: Any) -> None:
        self._begin(kwargs)

    def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
        self._begin(kwargs)

    def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        self._begin({"name": serialized["name"]} | {key: value for key, value in kwargs.items() if value is not None})

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **kwargs: Any) -> None:
        with self._lock:
            self.events.append((name, self.names.get(run_id), data))

    def _begin(self, told: Mapping[str, Any]) -> None:
        with self._lock:
            name, parent = str(told.get("name")), self.names.get(told.get("parent_run_id"))  # type: ignore[arg-type]
            self.names[told["run_id"]] = name
            self.runs.append((name, parent, tuple(told.get("tags") or ()), told.get("metadata") or {}))
