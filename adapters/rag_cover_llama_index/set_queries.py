"""A retriever for LlamaIndex that answers set queries, "A or B but not C", by set algebra over what another one finds."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Callable
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.indices.base import BaseIndex
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import BaseNode, IndexNode, NodeWithScore, QueryBundle

from rag_cover.backends import Generator, Scorer
from rag_cover.integration import (
    MIN_CONFIDENCE,
    EntityNames,
    Member,
    OnRerankError,
    Search,
    answer_set_query,
    answer_set_query_if_possible,
    refuse_below,
    refuse_on_error,
    refuse_outside,
    set_answerer_by,
    without_none,
)
from rag_cover.setqueries import DEPTH, MOST_PAIRS, Modifiers, SetAnswer
from rag_cover_llama_index.models import models_of, retriever_of
from rag_cover_llama_index.passages import add_metadata, passage_of
from rag_cover_llama_index.retrievers import RagCoverRetriever
from rag_cover_llama_index.searches import to_retriever

__all__ = ["SetQueryRetriever"]

_LOG = logging.getLogger(__name__)

SET_QUERY = "set_query"
"""The metadata key under which an explained node says why its entity belongs."""


class SetQueryRetriever(BaseRetriever):
    """Returns all nodes about the members of a set query, "A or B but not C"; passes other questions to another retriever.

    Malaviya et al., "QUEST" (ACL 2023), as `rag_cover.setqueries.answer` does it; that explains the settings. Each atom is
    searched for by itself, what is found is judged by every atom, and what is probable enough is kept, the likeliest first: a
    score is P(its entity belongs). Nodes are the inner retriever's own. Where nothing belongs, or the question contradicts
    itself, nothing is returned, and a warning says why; `answer` tells it all. A question that is no set query, or may be none,
    is passed on as it is.

    Args:
        retriever: searches for each atom, from several threads. An index, a ``VectorIndexRetriever`` and a
            `RagCoverRetriever` find as many nodes as that takes; any other must find ``depth`` by itself.
        judge: decides whether a passage's entity belongs to an atom; a language model judges, too.
        generator: reads questions as set queries; None: a grammar does, offline.
        k: how many nodes to return at most; None: all that tell of what belongs.
        depth: how many nodes to search for by each atom; twice as many where it is intersected.
        max_pairs: how many pairs of a node and an atom to judge at most; the most promising candidates first.
        threshold: an entity is kept if its probability is above this; None: as was fitted for the judge.
        modifiers: whether "big cats of Asia" is one set or two: ``"read"`` as the parser reads it, ``"split"`` each modifier
            into a set of its own, or ``"joined"`` with its noun.
        screen: do not judge a pair that neither the search nor its words speak for: fewer judgments, and an answer may differ.
        entity: what names the entity that a node is about, since nodes of one entity are one candidate: a key of the metadata,
            or a function of a node. Where it is None or gives nothing, that is the title, else the document that the node is a
            part of (``ref_doc_id``), else the node. Name one where a document without a title tells of several entities.
        min_confidence: the confidence from which a question that was read as a set query is answered as one.
        on_error: ``"keep"``: a question that cannot be answered, since it only says what is not wanted, say, or since the
            judge's server is down, is passed on as it is, and a warning says why; ``"raise"``.
        explain: say in each node's metadata, under ``"set_query"``, which entity it is of, why that belongs, and what speaks
            for and against each atom; neither language nor embedding models are shown that.

    Raises:
        InvalidValueError: what finds no nodes, a model that cannot serve, or a setting out of range.
    """

    def __init__(  # noqa: PLR0913  # all but the retriever by name
        self,
        retriever: BaseRetriever | BaseIndex[Any],
        *,
        judge: str | Scorer | LLM = "embedded",
        generator: str | Generator | LLM | None = None,
        k: int | None = None,
        depth: int = DEPTH,
        max_pairs: int = MOST_PAIRS,
        threshold: float | None = None,
        modifiers: Modifiers = "read",
        screen: bool = False,
        entity: str | Callable[[BaseNode], str] | None = None,
        min_confidence: float = MIN_CONFIDENCE,
        on_error: OnRerankError = "keep",
        explain: bool = True,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
    ) -> None:
        refuse_on_error(on_error)
        refuse_outside(0, 1, min_confidence=min_confidence)
        refuse_below(1, **without_none(k=k))
        self._names = EntityNames(_of_found(entity), source_of=lambda found: found.node.ref_doc_id)
        self._whole = _as_it_is(retriever, k)
        self._searched = retriever
        self._answerer = set_answerer_by(
            retriever_of(self._whole),
            models_of(judge=judge, generator=generator),
            depth=depth,
            max_pairs=max_pairs,
            threshold=threshold,
            explain=explain,
            modifiers=modifiers,
            screen=screen,
        )
        _warn_if_shallow(retriever, depth)
        self._k, self._min_confidence, self._on_error, self._explain = k, min_confidence, on_error, explain
        inner = getattr(self._whole, "callback_manager", None)
        super().__init__(callback_manager or inner, object_map, objects, verbose)

    def answer(self, question: str | QueryBundle) -> SetAnswer:
        """Answer a question, set query or not, with everything that was found, what was left out and why.

        Raises:
            InvalidValueError: a question that cannot be answered: it is blank, only takes away, or has too many atoms.
            ModelFailedError: every search failed, or the model that parses questions did.
        """
        asked = question if isinstance(question, str) else question.query_str
        return answer_set_query(self._answerer, self._search(), asked, names=self._names).answer

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"retriever": self._whole}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        made = answer_set_query_if_possible(
            self._answerer,
            self._search(),
            query_bundle.query_str,
            names=self._names,
            min_confidence=self._min_confidence,
            on_error=self._on_error,
        )
        if made is None:
            return self._whole.retrieve(query_bundle)[: self._k]
        return [_node_of_member(member, explain=self._explain) for member in made.members(self._k)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _search(self) -> Search[NodeWithScore]:
        """Make a search for one question, each of whose queries finds as many nodes as it is asked for, if that may be set."""
        return Search(lambda query, k: _with_depth(self._searched, k).retrieve(query), passage_of)


def _as_it_is(retriever: BaseRetriever | BaseIndex[Any], k: int | None) -> BaseRetriever:
    """Return a retriever for questions that are no set queries: of an index its usual one, unless a number is asked for."""
    if isinstance(retriever, BaseIndex) and k is None:
        return retriever.as_retriever()
    return to_retriever(retriever, top_k=k or 1)


def _with_depth(retriever: BaseRetriever | BaseIndex[Any], depth: int) -> BaseRetriever:
    """Return a retriever that finds so many nodes, on a copy; one for which that cannot be set as it is."""
    if isinstance(retriever, VectorIndexRetriever | RagCoverRetriever):
        deep = copy.copy(retriever)
        deep.similarity_top_k = depth
        return deep
    return to_retriever(retriever, top_k=depth)


def _warn_if_shallow(retriever: BaseRetriever | BaseIndex[Any], depth: int) -> None:
    """Warn of a retriever that is set to find fewer nodes than are searched for, and cannot be set to find more."""
    top_k = getattr(retriever, "similarity_top_k", None)
    if isinstance(top_k, int) and top_k < depth and _with_depth(retriever, depth) is retriever:
        name = type(retriever).__name__
        _LOG.warning("%s finds %d nodes for an atom, not %d: give it similarity_top_k=%d", name, top_k, depth, depth)


def _of_found(entity: str | Callable[[BaseNode], str] | None) -> str | Callable[[NodeWithScore], str] | None:
    return (lambda found: entity(found.node)) if callable(entity) else entity


def _node_of_member(member: Member[NodeWithScore], *, explain: bool) -> NodeWithScore:
    node = member.find.node
    return NodeWithScore(
        node=add_metadata(node, {SET_QUERY: dict(member.explanation)}) if explain else node, score=member.probability
    )
