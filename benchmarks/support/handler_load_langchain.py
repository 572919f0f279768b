"""A LangChain chain of the framework's fake model, recorded into files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, RunnablePassthrough

from benchmarks.support.handler_load import PASSAGES, Kept
from rag_cover.recording import Recording
from rag_cover_langchain import RagCoverCallbackHandler

__all__ = ["Chain"]


class Fixed(BaseRetriever):
    """Finds the same passages for every question."""

    def _get_relevant_documents(self, _query: str, **_: Any) -> list[Document]:
        return [Document(page_content=text, id=str(number)) for number, text in enumerate(PASSAGES)]


class Chain:
    """Retrieves, fills a prompt, and answers from a list."""

    def __init__(self) -> None:
        prompt = ChatPromptTemplate.from_template("Question: {question}\n\nContext:\n{context}")
        model = FakeListChatModel(responses=["The sky looks blue because air scatters light."])
        self._chain = {"context": Fixed() | _joined, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
        self._config: RunnableConfig = {}

    def ask(self, question: str) -> object:
        """Answer a question."""
        return self._chain.invoke(question, self._config)

    @contextmanager
    def recorded(self, kept: Kept) -> Iterator[Recording]:
        """Record what is asked within."""
        handler = RagCoverCallbackHandler(**kept.settings)
        self._config = {"callbacks": [handler]}
        try:
            with handler:
                yield handler
        finally:
            self._config = {}


def _joined(documents: list[Document]) -> str:
    return "\n\n".join(document.page_content for document in documents)
