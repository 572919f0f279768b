"""Recording of whatever answers questions with LangChain: chains, agents, graphs, retrievers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.embeddings import Embeddings
from langchain_core.tracers.context import register_configure_hook

from rag_cover import Redaction
from rag_cover.backends import Embedder, Entailer, Generator, Receiver, Scorer
from rag_cover.coverage import Decomposer
from rag_cover.errors import InvalidValueError
from rag_cover.integration import describe_argument
from rag_cover.measures import Measure, TraceResult
from rag_cover.recording import Recording, References, refuse_closed
from rag_cover_langchain.callbacks import RunCallbacks
from rag_cover_langchain.models import Writer, models_of
from rag_cover_langchain.run_recorder import RunNotes

__all__ = ["RagCoverCallbackHandler", "attach"]


class RagCoverCallbackHandler(Recording, RunCallbacks):
    """Records and measures every question that is asked of a chain, an agent or a graph that it is given to.

    Each outermost run becomes a `Trace`: its retrievals, what compressed or reranked them, its tools, what its answer was
    written from, and the answer, streamed ones once they were read. A retrieval by itself is one, too. Functions that search by
    themselves are told by the documents that they return. ::

        with RagCoverCallbackHandler() as handler:
            chain.invoke("Why is the sky blue?", config={"callbacks": [handler]})
        for result in handler.results:
            print(result.coverage.core_coverage, result.utility.total.value)

    What is known of a question is said by `question`, or in a run's own metadata: ``config={"metadata": {"rag_cover":
    {"references": ["…"], "id": "q7"}}}``. `attach` has every chain of the process recorded.

    Args:
        measures: names or values; None: all that a trace has the inputs for. Empty: record only.
        judge: tells what covers what: a name, a model of ours, or a chat model of LangChain.
        entailer: tells what follows from what; the judge where it can, else the embedded one.
        receiver: whose belief tells what each step was worth; None: nobody's.
        generator: writes sub-questions, where it is given.
        decomposer: makes them instead.
        embedder: tells their roles.
        references: gold answers by question; `Recording.question` gives them for one.
        traces: a trace file that every trace is added to.
        store: a store that every result is added to; it belongs to one process, so make the handler after forking.
        on_result: called with every result, from the recording's thread.
        sampling: the share of questions that are recorded.
        capacity: how many questions may wait to be measured; more are dropped, and counted.
        keep: how many results stay in memory.
        pipeline: the name of the traces' pipeline; that of the outermost run unless given.
        own_sub_questions: whether sub-questions that the pipeline asks are those that its answer is held against.
        seed: of what is drawn at random.
        redact: replace every text of the results by its hash; a `Redaction` says by which key. No trace file is kept then.

    Raises:
        InvalidValueError: an argument out of range, or a model that cannot serve.
        StoreError: a store or a trace file that cannot be used.
    """

    def __init__(  # noqa: PLR0913  # the public interface: all by name
        self,
        *,
        measures: Sequence[str | Measure] | None = None,
        judge: str | Scorer | Writer = "embedded",
        entailer: str | Entailer | None = None,
        receiver: str | Receiver | Writer | None = "embedded",
        generator: str | Generator | Writer | None = None,
        decomposer: str | Path | Generator | Decomposer | Writer | None = None,
        embedder: str | Embedder | Embeddings | None = None,
        references: References | None = None,
        traces: Path | str | None = None,
        store: Path | str | None = None,
        on_result: Callable[[TraceResult], object] | None = None,
        sampling: float = 1.0,
        capacity: int = 1000,
        keep: int = 10_000,
        pipeline: str | None = None,
        own_sub_questions: bool = True,
        seed: int = 0,
        redact: bool | Redaction = False,
    ) -> None:
        super().__init__(
            measures=measures,
            models=models_of(
                judge=judge, entailer=entailer, receiver=receiver, generator=generator, decomposer=decomposer, embedder=embedder
            ),
            references=references,
            traces=traces,
            store=store,
            on_result=on_result,
            sampling=sampling,
            capacity=capacity,
            keep=keep,
            pipeline=pipeline,
            own_sub_questions=own_sub_questions,
            seed=seed,
            redact=redact,
        )
        self._notes: tuple[RunNotes, ...] = (RunNotes(self),)

    @property
    def notes(self) -> Sequence[RunNotes]:
        """Return who notes its runs; nobody once it is closed."""
        return self._notes

    def detach(self) -> None:
        """Stop listening: nothing that begins or ends from now on is noted. What is over is measured all the same."""
        self._notes = ()
        super().detach()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:  # models and configurations that hold it are copied
        return self


def attach(handler: RagCoverCallbackHandler | None = None) -> RagCoverCallbackHandler:
    """Record whatever LangChain runs in this process from now on, in any thread, until the handler is closed.

    ::

        with attach() as handler:
            chain.invoke("Why is the sky blue?")

    Args:
        handler: what records it; one as it comes unless given.

    Raises:
        InvalidValueError: it is no handler of ours, or a closed one.
    """
    recording = RagCoverCallbackHandler() if handler is None else handler
    if not isinstance(recording, RagCoverCallbackHandler):
        message = f"{describe_argument(recording)} records nothing; give a RagCoverCallbackHandler, or leave it out"
        raise InvalidValueError(message)
    refuse_closed(recording.is_closed)
    _EVERYWHERE.add(recording)
    return recording


class _Everywhere(RunCallbacks):
    """Is called for every run of the process once one handler is attached; LangChain has no way to take a hook back."""

    def __init__(self) -> None:
        self._handlers: tuple[RagCoverCallbackHandler, ...] = ()
        self._hook: ContextVar[BaseCallbackHandler | None] | None = None
        self._lock = threading.Lock()

    @property
    def notes(self) -> Sequence[RunNotes]:
        """Return who notes: all handlers that are attached."""
        return [notes for handler in self._handlers for notes in handler.notes]

    def add(self, handler: RagCoverCallbackHandler) -> None:
        """Call a handler for every run until it is closed."""
        with self._lock:
            if self._hook is None:  # a default holds in every thread, whatever its context
                self._hook = ContextVar("rag_cover_attached", default=self)
                register_configure_hook(self._hook, inheritable=True)
            if handler not in self._handlers:
                self._handlers = (*self._handlers, handler)
        handler.on_detach(lambda: self._remove(handler))

    def _remove(self, handler: RagCoverCallbackHandler) -> None:
        with self._lock:
            self._handlers = tuple(each for each in self._handlers if each is not handler)


_EVERYWHERE = _Everywhere()
