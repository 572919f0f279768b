"""Records LangChain's runs as calls of a recording, on the thread that answers the question.

What may be changed later is copied; the rest is left to the recording's own thread. Nothing that goes wrong here reaches the
pipeline. Streams tell of their input when they end; one that is left before its end is told by a part that is still at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from langchain_core.outputs import LLMResult
from langchain_core.runnables.config import var_child_runnable_config

from rag_cover.recording import CallKind, Noting, QuestionContext, TraceDraft, place, question_context_from
from rag_cover_langchain.calls import (
    Run,
    completion_text,
    failure_of,
    names_of,
    read_answer,
    read_inputs,
    read_output,
    read_state,
)
from rag_cover_langchain.payloads import texts_in
from rag_cover_langchain.pipeline_names import name_by_calls, pipeline_name
from rag_cover_langchain.run_filters import RunFilter, has_retrieved
from rag_cover_langchain.tags import INTERNAL_TAGS

__all__ = ["RunRecorder"]

_NODE = "graph:step:"
"""How the tag of a node of a graph begins."""

SAID = "rag_cover"
"""The key of a run's metadata under which a caller says what is known of the question, as to `Recording.question`."""


class RunRecorder:
    """Records runs as calls of a recording: those that pass a filter, and with ``only_retrieval`` those that retrieved."""

    def __init__(self, recording: Noting, run_filter: RunFilter | None = None, *, only_retrieval: bool = False) -> None:
        self.recording = recording
        self._filter = RunFilter() if run_filter is None else run_filter
        self._only_retrieval = only_retrieval

    @contextmanager
    def suppress_and_record(self, where: str) -> Iterator[None]:
        """Record an error instead of raising it into the pipeline, which calls this handler."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # likewise
            self.recording.fail(error, where)

    def begin(
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
        id_, gathering = str(run_id), self.recording.gathering
        if gathering.knows(id_):  # told twice: the handler is attached, and was passed on
            return
        above = self._above(None if parent is None else str(parent))
        asked = None if above is not None and gathering.knows(above) else self._question_context(metadata, name)
        run: Run | None = None
        try:
            described = (name, list(tags or ()), metadata or {})
            if not INTERNAL_TAGS.isdisjoint(described[1]) or self._filter.is_excluded(*described):
                gathering.mute(id_)
                return
            if not (above is not None and gathering.knows(above)) and not self._filter.is_included(*described):
                return
            if kind == "other" and gathering.above(above) is None:
                kind, name = "question", pipeline_name(name)
            run = Run(id_, kind, name, place=place())
            read(run)
        except Exception as error:  # noqa: BLE001  # a handler that the framework calls: recorded
            self.recording.fail(error, f"noting {name}")
        begun = gathering.begin(id_, above, run, asked)
        if begun is run is not None and any(tag.startswith(_NODE) for tag in tags or ()):
            self._begin_node(run, above)

    def _above(self, parent: str | None) -> str | None:
        """Return what a run is in: some parts of LangChain, and callers that pass a handler on, tell of no or a farther one."""
        around = _around()
        if around is None or around == parent or not self.recording.gathering.knows(around):
            return parent
        call = self.recording.gathering.find(around)
        return around if parent is None or (call is not None and call.parent == parent) else parent

    def _begin_node(self, run: Run, graph: str | None) -> None:
        around, draft = self.recording.gathering.find(graph or ""), self.recording.gathering.draft_of(run.id)
        if isinstance(around, Run) and draft is not None and isinstance(draft.root, Run):
            read_state(run, around, draft.root)

    def end(self, run_id: UUID, read: Callable[[Run], object]) -> None:
        """Note that a run ended, and with what."""
        id_ = str(run_id)
        run = self.recording.gathering.find(id_)
        try:
            if isinstance(run, Run):
                read(run)
                self._remember_passages(run)
        except Exception as error:  # noqa: BLE001  # likewise
            self.recording.fail(error, f"noting the end of {run.name if run else id_}")
        finally:
            if isinstance(run, Run):
                run.inputs = None  # nothing of the host's is held
                self._end_outermost(run)
            self.recording.gathering.settle(id_)

    def _end_outermost(self, run: Run) -> None:
        draft = self.recording.gathering.draft_of(run.id)
        if draft is None or draft.root is not run:
            return
        run.name = name_by_calls(draft)
        if self._only_retrieval and not has_retrieved(draft):
            self.recording.gathering.skip(run.id)

    def record_chain_end(self, run: Run, output: object, further: Mapping[str, Any]) -> None:
        """Note what a chain returned; of a stream, also what it was given."""
        if further.get("inputs") is not None:
            read_inputs(run, further["inputs"])
        if not self.recording.gathering.is_root(run):
            read_output(run, output, self._root_of(run))
            return
        read_answer(run, output)
        draft = self.recording.gathering.draft_of(run.id)
        if draft is None:
            return
        if further.get("inputs") is not None and _is_left(draft):
            draft.unfinished, run.answer = run.answer, None
        elif run.answer is None and not run.passages:
            run.answer = _last_written(draft, output)

    def record_failure(self, run: Run, error: BaseException, further: Mapping[str, Any]) -> None:
        """Note why a run failed; a stream that somebody left did not fail, and has no answer."""
        if further.get("inputs") is not None:
            read_inputs(run, further["inputs"])
        run.error = failure_of(error)
        if isinstance(response := further.get("response"), LLMResult):
            run.answer = completion_text(response)
        draft = self.recording.gathering.draft_of(run.id)
        if draft is not None and draft.root is run:
            draft.unfinished = _last_written(draft)

    def record_route(self, run_id: UUID, decision: object) -> None:
        """Note which way a router sent a question."""
        draft = self.recording.gathering.draft_of(str(run_id))
        if draft is not None and isinstance(decision, Mapping):
            draft.routes.append(dict(decision))

    def _root_of(self, run: Run) -> Run:
        draft = self.recording.gathering.draft_of(run.id)
        return draft.root if draft is not None and isinstance(draft.root, Run) else run

    def _remember_passages(self, run: Run) -> None:
        """Note on the outermost run what was found, so that a graph's state can be told from what it remembers."""
        if run.passages:
            self._root_of(run).found.update(names_of(run.passages))

    def _question_context(self, metadata: Mapping[str, Any] | None, name: str) -> QuestionContext | None:
        said = (metadata or {}).get(SAID)
        if said is not None:
            try:
                return question_context_from(said)
            except Exception as error:  # noqa: BLE001  # likewise
                self.recording.fail(error, f"metadata[{SAID!r}] of {name}")
        return self.recording.asked


def _around() -> str | None:
    """Return the id of the run that this code runs in, as LangChain keeps it for whatever is called within."""
    config = var_child_runnable_config.get()
    run_id = getattr((config or {}).get("callbacks"), "parent_run_id", None)
    return None if run_id is None else str(run_id)


def _last_written(draft: TraceDraft, output: object = None) -> str | None:
    """Return what a model wrote last; of a graph only what its state holds: one that waits for an answer has written none."""
    written = (call.answer for call in reversed(draft.calls) if call.kind == "llm" and call.answer)
    last = next(written, None)
    is_state = isinstance(draft.root, Run) and draft.root.is_graph and output is not None
    return None if is_state and last not in texts_in(output) else last


def _is_left(draft: TraceDraft) -> bool:
    """Return whether the consumer stopped reading a stream: a child run is still open, and so is its parent."""
    open_ = {call.id for call in draft.calls if call.ended_at is None}
    writing = (call for call in draft.calls[1:] if call.kind in ("llm", "other") and call.id in open_)
    return any(call.parent in open_ for call in writing)
