"""What the tests of LangChain's recordings share: chains over the small corpus, parts that fail, traces told in few words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, cast

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import Trace
from rag_cover.recording import Recording
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from tests.langchain.parts import ScriptedChatModel

__all__ = [
    "ANSWER",
    "HEAT",
    "PATIENCE_S",
    "PROMPT",
    "SKY",
    "BrokenRetriever",
    "FailingModel",
    "HangingRetriever",
    "answering",
    "config",
    "find",
    "ids",
    "is_empty",
    "joined",
    "only",
    "prompt",
    "rag",
    "recorder",
    "steps",
    "told",
]

SKY = "Why is the sky blue?"
HEAT = "What does a heat pump cost?"
ANSWER = "The sky is blue because air scatters blue light."
PROMPT = ChatPromptTemplate.from_template("Context:\n{context}\n\nQuestion: {question}")
PATIENCE_S = 20


class BrokenRetriever(BaseRetriever):
    """Finds nothing for the first ``often`` times: its database is down."""

    store: InMemoryVectorStore
    often: int = 1_000
    asked: int = 0

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        self.asked += 1
        if self.asked <= self.often:
            message = "the database is down"
            raise ValueError(message)
        return self.store.similarity_search(query, k=2)


class HangingRetriever(BaseRetriever):
    """Never comes back."""

    def _get_relevant_documents(self, query: str, *, run_manager: object) -> NoReturn:
        raise NotImplementedError

    async def _aget_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
        await asyncio.Event().wait()
        return []


class FailingModel(ScriptedChatModel):
    """Breaks off after two words."""

    def _generate(self, *args: Any, **kwargs: Any) -> NoReturn:
        message = "the model is down"
        raise ConnectionError(message)

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        yield from list(super()._stream(*args, **kwargs))[:2]
        self._generate()


def recorder(**given: Any) -> RagCoverCallbackHandler:
    """Make a handler that only records, unless told otherwise."""
    return RagCoverCallbackHandler(**({"measures": ()} | given))


def config(*handlers: RagCoverCallbackHandler, **given: Any) -> RunnableConfig:
    """Have a run recorded."""
    return cast("RunnableConfig", {"callbacks": list(handlers), **given})


def joined(documents: Sequence[Document]) -> str:
    """Write documents one after another, as prompts hold them."""
    return "\n\n".join(document.page_content for document in documents)


def answering(model: BaseChatModel | Runnable[Any, Any]) -> Runnable[Any, str]:
    """Make what answers from a context that is there already."""
    return PROMPT | model | StrOutputParser()


def rag(retriever: Runnable[str, Any], model: BaseChatModel | Runnable[Any, Any]) -> Runnable[str, str]:
    """Make the chain that everybody begins with."""
    return {"context": retriever | joined, "question": RunnablePassthrough()} | answering(model)


def find(store: InMemoryVectorStore, k: int) -> Callable[[str], list[Document]]:
    """Make a function that searches by itself, and tells nobody."""
    return lambda question: store.similarity_search(question, k=k)


def told(recording: Recording) -> tuple[Trace, ...]:
    """Return all traces, of which nothing went wrong."""
    assert recording.flush(PATIENCE_S)
    assert recording.errors == ()
    assert recording.counts.under_way == 0
    return recording.traces


def only(recording: Recording) -> Trace:
    """Return the only trace, of which nothing went wrong and nothing is left."""
    (trace,) = told(recording)
    assert is_empty(recording)
    return trace


def is_empty(recording: Recording) -> bool:
    """Tell whether nothing of what was recorded is held; of calls that never end only the name is."""
    gathering = recording.gathering
    return not gathering.under_way and all(draft is None for draft, _ in gathering._open.values())


def ids(trace: Trace, position: int = -1) -> list[str | None]:
    """Name the passages of one step."""
    return [passage.id for passage in trace.steps[position].passages]


def steps(trace: Trace) -> list[tuple[str, str, list[str | None]]]:
    """Tell each step's kind, id and passages, those without an id by their title."""
    return [(step.kind, step.id, [each.id or each.title for each in step.passages]) for step in trace.steps]


def prompt(trace: Trace) -> list[str | None] | None:
    """Name the passages that the answer was written from; those without an id by their title."""
    return None if trace.prompt is None else [passage.id or passage.title for passage in trace.prompt]
