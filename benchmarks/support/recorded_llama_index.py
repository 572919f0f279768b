"""A LlamaIndex query engine whose recording is timed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index_instrumentation import get_dispatcher

from benchmarks.support.recorded import QUOTED, Timings
from rag_cover import Passage
from rag_cover.recording import Recording
from rag_cover_llama_index import RagCoverEmbedding, attach, node_of

__all__ = ["Engine"]


class Quoting(CustomLLM):
    """Answers with the beginning of what it is shown."""

    @property
    def metadata(self) -> LLMMetadata:
        """Describe the model."""
        return LLMMetadata(model_name="quoting", context_window=100_000)

    def complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponse:
        """Quote the beginning of the context."""
        return CompletionResponse(text=prompt.partition("---------------------\n")[2][:QUOTED])

    def stream_complete(self, prompt: str, *_: Any, **__: Any) -> Any:
        """Quote in one piece."""
        yield self.complete(prompt)


class Engine:
    """A query engine over an index of passages, with a filter."""

    def __init__(self, passages: Sequence[Passage], *, k: int) -> None:
        index = VectorStoreIndex([node_of(passage).node for passage in passages], embed_model=RagCoverEmbedding())
        keeps = SimilarityPostprocessor(similarity_cutoff=0.0)
        self._engine = index.as_query_engine(llm=Quoting(), similarity_top_k=k, node_postprocessors=[keeps])

    def ask(self, question: str) -> object:
        """Answer a question."""
        return self._engine.query(question)

    async def aask(self, question: str) -> object:
        """Answer a question, awaited."""
        return await self._engine.aquery(question)

    def recorded(self, *, measuring: bool) -> AbstractContextManager[Recording]:
        """Record what is asked within."""
        return attach(measures=None if measuring else ())

    @contextmanager
    def timed(self, recording: Recording) -> Iterator[Timings]:
        """Put timers around the recording's handlers, which were added last."""
        heard, timings = get_dispatcher(), Timings(recording)
        span, event = _Timed(heard.span_handlers[-1], timings), _Timed(heard.event_handlers[-1], timings)
        heard.span_handlers = [*heard.span_handlers[:-1], span]
        heard.event_handlers = [*heard.event_handlers[:-1], event]
        try:
            yield timings
        finally:
            heard.span_handlers = [each for each in heard.span_handlers if each is not span]
            heard.event_handlers = [each for each in heard.event_handlers if each is not event]


class _Timed:
    """A handler whose calls are timed."""

    def __init__(self, handler: Any, timings: Timings) -> None:
        self._handler, self._timings = handler, timings

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._handler, name)
        return self._timings.timed(method, _id_of) if name in ("span_enter", "span_exit", "span_drop", "handle") else method


def _id_of(*given: Any, **named: Any) -> str:
    return named["id_"] if named else given[0].span_id or ""
