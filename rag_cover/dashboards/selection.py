"""Which traces a dashboard is about: those with a tag, of a conversation, with a value in their metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag_cover.traces import Trace

__all__ = ["TraceSelection"]


@dataclass(frozen=True, slots=True)
class TraceSelection:
    """Traces with any of these tags, of any of these conversations, and for each key with any of its values.

    What is empty selects all. Values of the metadata are compared as they are written: text as it is, anything else as JSON.
    """

    tags: Sequence[str] = ()
    sessions: Sequence[str] = ()
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.tags or self.sessions or self.where)

    def has(self, trace: Trace) -> bool:
        """Return whether a trace is among them.

        >>> from rag_cover.questions import Question
        >>> trace = Trace(question=Question("Why?"), tags=("beta",), metadata={"top": 5})
        >>> TraceSelection(tags=["beta"], where={"top": ["4", "5"]}).has(trace), TraceSelection(sessions=["a"]).has(trace)
        (True, False)
        """
        return (
            (not self.tags or not set(self.tags).isdisjoint(trace.tags))
            and (not self.sessions or trace.thread_id in self.sessions)
            and all(key in trace.metadata and _write(trace.metadata[key]) in values for key, values in self.where.items())
        )

    def __str__(self) -> str:
        parts = [f"tag {tag}" for tag in self.tags] + [f"session {session}" for session in self.sessions]
        return ", ".join(parts + [f"{key}={value}" for key, values in self.where.items() for value in values])


def _write(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
