"""Retrievers for LangChain: driven by core sub-questions, or hybrid and offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, run_in_executor
from pydantic import Field, PrivateAttr, SkipValidation

from rag_cover import build_retriever
from rag_cover.augmentation import FEEDBACK
from rag_cover.backends import Generator, Receiver, Retriever, Scorer
from rag_cover.coverage import Augmenter, Decomposer
from rag_cover.integration import (
    OnRerankError,
    Reconstructible,
    augment_if_possible,
    augmenter_by,
    explain_by_search,
    refuse_below,
    refuse_mode,
    refuse_on_error,
)
from rag_cover_langchain.configs import call_under_config
from rag_cover_langchain.models import Writer, models_of, retriever_of
from rag_cover_langchain.passages import add_metadata, passage_of
from rag_cover_langchain.searches import DocumentSearch, Searched, first_documents, refuse_no_text, to_retriever

__all__ = ["RagCoverRetriever", "SubQuestionRetriever"]

FOUND_FOR = "found_for"
"""The metadata key under which an explained document names the questions whose searches found it."""


class SubQuestionRetriever(Reconstructible, BaseRetriever):
    """Searches for a question and its core sub-questions, and keeps the documents that together cover most (M3).

    Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), §5; `rag_cover.coverage.augment` explains the settings.
    Documents are the inner retriever's own, best first. A search that fails costs that search. A blank question is searched for
    as it is. ``invoke(question, k=…)`` keeps another number of them; what else it is called with, such as a vector store's
    ``filter``, goes to each search.

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate: ::

            retriever = SubQuestionRetriever(retriever=store.as_retriever(), k=5)

    Invoke: ::

            documents = retriever.invoke("Why is the sky blue, and red at sunset?")

    Args:
        retriever: searches for each of them, from several threads: a retriever, or a Runnable from a text to documents.
            One that cannot be asked for ``depth`` documents must find so many by itself; a vector store does as it is asked.
        judge: decides whether a passage covers a sub-question; a chat model judges, too.
        receiver: reads the answers that later sub-questions build on; a chat model is asked thirty times for each, so better
            give it as generator, and None here.
        generator: splits questions, and reads those answers without a receiver.
        decomposer: splits them instead: ``"rules"``, the name of a generator, one, a trace file or a function. None: the
            generator, else rules.
        mode: ``"retrieval"`` searches for all of them, ``"auto"`` for those that the question's own passages do not cover.
        k: how many documents to keep.
        depth: how many documents each search asks for; k unless given.
        max_tokens: how many tokens the documents may have in all.
        max_calls: how many searches to make in all, the question's own among them.
        rounds: how often ``"auto"`` searches for what is still not covered.
        feedback: how many of the first passages name what a question that was not taken apart is searched for with again;
            0: it is searched for once.
        threshold: the probability from which a passage covers; the judge's own unless given.
        on_error: ``"keep"``: where augmentation fails, return the retriever's own documents and log the failure as a warning;
            ``"raise"``: raise it.
        explain: name in each document's metadata, under ``"found_for"``, the questions whose searches found it, on a copy.

    Raises:
        InvalidValueError: a mode that writes prompts, a model that cannot serve, or a number out of range.
    """

    retriever: Annotated[Searched, SkipValidation]
    judge: Annotated[str | Scorer | Writer, SkipValidation] = "embedded"
    receiver: Annotated[str | Receiver | Writer | None, SkipValidation] = "embedded"
    generator: Annotated[str | Generator | Writer | None, SkipValidation] = None
    decomposer: Annotated[str | Path | Generator | Decomposer | Writer | None, SkipValidation] = None
    mode: Literal["retrieval", "auto"] = "retrieval"
    k: int = 10
    depth: int | None = None
    max_tokens: int | None = None
    max_calls: int | None = None
    rounds: int = 4
    feedback: int = FEEDBACK
    threshold: float | None = None
    on_error: OnRerankError = "keep"
    explain: bool = False

    _augmenter: Augmenter = PrivateAttr()

    def __init__(  # noqa: PLR0913  # fields, all but the first by name
        self,
        retriever: Searched,
        *,
        judge: str | Scorer | Writer = "embedded",
        receiver: str | Receiver | Writer | None = "embedded",
        generator: str | Generator | Writer | None = None,
        decomposer: str | Path | Generator | Decomposer | Writer | None = None,
        mode: Literal["retrieval", "auto"] = "retrieval",
        k: int = 10,
        depth: int | None = None,
        max_tokens: int | None = None,
        max_calls: int | None = None,
        rounds: int = 4,
        feedback: int = FEEDBACK,
        threshold: float | None = None,
        on_error: OnRerankError = "keep",
        explain: bool = False,
        name: str | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        refuse_mode(mode, instead="rag_cover.coverage.augment(…, mode=…)")
        refuse_on_error(on_error)
        refuse_below(1, k=k)
        models: dict[str, Any] = {"judge": judge, "receiver": receiver, "generator": generator, "decomposer": decomposer}
        limits = {"k": k, "depth": depth, "max_tokens": max_tokens, "max_calls": max_calls}
        settings: dict[str, Any] = {**limits, "mode": mode, "rounds": rounds, "feedback": feedback, "threshold": threshold}
        augmenter = augmenter_by(retriever_of(to_retriever(retriever)), models_of(**models), **settings)
        labels: dict[str, Any] = {"name": name, "tags": tags, "metadata": metadata}
        super().__init__(retriever=retriever, on_error=on_error, explain=explain, **models, **settings, **labels)
        self._augmenter = augmenter

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **settings: Any
    ) -> list[Document]:
        refuse_no_text(query)
        wanted = self.k if k is None else k
        refuse_below(1, k=wanted)
        augmenter = replace(self._augmenter, k=wanted)
        retriever = to_retriever(self.retriever)
        config: RunnableConfig = {"callbacks": run_manager.get_child()}

        def find() -> list[Document]:
            search = DocumentSearch(retriever, config, settings)
            made = augment_if_possible(augmenter, search, query, on_error=self.on_error)
            if made is None:
                return first_documents(retriever, query, augmenter.k, config, **settings)
            return explain_by_search(made, _explain) if self.explain else made.kept

        return call_under_config(config, find)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **settings: Any
    ) -> list[Document]:
        return await run_in_executor(None, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **settings)


class RagCoverRetriever(Reconstructible, BaseRetriever):
    """Finds documents by hybrid retrieval: BM25 and the meaning of tokens, offline and without a key (English).

    The retriever behind it is `rag_cover.build_retriever("embedded", …)`. Documents come back as they were given, each with a
    metadata of its own. ``invoke(question, k=…)`` returns another number of them. Make it with `from_documents`.

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate: ::

            retriever = RagCoverRetriever.from_documents(documents, k=5)

    Invoke: ::

            documents = retriever.invoke("Why is the sky blue?")

    Args:
        documents: what is found, by `Passage.key`.
        retriever: finds their passages.
        k: how many documents to return.

    Raises:
        InvalidValueError: ``k`` is less than 1.
    """

    documents: Annotated[Mapping[str, Document], SkipValidation] = Field(repr=False)  # a trace may write its reprs
    retriever: Annotated[Retriever, SkipValidation]
    k: int = 10

    def __init__(
        self,
        documents: Mapping[str, Document],
        retriever: Retriever,
        *,
        k: int = 10,
        name: str | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        refuse_below(1, k=k)
        labels: dict[str, Any] = {"name": name, "tags": tags, "metadata": metadata}
        super().__init__(documents=dict(documents), retriever=retriever, k=k, **labels)

    @classmethod
    def from_documents(
        cls, documents: Sequence[Document], *, k: int = 10, index: Path | str | None = None
    ) -> RagCoverRetriever:
        """Index documents; ``index`` is the folder to keep the index in, or to find it in.

        Of documents with one id, or of those without any with one content, the first is kept.

        Raises:
            InvalidValueError: there are no documents.
            StoreError: ``index`` holds something else, or the index of other documents.
        """
        found: dict[str, Document] = {}
        for document in documents:
            found.setdefault(passage_of(document).key, document)
        retriever = build_retriever("embedded", map(passage_of, found.values()), index=None if index is None else Path(index))
        return cls(found, retriever, k=k)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # the framework's; nothing inside has runs of its own
        k: int | None = None,
    ) -> list[Document]:
        refuse_no_text(query)
        wanted = self.k if k is None else k
        refuse_below(1, k=wanted)
        found = [self.documents[passage.key] for passage in self.retriever.retrieve(query, k=wanted)]
        return [add_metadata(document, {}) for document in found]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return await run_in_executor(None, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), k=k)


def _explain(found: Document, questions: Sequence[str]) -> Document:
    """Return a copy that names what the document was found for."""
    return add_metadata(found, {FOUND_FOR: list(questions)})
