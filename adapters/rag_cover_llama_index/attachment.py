"""Recording of whatever answers questions with LlamaIndex: query engines, chat engines, agents, workflows, retrievers."""

from __future__ import annotations

import logging
from typing import Unpack

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import Dispatcher

from rag_cover.errors import InvalidValueError
from rag_cover.integration import AttachOptions, document_attach_options, split_options
from rag_cover.recording import Recording, attach_once
from rag_cover_llama_index.event_handler import RecordingEvents, RecordingSpans
from rag_cover_llama_index.models import models_of
from rag_cover_llama_index.run_recorder import Streams
from rag_cover_llama_index.vector_stores import unwatch_vector_stores, watch_vector_stores

__all__ = ["attach"]

_LOG = logging.getLogger(__name__)
_MANY = 8  # recordings at a time; each of them copies what is retrieved


@document_attach_options
def attach(*, dispatcher: Dispatcher | None = None, **options: Unpack[AttachOptions[LLM, BaseEmbedding]]) -> Recording:
    """Record and measure every question that is asked with LlamaIndex from now on, until the recording is closed.

    Each outermost query, chat turn, agent or workflow run becomes a `Trace`: its retrievals, rerankers and filters, its tools,
    what the answer was written from, and the answer; a streamed answer once it was read. A retrieval that no query is around
    becomes a trace, too. A sub-engine that fails and is left out stays as a step with its error. The question of a chat turn
    whose follow-up was condensed is the standalone one. What LlamaIndex's evaluators ask about an answer is not recorded. ::

        with attach() as recording:
            query_engine.query("Why is the sky blue?")
        for result in recording.results:
            print(result.coverage.core_coverage, result.utility.total.value)

    Attaching again with the same options returns the recording that is open, so that a cell of a notebook may be run again.
    A line ``attach(store="results.sqlite")`` alone records until the process ends.

    Args:
        dispatcher: LlamaIndex's dispatcher whose events are recorded; the root of all dispatchers unless given.
        **options: the models and the options of the recording, as `ModelOptions` and `RecordingOptions` describe them.

    Raises:
        InvalidValueError: an argument is out of range, or a model cannot serve.
        UnknownOptionError: there is no such option; the message names the nearest one.
        StoreError: the store or the trace file cannot be used.
    """
    split_options(options, taken_by="attach", besides=["dispatcher"])
    heard = get_dispatcher() if dispatcher is None else dispatcher
    if not isinstance(heard, Dispatcher):
        message = f"dispatcher is a {type(heard).__name__}; give one of LlamaIndex's, or leave it out"
        raise InvalidValueError(message)
    return attach_once(heard, options, lambda: _listen(heard, options))


def _listen(heard: Dispatcher, options: AttachOptions[LLM, BaseEmbedding]) -> Recording:
    models, recording_options = split_options(options, taken_by="attach")
    listening = sum(isinstance(each, RecordingSpans) for each in heard.span_handlers)
    if listening >= _MANY:
        _LOG.warning("%d recordings listen already: attach once for a process, and close what is not needed", listening)
    recording = Recording(models=models_of(**models), **recording_options)
    streams = Streams()
    spans = RecordingSpans(recording, streams)
    events = RecordingEvents(recording, streams)
    heard.add_span_handler(spans)
    heard.add_event_handler(events)
    watch_vector_stores(spans)

    def detach() -> None:  # new lists: somebody may be walking the old ones
        heard.span_handlers = [each for each in heard.span_handlers if each is not spans]
        heard.event_handlers = [each for each in heard.event_handlers if each is not events]
        unwatch_vector_stores(spans)

    recording.on_detach(detach)
    return recording
