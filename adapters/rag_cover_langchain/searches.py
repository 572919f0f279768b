"""Searches by a LangChain retriever: rag_cover reads passages, and the documents that were found are returned to the caller."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from rag_cover.errors import InvalidValueError
from rag_cover.integration import Search, describe_argument
from rag_cover_langchain.passages import passage_of

__all__ = ["DocumentSearch", "Searched", "first_documents", "refuse_no_text", "to_retriever"]

Searched = Runnable[str, Any] | VectorStore
"""What can be searched: a retriever, another Runnable from a text to documents, or a vector store."""


class DocumentSearch(Search[Document]):
    """Finds passages by a LangChain retriever, and keeps their documents, as `rag_cover.integration.Search` does.

    Args:
        retriever: a retriever, or a Runnable from a text to documents. Who finds a number of documents that
            may be asked for is asked for k; of what others find, the first k are kept.
        config: what each search is called with, such as ``{"callbacks": run_manager.get_child()}``.
        settings: what else the retriever is asked with, such as a vector store's ``filter``.
    """

    def __init__(
        self,
        retriever: Runnable[str, Any],
        config: RunnableConfig | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        def find(query: str, k: int) -> list[Document]:
            return first_documents(retriever, query, k, config, **(settings or {}))

        super().__init__(find, passage_of)


def to_retriever(retriever: Searched) -> Runnable[str, Any]:
    """Return a Runnable as it is, and a vector store as its retriever, which finds as many documents as it is asked for.

    Raises:
        InvalidValueError: the object cannot be searched.
    """
    if isinstance(retriever, VectorStore):
        return retriever.as_retriever()
    if isinstance(retriever, Runnable):
        return retriever
    message = f"{describe_argument(retriever)} finds no documents: give a LangChain retriever or vector store, such as "
    message += "store.as_retriever(), or a Runnable from a text to documents"
    raise InvalidValueError(message)


def first_documents(
    retriever: Runnable[str, Any], query: str, k: int | None, config: RunnableConfig | None = None, **settings: Any
) -> list[Document]:
    """Return the first k documents that a retriever finds, all without k; it is asked for so many where that may be asked.

    Raises:
        InvalidValueError: the retriever returned something else than a list of documents.
    """
    asked = {"k": k} if k is not None and _takes_k(retriever) else {}
    found = retriever.invoke(query, config, **settings, **asked)
    listed = isinstance(found, Sequence) and not isinstance(found, str)
    if listed and all(isinstance(each, Document) for each in found):
        return list(found[:k])
    others = [describe_argument(each) for each in found if not isinstance(each, Document)] if listed else []
    gave = f"{describe_argument(found)} of {others[0]}" if others else describe_argument(found)
    message = f"{type(retriever).__name__!r} gave {gave} for a query; a retriever gives a list of documents"
    raise InvalidValueError(message)


def refuse_no_text(query: object) -> None:
    """Refuse a query that is not a text, such as a mapping from which a chain should have picked the question.

    Raises:
        InvalidValueError: the query is not a text.
    """
    if not isinstance(query, str):
        message = f"a retriever is asked by a text, not by {describe_argument(query)}; pick the question out of it, such as by "
        message += "itemgetter('question') | retriever"
        raise InvalidValueError(message)


def _takes_k(retriever: object) -> bool:
    """Return whether k may be asked for; what has ``**kwargs`` alone may pass it on to who then finds too few to rerank."""
    if isinstance(retriever, VectorStoreRetriever):
        return True
    return isinstance(retriever, BaseRetriever) and "k" in inspect.signature(retriever._get_relevant_documents).parameters  # noqa: SLF001  # as LangChain itself asks
