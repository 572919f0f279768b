"""LangChain's callbacks: the handler that records and measures what they report."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypeVar, Unpack
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from rag_cover.integration import AttachOptions, document_attach_options, split_options
from rag_cover.recording import CallKind, Recording, is_unrecorded
from rag_cover_langchain.calls import (
    Run,
    prompt_text,
    read_inputs,
    read_prompt,
    read_reply,
    read_tool,
    records_of,
    system_text,
    tool_query,
)
from rag_cover_langchain.feedback import Feedback, sender_of
from rag_cover_langchain.models import Writer, models_of
from rag_cover_langchain.route_events import EVENT
from rag_cover_langchain.run_filters import RunFilter, refuse_no_filter
from rag_cover_langchain.run_recorder import RunRecorder

__all__ = ["HANDLER_OPTIONS", "RagCoverCallbackHandler", "RunCallbacks"]

HANDLER_OPTIONS = ("only_retrieval", "run_filter", "feedback")
"""The options of a handler that other frameworks' recordings do not have."""
_LOG = logging.getLogger(__name__)


Found = TypeVar("Found")


class RunCallbacks(BaseCallbackHandler):
    """Passes LangChain's callbacks on to its run recorders."""

    run_inline = True  # on the event loop itself: noting takes less than changing the thread

    @property
    def recorders(self) -> Sequence[RunRecorder]:
        """Return the run recorders that the callbacks are passed on to."""
        raise NotImplementedError

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **further: Any
    ) -> None:
        """Note that a chain began."""
        self._begin("other", serialized, run_id, parent_run_id, further, lambda run: read_inputs(run, inputs))

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **further: Any) -> None:
        """Note what a chain returned."""
        for recorder in self.recorders:
            with recorder.suppress_and_record("noting an end"):
                recorder.end(run_id, partial(recorder.record_chain_end, output=outputs, further=further), outputs)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **further: Any) -> None:
        """Note that a chain failed."""
        self._fail(run_id, error, further)

    def on_retriever_start(
        self, serialized: Any, query: str, *, run_id: UUID, parent_run_id: UUID | None = None, **further: Any
    ) -> None:
        """Note what is searched for."""
        self._begin("retriever", serialized, run_id, parent_run_id, further, lambda run: setattr(run, "query", query))

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **further: Any) -> None:
        """Note what was found."""
        del further
        self._end(run_id, lambda run: setattr(run, "passages", records_of(documents)))

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **further: Any) -> None:
        """Note that a retriever failed."""
        self._fail(run_id, error, further)

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: UUID, parent_run_id: UUID | None = None, **further: Any
    ) -> None:
        """Note what a tool is asked."""
        asked = further.get("inputs")
        self._begin(
            "tool", serialized, run_id, parent_run_id, further, lambda run: setattr(run, "query", tool_query(input_str, asked))
        )

    def on_tool_end(self, output: Any, *, run_id: UUID, **further: Any) -> None:
        """Note what a tool brought."""
        del further
        self._end(run_id, lambda run: read_tool(run, output))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **further: Any) -> None:
        """Note that a tool failed."""
        self._fail(run_id, error, further)

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **further: Any,
    ) -> None:
        """Note what a chat model is shown."""
        self._begin(
            "llm",
            serialized,
            run_id,
            parent_run_id,
            further,
            lambda run: read_prompt(run, prompt_text(messages), further, system_text(messages)),
        )

    def on_llm_start(
        self, serialized: Any, prompts: list[str], *, run_id: UUID, parent_run_id: UUID | None = None, **further: Any
    ) -> None:
        """Note what a language model is shown."""
        self._begin(
            "llm", serialized, run_id, parent_run_id, further, lambda run: read_prompt(run, "\n".join(prompts), further)
        )

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **further: Any) -> None:
        """Note what a model wrote."""
        del further
        self._end(run_id, lambda run: read_reply(run, response))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **further: Any) -> None:
        """Note that a model failed."""
        self._fail(run_id, error, further)

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **further: Any) -> None:
        """Note what a router of ours decided."""
        del further
        if name == EVENT:
            for recorder in self.recorders:
                with recorder.suppress_and_record("noting a route"):
                    recorder.record_route(run_id, data)

    def _begin(
        self,
        kind: CallKind,
        serialized: Any,
        run_id: UUID,
        parent: UUID | None,
        further: Mapping[str, Any],
        read: Callable[[Run], object],
    ) -> None:
        if is_unrecorded():
            return
        name = _name(serialized, further) or kind
        for recorder in self.recorders:
            with recorder.suppress_and_record(f"noting {name}"):
                recorder.begin(
                    kind, name, read, run_id=run_id, parent=parent, tags=further.get("tags"), metadata=further.get("metadata")
                )

    def _end(self, run_id: UUID, read: Callable[[Run], object]) -> None:
        for recorder in self.recorders:
            with recorder.suppress_and_record("noting an end"):
                recorder.end(run_id, read)

    def _fail(self, run_id: UUID, error: BaseException, further: Mapping[str, Any]) -> None:
        for recorder in self.recorders:
            with recorder.suppress_and_record("noting a failure"):
                recorder.end(run_id, partial(recorder.record_failure, error=error, further=further))


@document_attach_options
class RagCoverCallbackHandler(Recording, RunCallbacks):
    """Records and measures every question that is asked of a chain, an agent or a graph that it is given to.

    Each outermost run becomes a `Trace`: its retrievals, what compressed or reranked them, its tools, what its answer was
    written from, and the answer, streamed ones once they were read. A retrieval by itself is one, too. Functions that search by
    themselves are told by the documents that they return.

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate: ::

            handler = RagCoverCallbackHandler(store="results.sqlite")

    Invoke: ::

            with handler:
                chain.invoke("Why is the sky blue?", config={"callbacks": [handler]})
            for result in handler.results:
                print(result.coverage.core_coverage, result.utility.total.value)
            handler.evaluation.to_html("report.html")

    What is known of a question is said by `question`, or in a run's own metadata: ``config={"metadata": {"rag_cover":
    {"references": ["…"], "id": "q7"}}}``. `attach` has every chain of the process recorded.

    Args:
        only_retrieval: leave out runs that neither searched for anything nor were given documents or a context, such as small
            talk or a translation; they are counted (`RecordingCounts.skipped`).
        run_filter: which runs are recorded, by name, tag and metadata; None: all.
        feedback: where every score is sent: a ``langsmith.Client()``, which shows it at the run that was measured, with what
            was lost and where as its comment; or a function that takes the run's id and a `NamedScore`. None: nothing is sent.
            It is sent on a thread of its own; what fails is counted (`RecordingCounts.scores_unsent`).
        **options: the models and the options of the recording, as `ModelOptions` and `RecordingOptions` describe them.

    Raises:
        InvalidValueError: an argument is out of range, or a model cannot serve.
        UnknownOptionError: there is no such option; the message names the nearest one.
        StoreError: the store or the trace file cannot be used.
    """

    def __init__(
        self,
        *,
        only_retrieval: bool = False,
        run_filter: RunFilter | None = None,
        feedback: Feedback | None = None,
        **options: Unpack[AttachOptions[Writer, Embeddings]],
    ) -> None:
        models, recording_options = split_options(options, taken_by=type(self).__name__, besides=HANDLER_OPTIONS)
        refuse_no_filter(run_filter)
        sender = None if feedback is None else sender_of(feedback)
        super().__init__(models=models_of(**models), **recording_options)
        if sender is not None:
            self.send_scores(sender)
        self._has_warned = False
        self._recorders: tuple[RunRecorder, ...] = (RunRecorder(self, run_filter, only_retrieval=only_retrieval),)

    @property
    def recorders(self) -> Sequence[RunRecorder]:
        """Return its run recorder; none once the handler is closed, of which the log then warns once."""
        if not self._recorders and not self._has_warned:
            self._has_warned = True
            _LOG.warning("this RagCoverCallbackHandler is closed: what runs with it is not recorded; make a new one")
        return self._recorders

    def retrieval(self, documents: Found, *, query: str | None = None, name: str = "retrieval") -> Found:
        """Note documents that the pipeline found where LangChain tells nobody, such as by ``vector_store.similarity_search``.

        They become a step of the question that is being answered on this thread or task::

            documents = handler.retrieval(store.similarity_search(question))

        Args:
            documents: what was found; anything else is left out.
            query: what was searched for; the question itself unless given. Outside of any run, the question.
            name: the step's name.

        Returns:
            The documents, as they are.
        """
        for recorder in self.recorders:
            with recorder.suppress_and_record(f"noting {name}"):
                recorder.record_retrieval(documents, query, name)
        return documents

    def detach(self) -> None:
        """Stop listening: runs that begin or end from now on are not recorded. Finished runs are still measured."""
        self._has_warned = bool(self.gathering.under_way)  # what is still under way may end after it
        self._recorders = ()
        super().detach()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:  # models and configurations that hold it are copied
        return self


def _name(serialized: Any, further: Mapping[str, Any]) -> str | None:
    """Return a run's name, which LangChain tells apart from what it serialised, mostly None."""
    known = serialized.get("name") if isinstance(serialized, Mapping) else None
    name = further.get("name") or known
    return name if isinstance(name, str) else None
