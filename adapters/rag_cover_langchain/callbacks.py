"""LangChain's callbacks, handed on to whoever notes what happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from rag_cover.recording import CallKind
from rag_cover_langchain.route_events import EVENT
from rag_cover_langchain.run_recorder import RunNotes
from rag_cover_langchain.runs import Run, read_inputs, read_tool, records_of, shown_in, tool_query, written_in

__all__ = ["RunCallbacks"]


class RunCallbacks(BaseCallbackHandler):
    """Hands LangChain's callbacks on to whoever notes them."""

    run_inline = True  # on the event loop itself: noting takes less than changing the thread

    @property
    def notes(self) -> Sequence[RunNotes]:
        """Return who notes them."""
        raise NotImplementedError

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **told: Any
    ) -> None:
        """Note that a chain began."""
        self._begin("other", serialized, run_id, parent_run_id, told, lambda run: read_inputs(run, inputs))

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **told: Any) -> None:
        """Note what a chain returned."""
        for notes in self.notes:
            with notes.suppress_and_record("noting an end"):
                notes.end(run_id, partial(notes.chain_ended, output=outputs, told=told))

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> None:
        """Note that a chain failed."""
        self._fail(run_id, error, told)

    def on_retriever_start(
        self, serialized: Any, query: str, *, run_id: UUID, parent_run_id: UUID | None = None, **told: Any
    ) -> None:
        """Note what is searched for."""
        self._begin("retriever", serialized, run_id, parent_run_id, told, lambda run: setattr(run, "query", query))

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **told: Any) -> None:
        """Note what was found."""
        del told
        self._end(run_id, lambda run: setattr(run, "passages", records_of(documents)))

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> None:
        """Note that a retriever failed."""
        self._fail(run_id, error, told)

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: UUID, parent_run_id: UUID | None = None, **told: Any
    ) -> None:
        """Note what a tool is asked."""
        asked = told.get("inputs")
        self._begin(
            "tool", serialized, run_id, parent_run_id, told, lambda run: setattr(run, "query", tool_query(input_str, asked))
        )

    def on_tool_end(self, output: Any, *, run_id: UUID, **told: Any) -> None:
        """Note what a tool brought."""
        del told
        self._end(run_id, lambda run: read_tool(run, output))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> None:
        """Note that a tool failed."""
        self._fail(run_id, error, told)

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **told: Any,
    ) -> None:
        """Note what a chat model is shown."""
        self._begin("llm", serialized, run_id, parent_run_id, told, lambda run: setattr(run, "prompt", shown_in(messages)))

    def on_llm_start(
        self, serialized: Any, prompts: list[str], *, run_id: UUID, parent_run_id: UUID | None = None, **told: Any
    ) -> None:
        """Note what a language model is shown."""
        self._begin("llm", serialized, run_id, parent_run_id, told, lambda run: setattr(run, "prompt", "\n".join(prompts)))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **told: Any) -> None:
        """Note what a model wrote."""
        del told
        self._end(run_id, lambda run: setattr(run, "answer", written_in(response)))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> None:
        """Note that a model failed."""
        self._fail(run_id, error, told)

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **told: Any) -> None:
        """Note what a router of ours decided."""
        del told
        if name == EVENT:
            for notes in self.notes:
                with notes.suppress_and_record("noting a route"):
                    notes.routed(run_id, data)

    def _begin(
        self,
        kind: CallKind,
        serialized: Any,
        run_id: UUID,
        parent: UUID | None,
        told: Mapping[str, Any],
        read: Callable[[Run], object],
    ) -> None:
        name = _name(serialized, told) or kind
        for notes in self.notes:
            with notes.suppress_and_record(f"noting {name}"):
                notes.begin(
                    kind, name, read, run_id=run_id, parent=parent, tags=told.get("tags"), metadata=told.get("metadata")
                )

    def _end(self, run_id: UUID, read: Callable[[Run], object]) -> None:
        for notes in self.notes:
            with notes.suppress_and_record("noting an end"):
                notes.end(run_id, read)

    def _fail(self, run_id: UUID, error: BaseException, told: Mapping[str, Any]) -> None:
        for notes in self.notes:
            with notes.suppress_and_record("noting a failure"):
                notes.end(run_id, partial(notes.failed, error=error, told=told))


def _name(serialized: Any, told: Mapping[str, Any]) -> str | None:
    """Return a run's name, which LangChain tells apart from what it serialised, mostly None."""
    known = serialized.get("name") if isinstance(serialized, Mapping) else None
    name = told.get("name") or known
    return name if isinstance(name, str) else None
