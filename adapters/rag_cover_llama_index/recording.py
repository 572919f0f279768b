"""Recording of whatever answers questions with LlamaIndex: query engines, chat engines, agents, workflows, retrievers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import Dispatcher

from rag_cover import Redaction
from rag_cover.backends import Embedder, Entailer, Generator, Receiver, Scorer
from rag_cover.coverage import Decomposer
from rag_cover.errors import InvalidValueError
from rag_cover.measures import Measure, TraceResult
from rag_cover.recording import Recording, References
from rag_cover_llama_index.event_handler import Heard
from rag_cover_llama_index.models import models_of
from rag_cover_llama_index.spans import RecordingEvents, RecordingSpans

__all__ = ["attach"]

_LOG = logging.getLogger(__name__)
_MANY = 8  # recordings at a time; each of them copies what is retrieved


def attach(  # noqa: PLR0913  # the public interface: all by name
    *,
    measures: Sequence[str | Measure] | None = None,
    judge: str | Scorer | LLM = "embedded",
    entailer: str | Entailer | None = None,
    receiver: str | Receiver | LLM | None = "embedded",
    generator: str | Generator | LLM | None = None,
    decomposer: str | Path | Generator | Decomposer | LLM | None = None,
    embedder: str | Embedder | BaseEmbedding | None = None,
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
    dispatcher: Dispatcher | None = None,
) -> Recording:
    """Record and measure every question that is asked with LlamaIndex from now on, until the recording is closed.

    Each outermost query, chat turn, agent or workflow run becomes a `Trace`: its retrievals, rerankers and filters, tools, what
    its answer was written from, and the answer, streamed ones once they were read. A retrieval by itself is one, too.
    Sub-engines that fail and are left out stay as steps with their error. ::

        with attach() as recording:
            query_engine.query("Why is the sky blue?")
        for result in recording.results:
            print(result.coverage.core_coverage, result.utility.total.value)

    Args:
        measures: names or values; None: all that a trace has the inputs for. Empty: record only.
        judge: tells what covers what: a name, a model of ours, or an ``LLM`` of LlamaIndex.
        entailer: tells what follows from what; the judge where it can, else the embedded one.
        receiver: whose belief tells what each step was worth; None: nobody's.
        generator: writes sub-questions, where it is given.
        decomposer: makes them instead.
        embedder: tells their roles.
        references: gold answers by question; `Recording.question` gives them for one.
        traces: a trace file that every trace is added to.
        store: a store that every result is added to; it belongs to one process, so attach after forking.
        on_result: called with every result, from the recording's thread.
        sampling: the share of questions that are recorded.
        capacity: how many questions may wait to be measured; more are dropped, and counted.
        keep: how many results stay in memory.
        pipeline: the name of the traces' pipeline; that of the engine's class unless given.
        own_sub_questions: whether sub-questions that the pipeline asks are those that its answer is held against.
        seed: of what is drawn at random.
        redact: replace every text of the results by its hash; a `Redaction` says by which key. No trace file is kept then.
        dispatcher: where events are listened to; the root of all unless given.

    Raises:
        InvalidValueError: an argument out of range, or a model that cannot serve.
        StoreError: a store or a trace file that cannot be used.
    """
    heard = get_dispatcher() if dispatcher is None else dispatcher
    if not isinstance(heard, Dispatcher):
        message = f"dispatcher is a {type(heard).__name__}; give one of LlamaIndex's, or leave it out"
        raise InvalidValueError(message)
    listening = sum(isinstance(each, RecordingSpans) for each in heard.span_handlers)
    if listening >= _MANY:
        _LOG.warning("%d recordings listen already: attach once for a process, and close what is not needed", listening)
    recording = Recording(
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
    streamed: Heard = {}
    spans = RecordingSpans(recording, streamed)
    events = RecordingEvents(recording, streamed)
    heard.add_span_handler(spans)
    heard.add_event_handler(events)

    def detach() -> None:  # new lists: somebody may be walking the old ones
        heard.span_handlers = [each for each in heard.span_handlers if each is not spans]
        heard.event_handlers = [each for each in heard.event_handlers if each is not events]

    recording.on_detach(detach)
    return recording
