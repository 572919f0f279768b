"""A retriever for LangChain that answers set queries, "A or B but not C", by set algebra over what another one finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, run_in_executor
from pydantic import PrivateAttr, SkipValidation

from rag_cover.backends import Generator, Scorer
from rag_cover.integration import (
    MIN_CONFIDENCE,
    EntityNames,
    Member,
    OnRerankError,
    Reconstructible,
    answer_set_query,
    answer_set_query_if_possible,
    refuse_below,
    refuse_on_error,
    refuse_outside,
    set_answerer_by,
    without_none,
)
from rag_cover.setqueries import DEPTH, MOST_PAIRS, Modifiers, SetAnswer, SetAnswerer
from rag_cover_langchain.configs import call_under_config
from rag_cover_langchain.models import Writer, models_of, retriever_of
from rag_cover_langchain.passages import add_metadata
from rag_cover_langchain.searches import DocumentSearch, Searched, first_documents, refuse_no_text, to_retriever

__all__ = ["SetQueryRetriever"]

SET_QUERY = "set_query"
"""The metadata key under which an explained document says why its entity belongs."""

_SCORE = "relevance_score"


class SetQueryRetriever(Reconstructible, BaseRetriever):
    """Returns all documents about the members of a set query, "A or B but not C"; passes other questions to another retriever.

    Malaviya et al., "QUEST" (ACL 2023), as `rag_cover.setqueries.answer` does it; that explains the settings. Each atom is
    searched for by itself, what is found is judged by every atom, and what is probable enough is kept, the likeliest first.
    Documents are the inner retriever's own. Where nothing belongs, or the question contradicts itself, nothing is returned, and
    a warning says why; `answer` tells it all. A question that is no set query, or may be none, is passed on as it is.
    ``invoke(question, k=…)`` returns another number of documents at most; what else it is called with, such as a vector store's
    ``filter``, goes to each search.

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate: ::

            retriever = SetQueryRetriever(retriever=store.as_retriever())

    Invoke: ::

            documents = retriever.invoke("Birds of Ohio but not of Texas")

    Args:
        retriever: searches for each atom, from several threads: a retriever, or a Runnable from a text to documents. One
            that cannot be asked for ``depth`` documents must find so many by itself; a vector store does as it is asked.
        judge: decides whether a passage's entity belongs to an atom; a chat model judges, too.
        generator: reads questions as set queries; None: a grammar does, offline.
        k: how many documents to return at most; None: all that tell of what belongs.
        depth: how many documents to search for by each atom; twice as many where it is intersected.
        max_pairs: how many pairs of a document and an atom to judge at most; the most promising candidates first.
        threshold: an entity is kept if its probability is above this; None: as was fitted for the judge.
        modifiers: whether "big cats of Asia" is one set or two: ``"read"`` as the parser reads it, ``"split"`` each modifier
            into a set of its own, or ``"joined"`` with its noun.
        screen: do not judge a pair that neither the search nor its words speak for: fewer judgments, and an answer may differ.
        entity: what names the entity that a document is about, since documents of one entity are one candidate: a key of the
            metadata, or a function of a document. Where it is None or gives nothing, that is the title, else the document. A
            ``source`` is none unless you say so: the rows of a table have one source, and are of many entities.
        min_confidence: the confidence from which a question that was read as a set query is answered as one.
        on_error: ``"keep"``: a question that cannot be answered, since it only says what is not wanted, say, or since the
            judge's server is down, is passed on as it is, and a warning says why; ``"raise"``.
        explain: say in each document's metadata, on a copy, under ``"set_query"``, which entity it is of, why that belongs, and
            what speaks for and against each atom, and under ``"relevance_score"`` P(it belongs).

    Raises:
        InvalidValueError: what finds no documents, a model that cannot serve, or a setting out of range.
    """

    retriever: Annotated[Searched, SkipValidation]
    judge: Annotated[str | Scorer | Writer, SkipValidation] = "embedded"
    generator: Annotated[str | Generator | Writer | None, SkipValidation] = None
    k: int | None = None
    depth: int = DEPTH
    max_pairs: int = MOST_PAIRS
    threshold: float | None = None
    modifiers: Modifiers = "read"
    screen: bool = False
    entity: Annotated[str | Callable[[Document], str] | None, SkipValidation] = None
    min_confidence: float = MIN_CONFIDENCE
    on_error: OnRerankError = "keep"
    explain: bool = True

    _answerer: SetAnswerer = PrivateAttr()
    _names: EntityNames[Document] = PrivateAttr()

    def __init__(  # noqa: PLR0913  # fields, all but the first by name
        self,
        retriever: Searched,
        *,
        judge: str | Scorer | Writer = "embedded",
        generator: str | Generator | Writer | None = None,
        k: int | None = None,
        depth: int = DEPTH,
        max_pairs: int = MOST_PAIRS,
        threshold: float | None = None,
        modifiers: Modifiers = "read",
        screen: bool = False,
        entity: str | Callable[[Document], str] | None = None,
        min_confidence: float = MIN_CONFIDENCE,
        on_error: OnRerankError = "keep",
        explain: bool = True,
        name: str | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        refuse_on_error(on_error)
        refuse_outside(0, 1, min_confidence=min_confidence)
        refuse_below(1, **without_none(k=k))
        names = EntityNames(entity)
        models: dict[str, Any] = {"judge": judge, "generator": generator}
        settings: dict[str, Any] = {"depth": depth, "max_pairs": max_pairs, "threshold": threshold, "explain": explain}
        settings |= {"modifiers": modifiers, "screen": screen}
        answerer = set_answerer_by(retriever_of(to_retriever(retriever)), models_of(**models), **settings)
        kept: dict[str, Any] = {"k": k, "entity": entity, "min_confidence": min_confidence, "on_error": on_error}
        labels: dict[str, Any] = {"name": name, "tags": tags, "metadata": metadata}
        super().__init__(retriever=retriever, **models, **settings, **kept, **labels)
        self._answerer, self._names = answerer, names

    def answer(self, question: str, config: RunnableConfig | None = None, **settings: Any) -> SetAnswer:
        """Answer a question, set query or not, with everything that was found, what was left out and why.

        Raises:
            InvalidValueError: a question that cannot be answered: it is blank, only takes away, or has too many atoms.
            ModelFailedError: every search failed, or the model that parses questions did.
        """
        refuse_no_text(question)

        def answer() -> SetAnswer:
            search = DocumentSearch(to_retriever(self.retriever), config, settings)
            return answer_set_query(self._answerer, search, question, names=self._names).answer

        return call_under_config(config, answer)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **settings: Any
    ) -> list[Document]:
        refuse_no_text(query)
        most = self.k if k is None else k
        refuse_below(1, **without_none(k=most))
        retriever = to_retriever(self.retriever)
        config: RunnableConfig = {"callbacks": run_manager.get_child()}

        def find() -> list[Document]:
            made = answer_set_query_if_possible(
                self._answerer,
                DocumentSearch(retriever, config, settings),
                query,
                names=self._names,
                min_confidence=self.min_confidence,
                on_error=self.on_error,
            )
            if made is None:
                return first_documents(retriever, query, most, config, **settings)
            return [_explain(member) if self.explain else member.find for member in made.members(most)]

        return call_under_config(config, find)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **settings: Any
    ) -> list[Document]:
        return await run_in_executor(None, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **settings)


def _explain(member: Member[Document]) -> Document:
    """Return a copy that says why its entity belongs."""
    return add_metadata(member.find, {SET_QUERY: dict(member.explanation), _SCORE: member.probability})
