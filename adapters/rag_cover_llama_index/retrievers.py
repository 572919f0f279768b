"""Retrievers for LlamaIndex: driven by core sub-questions, or hybrid and offline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.indices.base import BaseIndex
from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import BaseNode, IndexNode, NodeWithScore, QueryBundle

from rag_cover import build_retriever
from rag_cover.augmentation import FEEDBACK
from rag_cover.backends import Generator, Receiver, Retriever, Scorer
from rag_cover.coverage import Decomposer
from rag_cover.integration import (
    OnRerankError,
    augment_if_possible,
    explain_by_search,
    refuse_below,
    refuse_mode,
    refuse_on_error,
)
from rag_cover_llama_index.augmentations import augmenter_of
from rag_cover_llama_index.host_terms import take_host_term
from rag_cover_llama_index.passages import add_metadata, passage_of
from rag_cover_llama_index.searches import NodeSearch, to_retriever

__all__ = ["RagCoverRetriever", "SubQuestionRetriever"]

FOUND_FOR = "found_for"
"""The metadata key under which an explained node names the questions whose searches found it."""


class SubQuestionRetriever(BaseRetriever):
    """Searches for a question and its core sub-questions, and keeps the nodes that together cover most (M3).

    Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), §5; `rag_cover.coverage.augment` explains the settings. Nodes
    are the inner retriever's own, best first; a score is the one of the first search that found the node, and no measure of
    what it covers. A failed search is left out. A blank question is searched for as it is.

    Args:
        retriever: searches for each of them, from several threads; it must find ``depth`` nodes by itself
            (``similarity_top_k``). An index is asked by a retriever that does.
        judge: decides whether a passage covers a sub-question; a language model judges, too.
        receiver: reads the answers that later sub-questions build on; a language model is asked thirty times for each, so
            better give it as generator, and None here.
        generator: splits questions, and reads those answers without a receiver; ``llm`` is LlamaIndex's word for it.
        decomposer: splits them instead: ``"rules"``, the name of a generator, one, a trace file or a function. None: the
            generator, else rules.
        mode: ``"retrieval"`` searches for all of them, ``"auto"`` for those that the question's own passages do not cover.
        k: how many nodes to keep; ``similarity_top_k`` is LlamaIndex's word for it.
        depth: how many nodes each search asks for; k unless given.
        max_tokens: how many tokens the nodes may have in all.
        max_calls: how many searches to make in all, the question's own among them.
        rounds: how often ``"auto"`` searches for what is still not covered.
        feedback: how many of the first passages name what a question that was not taken apart is searched for with again;
            0: it is searched for once.
        threshold: the probability from which a passage covers; the judge's own unless given.
        on_error: ``"keep"``: where augmentation fails, return the retriever's own nodes and log the failure as a warning;
            ``"raise"``: raise it.
        explain: name in each node's metadata, under ``"found_for"``, the questions whose searches found it; neither language
            nor embedding models are shown that.

    Raises:
        InvalidValueError: a mode that only an engine has, a model that cannot serve, or a number out of range.
    """

    def __init__(  # noqa: PLR0913  # all but the retriever by name
        self,
        retriever: BaseRetriever | BaseIndex[Any],
        *,
        judge: str | Scorer | LLM = "embedded",
        receiver: str | Receiver | LLM | None = "embedded",
        generator: str | Generator | LLM | None = None,
        decomposer: str | Path | Generator | Decomposer | LLM | None = None,
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
        llm: LLM | None = None,
        similarity_top_k: int | None = None,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
    ) -> None:
        refuse_mode(mode, instead="CoverageQueryEngine(retriever, llm, mode=…)")
        refuse_on_error(on_error)
        k = take_host_term(k, "k", 10, similarity_top_k=similarity_top_k)
        generator = take_host_term(generator, "generator", None, llm=llm)
        self._retriever = to_retriever(retriever, top_k=depth or k)
        self._augmenter = augmenter_of(
            self._retriever,
            mode=mode,
            judge=judge,
            receiver=receiver,
            generator=generator,
            decomposer=decomposer,
            k=k,
            depth=depth,
            max_tokens=max_tokens,
            max_calls=max_calls,
            rounds=rounds,
            feedback=feedback,
            threshold=threshold,
        )
        self._explain, self._on_error = explain, on_error
        inner = getattr(self._retriever, "callback_manager", None)
        super().__init__(callback_manager or inner, object_map, objects, verbose)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"retriever": self._retriever}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        search, asked = NodeSearch(self._retriever, query_bundle), query_bundle.query_str
        made = augment_if_possible(self._augmenter, search, asked, on_error=self._on_error)
        if made is None:
            return self._retriever.retrieve(query_bundle)[: self._augmenter.k]
        return explain_by_search(made, _explain) if self._explain else made.kept

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class RagCoverRetriever(BaseRetriever):
    """Finds nodes by hybrid retrieval: BM25 and the meaning of tokens, offline and without a key (English).

    The retriever behind it is `rag_cover.build_retriever("embedded", …)`; its score in (0, 1] gives the order, and does not
    tell whether a node answers the question. Nodes come back as they were given. Make it with `from_nodes`.

    Args:
        nodes: what is found, by `Passage.key`.
        retriever: finds their passages.
        similarity_top_k: how many nodes to return.

    Raises:
        InvalidValueError: ``similarity_top_k`` is less than 1.
    """

    def __init__(
        self,
        nodes: Mapping[str, BaseNode],
        retriever: Retriever,
        *,
        similarity_top_k: int = 10,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
    ) -> None:
        self._kept_in: Path | str | None = None
        self._is_indexed_here = False
        refuse_below(1, similarity_top_k=similarity_top_k)
        self._nodes, self._retriever = dict(nodes), retriever
        self.similarity_top_k = similarity_top_k
        super().__init__(callback_manager, object_map, objects, verbose)

    @classmethod
    def from_nodes(
        cls,
        nodes: Sequence[BaseNode],
        *,
        similarity_top_k: int = 10,
        index: Path | str | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> RagCoverRetriever:
        """Index nodes, or documents as one node each; ``index`` is the folder to keep the index in, or to find it in.

        Of nodes with one id, the first is kept.

        Raises:
            InvalidValueError: there are no nodes.
            StoreError: ``index`` holds something else, or the index of other nodes.
        """
        found: dict[str, BaseNode] = {}
        for node in nodes:
            found.setdefault(passage_of(node).key, node)
        retriever = build_retriever("embedded", map(passage_of, found.values()), index=None if index is None else Path(index))
        made = cls(found, retriever, similarity_top_k=similarity_top_k, callback_manager=callback_manager)
        made._kept_in, made._is_indexed_here = index, True  # our own
        return made

    @classmethod
    def from_defaults(
        cls,
        nodes: Sequence[BaseNode],
        *,
        similarity_top_k: int = 10,
        index: Path | str | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> RagCoverRetriever:
        """Do what `from_nodes` does, under LlamaIndex's usual name."""
        return cls.from_nodes(nodes, similarity_top_k=similarity_top_k, index=index, callback_manager=callback_manager)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the nodes, which are indexed again where the pickle is read, or found in the folder that keeps the index."""
        if not self._is_indexed_here:
            return (type(self), (self._nodes, self._retriever), {"similarity_top_k": self.similarity_top_k})
        return (_index_again, (type(self), list(self._nodes.values()), self.similarity_top_k, self._kept_in))

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)

    def __copy__(self) -> RagCoverRetriever:
        """Return a copy that shares the nodes and their index."""
        made = type(self)(self._nodes, self._retriever, similarity_top_k=self.similarity_top_k)
        vars(made).update(_kept_in=self._kept_in, _is_indexed_here=self._is_indexed_here)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> RagCoverRetriever:
        return self.__copy__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        passages = self._retriever.retrieve(query_bundle.query_str, k=self.similarity_top_k)
        return [NodeWithScore(node=self._nodes[passage.key], score=passage.score) for passage in passages]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _index_again(
    kind: type[RagCoverRetriever], nodes: Sequence[BaseNode], similarity_top_k: int, index: Path | str | None
) -> RagCoverRetriever:
    return kind.from_nodes(nodes, similarity_top_k=similarity_top_k, index=index)


def _explain(found: NodeWithScore, questions: Sequence[str]) -> NodeWithScore:
    """Return a copy that names what the node was found for."""
    return NodeWithScore(node=add_metadata(found.node, {FOUND_FOR: list(questions)}), score=found.score)
