"""The base class of the document compressors: opens models, and keeps the retriever's order where a model fails."""

# no annotations from __future__: a RunnableLambda reads its schemas from them, and cannot resolve texts

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import ConfigDict, PrivateAttr

from rag_cover import Models
from rag_cover.errors import InvalidValueError
from rag_cover.integration import LazyModels, OnRerankError, Reconstructible, refuse_on_error, rerank_or_keep
from rag_cover.measures import ModelKind
from rag_cover_langchain.configs import call_under_config
from rag_cover_langchain.payloads import documents_in, question_in

__all__ = ["EXPLANATION", "CompressorInput", "ModelCompressor"]

Choice = Callable[[Sequence[Document], str, Models], list[Document]]
"""Chooses among documents for a question, by open models."""

CompressorInput = Mapping[str, Any] | tuple[Sequence[Document], str]
"""What a compressor's Runnable takes: a mapping with documents and a question, or these two."""

EXPLANATION = "rag_cover"
"""The key of a document's metadata under which ``explain=True`` says why."""

_DOCUMENTS = ("documents", "context")
_PAIR = 2


class ModelCompressor(Reconstructible, BaseDocumentCompressor):
    """Chooses among documents by models, which are opened at their first use."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    on_error: OnRerankError = "keep"
    explain: bool = False

    model_kinds: ClassVar[Sequence[ModelKind]] = ()

    _models: LazyModels = PrivateAttr()

    def _keep(self, models: Models) -> None:
        """Remember what is opened when it is needed."""
        refuse_on_error(self.on_error)
        self._models = LazyModels(models, self.model_kinds)

    def as_runnable(self) -> Runnable[CompressorInput, list[Document]]:
        """Return it as a step of a chain, from documents and their question to documents; named as its class, for callbacks.

        The documents stand under ``documents`` or ``context``, the question under ``question``, ``query`` or ``input``, or they
        are a tuple of both. In a chain that keeps both by name:

            find = RunnablePassthrough.assign(context=itemgetter("question") | retriever)
            keep = RunnablePassthrough.assign(context=CoverageCompressor(top_n=5).as_runnable())
            chain = find | keep | prompt | model

        Raises:
            InvalidValueError: when called, with nothing of the kind.
        """

        def compress(given: CompressorInput, config: RunnableConfig) -> list[Document]:
            documents, question = _documents_and_question(given)
            return call_under_config(config, lambda: list(self.compress_documents(documents, question)))

        async def acompress(given: CompressorInput, config: RunnableConfig) -> list[Document]:
            documents, question = _documents_and_question(given)
            return list(await self.acompress_documents(documents, question, config.get("callbacks")))

        return RunnableLambda(compress, acompress, name=type(self).__name__)

    def _choose_by_models(
        self, choose: Choice, documents: Sequence[Document], query: str, callbacks: Callbacks, *, most: int | None = None
    ) -> list[Document]:
        """Choose among documents by models that are open; where these fail, return the first documents as they came.

        Raises:
            RagCoverError: a model cannot be opened.
        """
        called = (type(self).__name__, "documents")
        config = None if callbacks is None else RunnableConfig(callbacks=callbacks)
        return call_under_config(
            config,
            lambda: rerank_or_keep(choose, documents, query, self._models, called=called, on_error=self.on_error, most=most),
        )


def _documents_and_question(given: object) -> tuple[list[Document], str]:
    match given:
        case Mapping():
            name = _name_of_documents(given)
            documents, asked = _documents(name, given[name]), given
        case tuple() if len(given) == _PAIR:
            documents, asked = _documents("documents", given[0]), given[1]
        case _:
            message = f"a {type(given).__name__!r} is no documents with their question; give a mapping, such as "
            message += "{'documents': […], 'question': …}, or a tuple of both"
            raise InvalidValueError(message)
    question = asked if isinstance(asked, str) else question_in(asked)
    if question is None:
        message = "there is no question beside the documents; give it under 'question', 'query' or 'input'"
        raise InvalidValueError(message)
    return documents, question


def _name_of_documents(given: Mapping[str, Any]) -> str:
    name = next((name for name in _DOCUMENTS if name in given and not isinstance(given[name], str)), None)
    if name is None:
        has = ", ".join(map(repr, given)) or "nothing"
        message = f"there are no documents in what was given, which has {has}; give them under 'documents' or 'context'"
        raise InvalidValueError(message)
    return name


def _documents(name: str, given: object) -> list[Document]:
    """List documents, with or without scores; what is none is refused, since it would be missing without a word."""
    found = [(each, documents_in(each)) for each in (given if isinstance(given, list | tuple) else [given])]
    for each, inside in found:
        if not inside:
            message = f"{name!r} holds a {type(each).__name__!r} and no document; give Documents of LangChain"
            raise InvalidValueError(message)
    return [document for _, inside in found for document in inside]
