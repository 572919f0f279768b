"""LangChain's callbacks: they note what happens, on the thread of whoever answers the question.

They copy what may be changed later and leave the rest to the recording's own thread. Nothing that goes wrong here reaches the
pipeline. Streams tell of their input when they end; one that is left before its end is told by a model that still writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from rag_cover.recording import Asked, CallKind, Recording, asked_from, place
from rag_cover_langchain.calls import (
    Run,
    read_answer,
    read_inputs,
    read_output,
    read_tool,
    records_of,
    shown_in,
    tool_query,
    written_in,
)
from rag_cover_langchain.tags import UNHEARD

__all__ = ["RunCallbacks", "RunNotes"]

SAID = "rag_cover"
"""The key of a run's metadata under which a caller says what is known of the question, as to `Recording.question`."""


class RunNotes:
    """Notes runs as calls of a recording."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def begin(  # what LangChain tells, all by name
        self,
        kind: CallKind,
        name: str,
        read: Callable[[Run], object],
        *,
        run_id: UUID,
        parent: UUID | None,
        tags: Iterable[str] | None,
        metadata: Mapping[str, Any] | None,
    ) -> None:
        """Note that a run began; a chain inside no other asks a question."""
        id_, above = str(run_id), None if parent is None else str(parent)
        gathering = self.recording.gathering
        run: Run | None = None
        try:
            if not UNHEARD.isdisjoint(tags or ()):
                gathering.mute(id_)
                return
            if kind == "other" and gathering.above(above) is None:
                kind = "question"
            run = Run(id_, kind, name, place=place())
            read(run)
        except Exception as error:  # noqa: BLE001  # a handler that the framework calls: recorded
            self.recording.fail(error, f"noting {name}")
        gathering.begin(id_, above, run, self._asked(metadata, name))

    def end(self, run_id: UUID, read: Callable[[Run], object]) -> None:
        """Note that a run ended, and with what."""
        id_ = str(run_id)
        run = self.recording.gathering.find(id_)
        try:
            if isinstance(run, Run):
                read(run)
                run.inputs = None
        except Exception as error:  # noqa: BLE001  # likewise
            self.recording.fail(error, f"noting the end of {run.name if run else id_}")
        finally:
            self.recording.gathering.settle(id_)

    def chain_ended(self, run: Run, output: object, told: Mapping[str, Any]) -> None:
        """Note what a chain returned; of a stream, also what it was given."""
        if told.get("inputs") is not None:
            read_inputs(run, told["inputs"])
        if not self.recording.gathering.is_root(run):
            read_output(run, output)
            return
        read_answer(run, output)
        draft = self.recording.gathering.draft_of(run.id)
        models = [call for call in draft.calls if call.kind == "llm"] if draft else []
        if draft is not None and any(call.ended_at is None for call in models):
            draft.unfinished, run.answer = run.answer, None
        elif run.answer is None and not run.passages:
            run.answer = next((call.answer for call in reversed(models) if call.answer), None)

    def failed(self, run: Run, error: BaseException, told: Mapping[str, Any]) -> None:
        """Note why a run failed; a stream that somebody left did not fail, and has no answer."""
        if told.get("inputs") is not None:
            read_inputs(run, told["inputs"])
        if not isinstance(error, GeneratorExit):
            run.error = f"{type(error).__name__}: {error}"
        if isinstance(response := told.get("response"), LLMResult):
            run.answer = written_in(response)
        draft = self.recording.gathering.draft_of(run.id)
        if draft is not None and draft.root is run:
            draft.unfinished = next((call.answer for call in reversed(draft.calls) if call.kind == "llm" and call.answer), None)

    def _asked(self, metadata: Mapping[str, Any] | None, name: str) -> Asked | None:
        said = (metadata or {}).get(SAID)
        if said is not None:
            try:
                return asked_from(said)
            except Exception as error:  # noqa: BLE001  # likewise
                self.recording.fail(error, f"metadata[{SAID!r}] of {name}")
        return self.recording.asked


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
            notes.end(run_id, lambda run, notes=notes: notes.chain_ended(run, outputs, told))  # type: ignore[misc]

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
            notes.begin(kind, name, read, run_id=run_id, parent=parent, tags=told.get("tags"), metadata=told.get("metadata"))

    def _end(self, run_id: UUID, read: Callable[[Run], object]) -> None:
        for notes in self.notes:
            notes.end(run_id, read)

    def _fail(self, run_id: UUID, error: BaseException, told: Mapping[str, Any]) -> None:
        for notes in self.notes:
            notes.end(run_id, lambda run, notes=notes: notes.failed(run, error, told))  # type: ignore[misc]


def _name(serialized: Any, told: Mapping[str, Any]) -> str | None:
    """Return a run's name, which LangChain tells apart from what it serialised, mostly None."""
    known = serialized.get("name") if isinstance(serialized, Mapping) else None
    name = told.get("name") or known
    return name if isinstance(name, str) else None
