"""What a LangChain retriever finds for one question: passages for rag_cover, and the documents themselves to give back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, set_config_context
from langchain_core.vectorstores import VectorStoreRetriever

from rag_cover.adaptation import Search
from rag_cover.errors import InvalidValueError
from rag_cover_langchain.passages import passage_of

__all__ = ["DocumentSearch", "called_under", "first_documents"]

T = TypeVar("T")


class DocumentSearch(Search[Document]):
    """Finds passages by a LangChain retriever, and keeps their documents, as `rag_cover.adaptation.Search` does.

    Args:
        retriever: what is asked: a retriever, or a Runnable from a text to documents. Who finds a number of documents that
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


def first_documents(
    retriever: Runnable[str, Any], query: str, k: int, config: RunnableConfig | None = None, **settings: Any
) -> list[Document]:
    """Return the first k documents that a retriever finds; it is asked for so many where that may be asked.

    Raises:
        InvalidValueError: it gave something else than a list.
    """
    asked = {"k": k} if _takes_k(retriever) else {}
    found = retriever.invoke(query, config, **settings, **asked)
    if isinstance(found, Sequence) and not isinstance(found, str):
        return list(found[:k])
    message = f"{type(retriever).__name__!r} gave {type(found).__name__!r} for a query; a retriever gives a list of documents"
    raise InvalidValueError(message)


def called_under(config: RunnableConfig | None, call: Callable[[], T], *, tags: Sequence[str] = ()) -> T:
    """Call what runs LangChain's parts somewhere inside, so that their runs belong to a config, with tags besides its own.

    A config without callbacks belongs to the run that is going on.
    """
    under = ensure_config(config)
    under["tags"] = [*under["tags"], *tags]
    for own in ("run_id", "run_name"):
        under.pop(own, None)  # type: ignore[misc]  # a config need not have them
    with set_config_context(under) as context:
        return context.run(call)


def _takes_k(retriever: object) -> bool:
    """Tell whether k may be asked for; what has ``**kwargs`` alone may pass it on to who then finds too few to rerank."""
    if isinstance(retriever, VectorStoreRetriever):
        return True
    return isinstance(retriever, BaseRetriever) and "k" in inspect.signature(retriever._get_relevant_documents).parameters  # noqa: SLF001  # as LangChain itself asks
