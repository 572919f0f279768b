"""Records LangChain's runs as calls of a recording, on the thread that answers the question.

What may be changed later is copied; the rest is left to the recording's own thread. Nothing that goes wrong here reaches the
pipeline. Streams tell of their input when they end; one that is left before its end is told by a part that is still at it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID, uuid4

from langchain_core.outputs import LLMResult
from langchain_core.runnables.config import var_child_runnable_config

from rag_cover.recording import CallKind, Noting, QuestionContext, TraceDraft, place, question_context_from
from rag_cover_langchain.calls import (
    Run,
    completion_text,
    failure_of,
    is_interruption,
    names_of,
    read_answer,
    read_inputs,
    read_output,
    read_said,
    read_state,
    records_of,
)
from rag_cover_langchain.finished_drafts import find_questions, find_standalone_question, remove_failed_parts
from rag_cover_langchain.given_contexts import read_given_context
from rag_cover_langchain.interrupted_threads import InterruptedThreads, is_interrupted
from rag_cover_langchain.payloads import texts_in
from rag_cover_langchain.pipeline_names import name_by_calls, pipeline_name
from rag_cover_langchain.run_details import describe_run, read_thread
from rag_cover_langchain.run_filters import RunFilter, has_retrieved
from rag_cover_langchain.tags import INTERNAL_TAGS

__all__ = ["RunRecorder"]

_NODE = "graph:step:"
"""How the tag of a node of a graph begins."""

SAID = "rag_cover"
"""The key of a run's metadata under which a caller says what is known of the question, as to `Recording.question`."""


class RunRecorder:
    """Records runs as calls of a recording: those that pass a filter, and with ``only_retrieval`` those that retrieved."""

    def __init__(
        self,
        recording: Noting,
        run_filter: RunFilter | None = None,
        *,
        only_retrieval: bool = False,
        joins_threads: bool = True,
    ) -> None:
        self.recording = recording
        self._filter = RunFilter() if run_filter is None else run_filter
        self._only_retrieval = only_retrieval
        self._searches = threading.local()
        self._interrupted = InterruptedThreads(self._release) if joins_threads else None
        self._resumed: set[str] = set()

    def suppress_and_record(self, where: str) -> AbstractContextManager[None]:
        """Record an error instead of raising it into the pipeline, which calls this handler."""
        return _Suppressing(self.recording, where)

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
        above = self._inside_search(self._above(None if parent is None else str(parent)))
        asked = None if above is not None and gathering.knows(above) else self._question_context(metadata, name)
        run: Run | None = None
        try:
            if self._is_left_out(id_, above, (name, list(tags or ()), metadata or {})):
                return
            if kind == "other" and gathering.above(above) is None:
                kind, name = "question", pipeline_name(name)
            run = Run(id_, kind, name, place=place())
            if kind == "question" or above is None:
                describe_run(run, tags, metadata)
            read(run)
            if kind == "question" and self._interrupted and (draft := self._interrupted.resume(run.thread_id, run)):
                above, run.kind = draft.root.id, "other"
                self._resumed.add(id_)
        except Exception as error:  # noqa: BLE001  # a handler that the framework calls: recorded
            self.recording.fail(error, f"noting {name}")
        begun = gathering.begin(id_, above, run, asked)
        if begun is not run or run is None:
            return
        self._read_configured_thread(run)
        if kind == "retriever":
            self._searches.under_way = [*self._searches_under_way(), run]
        if any(tag.startswith(_NODE) for tag in tags or ()):
            self._begin_node(run, above)

    def _read_configured_thread(self, run: Run) -> None:
        """Note the conversation where a run is configured by it: only what runs inside is told so."""
        configured = (var_child_runnable_config.get() or {}).get("configurable")
        if configured and (root := self._root_of(run)).thread_id is None:
            root.thread_id = read_thread(configured)

    def _is_left_out(self, id_: str, above: str | None, described: tuple[str, list[str], Mapping[str, Any]]) -> bool:
        """Return whether a run is left out by its name, its tags and its metadata: with all inside it, or only itself."""
        gathering = self.recording.gathering
        if not INTERNAL_TAGS.isdisjoint(described[1]) or self._filter.is_excluded(*described):
            gathering.mute(id_)
            return True
        return not (above is not None and gathering.knows(above)) and not self._filter.is_included(*described)

    def _above(self, parent: str | None) -> str | None:
        """Return what a run is in: some parts of LangChain, and callers that pass a handler on, tell of no or a farther one."""
        around = _around()
        if around is None or around == parent or not self.recording.gathering.knows(around):
            return parent
        call = self.recording.gathering.find(around)
        return around if parent is None or (call is not None and call.parent == parent) else parent

    def _searches_under_way(self) -> list[Run]:
        """List the retrievers that search on this thread, the outermost first."""
        return [run for run in getattr(self._searches, "under_way", ()) if run.ended_at is None]

    def _inside_search(self, above: str | None) -> str | None:
        """Return what a run is in: the retriever that waits for it on this thread, where LangChain names what is around that.

        That is so for retrievers with a name of their own that a retriever asks within a chain.
        """
        searches = self._searches_under_way()
        if not searches or _is_in_event_loop():
            return above
        around = self.recording.gathering.above(above)
        return searches[-1].id if around is not None and searches[-1].parent == around.id else above

    def _begin_node(self, run: Run, graph: str | None) -> None:
        around, draft = self.recording.gathering.find(graph or ""), self.recording.gathering.draft_of(run.id)
        if isinstance(around, Run) and draft is not None and isinstance(draft.root, Run):
            read_state(run, around, draft.root)

    def end(self, run_id: UUID, read: Callable[[Run], object], output: object = None) -> None:
        """Note that a run ended, and with what; ``output`` is what a chain returned."""
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
            if isinstance(run, Run) and id_ in self._resumed:
                self._end_resumed(run)
            else:
                if isinstance(run, Run):
                    self._end_outermost(run, output)
                self.recording.gathering.settle(id_)

    def _end_outermost(self, run: Run, output: object) -> None:
        gathering = self.recording.gathering
        draft = gathering.draft_of(run.id)
        if draft is None or draft.root is not run:
            return
        if questions := find_questions(draft, output):
            self._split(draft, questions)
            return
        run.name = name_by_calls(draft)
        if self._interrupted is not None and run.thread_id is not None and is_interrupted(draft, run):
            gathering.await_answer(run.id)
            self._interrupted.add(run.thread_id, draft)
            return
        self._read_finished(draft)

    def _end_resumed(self, run: Run) -> None:
        """End a run that went on with an interrupted question, which waits on if it was interrupted again."""
        gathering, draft = self.recording.gathering, self.recording.gathering.draft_of(run.id)
        self._resumed.discard(run.id)
        gathering.settle(run.id)
        if draft is None or not isinstance(draft.root, Run):
            return
        if self._interrupted is not None and run.thread_id is not None and is_interrupted(draft, run):
            self._interrupted.add(run.thread_id, draft)
            return
        draft.root.answer, draft.root.error = run.answer, run.error
        self._release(draft)

    def _release(self, draft: TraceDraft) -> None:
        """Wait no longer for an interrupted question."""
        self._read_finished(draft)
        self.recording.gathering.set_answer(draft, None)

    def _read_finished(self, draft: TraceDraft) -> None:
        """Read what is known of a question only once it is over."""
        run = draft.root
        remove_failed_parts(draft)
        read_given_context(draft)
        if (standalone := find_standalone_question(draft)) is not None:
            run.query, run.asked = standalone, run.query
        if self._only_retrieval and not has_retrieved(draft):
            self.recording.gathering.skip(run.id)

    def _split(self, draft: TraceDraft, questions: Sequence[Run]) -> None:
        for question in questions:
            question.answer = question.said
            question.name = name_by_calls(draft.part(question))
        self.recording.gathering.split(draft.root.id, questions)

    def record_chain_end(self, run: Run, output: object, further: Mapping[str, Any]) -> None:
        """Note what a chain returned; of a stream, also what it was given."""
        if further.get("inputs") is not None:
            read_inputs(run, further["inputs"])
        draft = self.recording.gathering.draft_of(run.id)
        if run.id not in self._resumed and (draft is None or draft.root is not run):
            root = draft.root if draft is not None else None
            read_output(run, output, root if isinstance(root, Run) else run)
            if draft is not None and draft.calls[-1] is not run:  # something began within it, or beside it
                read_said(run, output)
            return
        read_answer(run, output)
        if draft is None:
            return
        if further.get("inputs") is not None and _is_left(draft):
            draft.unfinished, run.answer = run.answer, None
        elif run.answer is None and not run.passages:
            run.answer = _last_written(draft, output)

    def record_failure(self, run: Run, error: BaseException, further: Mapping[str, Any]) -> None:
        """Record why a run failed; an abandoned stream is no failure, and has no answer."""
        if further.get("inputs") is not None:
            read_inputs(run, further["inputs"])
        run.error, run.is_interrupted = failure_of(error), is_interruption(error)
        if isinstance(response := further.get("response"), LLMResult):
            run.answer = completion_text(response)
        draft = self.recording.gathering.draft_of(run.id)
        if draft is not None and draft.root is run:
            draft.unfinished = _last_written(draft)

    def record_retrieval(self, documents: object, query: str | None, name: str) -> None:
        """Note what was found where nobody else tells it, in the run that this code runs in."""
        around, gathering = _around(), self.recording.gathering
        run = Run(f"retrieval-{uuid4()}", "retriever", name, query=query, place=place())
        run.passages = records_of(documents)
        if gathering.begin(run.id, around, run, self.recording.asked) is run:
            self._remember_passages(run)
            gathering.settle(run.id)

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


class _Suppressing:
    """Records an error of what runs within; a class, as it is entered at every callback."""

    __slots__ = ("_recording", "_where")

    def __init__(self, recording: Noting, where: str) -> None:
        self._recording, self._where = recording, where

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self._recording.fail(error, self._where)
        return True


def _is_in_event_loop() -> bool:
    """Return whether an event loop runs on this thread: it may go on with another question meanwhile."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


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
