"""Recording of every chain, agent, graph and retriever of LangChain that runs in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Unpack, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.embeddings import Embeddings
from langchain_core.tracers.context import register_configure_hook

from rag_cover.errors import InvalidValueError, refuse_unknown_options
from rag_cover.integration import AttachOptions, describe_argument, document_attach_options
from rag_cover.recording import attach_once, refuse_closed
from rag_cover_langchain.callbacks import HANDLER_OPTIONS, RagCoverCallbackHandler, RunCallbacks
from rag_cover_langchain.feedback import Feedback
from rag_cover_langchain.models import Writer
from rag_cover_langchain.run_filters import RunFilter
from rag_cover_langchain.run_recorder import RunRecorder

__all__ = ["attach"]


@document_attach_options
def attach(
    handler: RagCoverCallbackHandler | None = None,
    *,
    only_retrieval: bool | None = None,
    run_filter: RunFilter | None = None,
    feedback: Feedback | None = None,
    **options: Unpack[AttachOptions[Writer, Embeddings]],
) -> RagCoverCallbackHandler:
    """Record and measure whatever LangChain runs in this process from now on, in any thread, until the handler is closed.

    Each outermost run becomes a `Trace`, as `RagCoverCallbackHandler` describes it, if it searched for something or was given a
    context: a process also runs chains that answer no question from documents.

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate:
        A line ``attach(store="results.sqlite")`` alone records until the process ends. Attaching again with the same options
        returns the handler that is attached, so that a cell of a notebook may be run again.

    Invoke: ::

        with attach() as handler:
            chain.invoke("Why is the sky blue?")
        for result in handler.results:
            print(result.coverage.core_coverage, result.utility.total.value)

    Args:
        handler: the handler that records; a new one with these options unless given. Give either a handler, which has its
            options already, or options.
        only_retrieval: leave out runs that neither searched for anything nor were given documents or a context, such as small
            talk or a translation; they are counted (`RecordingCounts.skipped`). None: as the handler does, and True for a new
            one.
        run_filter: which runs are recorded, by name, tag and metadata; None: all.
        feedback: where every score is sent, such as a ``langsmith.Client()``; see `RagCoverCallbackHandler`.
        **options: the models and the options of the recording, as `ModelOptions` and `RecordingOptions` describe them.

    Returns:
        The handler, which is a `Recording`.

    Raises:
        InvalidValueError: an argument is out of range, a model cannot serve, or the handler is none of ours, is closed or is
            given together with options.
        UnknownOptionError: there is no such option; the message names the nearest one.
        StoreError: the store or the trace file cannot be used.
    """
    refuse_unknown_options("attach", options, [*AttachOptions.__annotations__, *HANDLER_OPTIONS, "handler"])
    if handler is None:
        only = only_retrieval is None or only_retrieval
        given_: dict[str, object] = {"only_retrieval": only, "run_filter": repr(run_filter), "feedback": feedback, **options}

        def listen() -> RagCoverCallbackHandler:
            made = RagCoverCallbackHandler(only_retrieval=only, run_filter=run_filter, feedback=feedback, **options)
            _EVERYWHERE.add(made)
            return made

        return cast("RagCoverCallbackHandler", attach_once(_EVERYWHERE, given_, listen))
    if not isinstance(handler, RagCoverCallbackHandler):
        message = f"{describe_argument(handler)} records nothing; give a RagCoverCallbackHandler, or leave it out"
        raise InvalidValueError(message)
    own = {"only_retrieval": only_retrieval, "run_filter": run_filter, "feedback": feedback}
    given = [*(name for name, value in own.items() if value is not None), *options]
    if given:
        message = (
            f"the handler has its own options: give {', '.join(given)} to RagCoverCallbackHandler, or leave the handler out"
        )
        raise InvalidValueError(message)
    refuse_closed(handler.is_closed)
    _EVERYWHERE.add(handler)
    return handler


class _Everywhere(RunCallbacks):
    """Receives the callbacks of every run of the process once a handler is attached; LangChain's hooks cannot be removed."""

    def __init__(self) -> None:
        self._handlers: tuple[RagCoverCallbackHandler, ...] = ()
        self._hook: ContextVar[BaseCallbackHandler | None] | None = None
        self._lock = threading.Lock()

    @property
    def recorders(self) -> Sequence[RunRecorder]:
        """Return the run recorders of all attached handlers."""
        return [recorder for handler in self._handlers for recorder in handler.recorders]

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
