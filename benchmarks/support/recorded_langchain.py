"""A LangChain retrieval chain whose recording is timed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from benchmarks.support.recorded import QUOTED, Timings
from rag_cover import Passage
from rag_cover.recording import Recording
from rag_cover_langchain import RagCoverCallbackHandler, RagCoverEmbeddings, document_of

__all__ = ["Chain"]


class Quoting(SimpleChatModel):
    """Answers with the beginning of what it is shown."""

    @property
    def _llm_type(self) -> str:
        return "quoting"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        return messages[-1].text.partition("Context:\n")[2][:QUOTED]


class Chain:
    """A retrieval chain over a vector store of passages, with a filter; recorded by the handler in its configuration."""

    def __init__(self, passages: Sequence[Passage], *, k: int) -> None:
        store = InMemoryVectorStore(RagCoverEmbeddings())
        store.add_documents([document_of(passage) for passage in passages])
        prompt = ChatPromptTemplate.from_template("Question: {question}\n\nContext:\n{context}")
        context = store.as_retriever(search_kwargs={"k": k}) | _keep | _joined
        self._chain = {"context": context, "question": RunnablePassthrough()} | prompt | Quoting() | StrOutputParser()
        self._config: RunnableConfig = {}

    def ask(self, question: str) -> object:
        """Answer a question."""
        return self._chain.invoke(question, self._config)

    async def aask(self, question: str) -> object:
        """Answer a question, awaited."""
        return await self._chain.ainvoke(question, self._config)

    def recorded(self, *, measuring: bool) -> AbstractContextManager[Recording]:
        """Record what is asked within."""
        return self._recorded(RagCoverCallbackHandler(measures=None if measuring else ()))

    @contextmanager
    def _recorded(self, handler: RagCoverCallbackHandler) -> Iterator[Recording]:
        self._config = {"callbacks": [handler]}
        try:
            with handler:
                yield handler
        finally:
            self._config = {}

    @contextmanager
    def timed(self, recording: Recording) -> Iterator[Timings]:
        """Put timers around the handler's callbacks."""
        timings = Timings(recording)
        for name in dir(recording):
            if name.startswith("on_") and name.endswith(("_start", "_end", "_error")):
                setattr(recording, name, timings.timed(getattr(recording, name), _id_of))
        yield timings


def _keep(documents: list[Document]) -> list[Document]:
    return [document for document in documents if document.page_content]


def _joined(documents: list[Document]) -> str:
    return "\n\n".join(document.page_content for document in documents)


def _id_of(*_: Any, **named: Any) -> str:
    return str(named["run_id"])
