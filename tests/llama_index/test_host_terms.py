"""LlamaIndex's own words are taken where rag_cover has others; objects are copied, pickled and changed as its own are."""

from __future__ import annotations

import copy
import pickle

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, TextNode

from rag_cover.errors import InvalidValueError
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedReceiver
from rag_cover_llama_index import (
    CoverageRerank,
    RagCoverRetriever,
    RetrievalComplexityEvaluator,
    RetrievalUtilityEvaluator,
    SubQuestionCoverageEvaluator,
    SubQuestionRetriever,
    UtilityFilter,
)
from tests.llama_index.parts import ScriptedLLM, WordEmbedding, corpus_nodes
from tests.llama_index.recordings import SKY

LLM = ScriptedLLM(default="yes")


def test_a_language_model_is_taken_by_its_own_name() -> None:
    assert CoverageRerank(llm=LLM).judge == UtilityFilter(llm=LLM).receiver != "embedded"
    RetrievalUtilityEvaluator(llm=LLM)
    RetrievalComplexityEvaluator(llm=LLM)
    assert SubQuestionCoverageEvaluator(llm=LLM, embed_model=WordEmbedding(), generator=LLM).get_prompts()


def test_one_model_under_both_names_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="llm= and judge= are the same"):
        CoverageRerank(llm=LLM, judge=KeywordScorer())


def test_the_number_of_nodes_is_taken_by_its_own_name() -> None:
    inner = RagCoverRetriever.from_defaults(corpus_nodes(), similarity_top_k=4)
    retriever = SubQuestionRetriever(inner, similarity_top_k=1, receiver=None, judge=KeywordScorer())

    assert len(inner.retrieve(SKY)) == 4
    assert len(retriever.retrieve(SKY)) == 1


@pytest.mark.parametrize("again", [lambda each: pickle.loads(pickle.dumps(each)), copy.copy, copy.deepcopy])  # noqa: S301  # our own
def test_a_retriever_is_copied_and_pickled(again: object) -> None:
    retriever = RagCoverRetriever.from_nodes(corpus_nodes(), similarity_top_k=2)

    other = again(retriever)  # type: ignore[operator]

    assert [each.node_id for each in other.retrieve(SKY)] == [each.node_id for each in retriever.retrieve(SKY)]


def nodes(*texts: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(id_=str(place), text=text), score=1.0) for place, text in enumerate(texts)]


def test_a_judge_that_is_set_later_is_asked() -> None:
    judge, reranker = KeywordScorer(), CoverageRerank(top_n=1)

    reranker.judge = judge  # type: ignore[assignment]  # as at the beginning
    reranker.top_n = 2

    assert len(reranker.postprocess_nodes(nodes("The sky is blue.", "No.", "It rains."), query_str=SKY)) == 2
    assert judge.asked.items
    with pytest.raises(InvalidValueError):
        reranker.top_n = 0


@pytest.mark.parametrize("kind", [CoverageRerank, UtilityFilter])
def test_a_callback_manager_is_kept(kind: type[CoverageRerank | UtilityFilter]) -> None:
    manager, later = CallbackManager([]), CallbackManager([])
    made = kind(callback_manager=manager)

    assert made.callback_manager is manager
    made.callback_manager = later
    assert made.callback_manager is later


def test_of_nodes_that_say_the_same_one_stays() -> None:
    receiver, entailer = ScriptedReceiver({"1946": ["1946"]}, prior=("1999", "2001")), KeywordEntailer()
    said = nodes("Jaws is a film.", "Spielberg was born in 1946.", "Spielberg was born in 1946.")
    chosen = UtilityFilter(min_utility=0.01, receiver=receiver, entailer=entailer, samples=4, keep=1)

    assert [each.node_id for each in chosen.postprocess_nodes(said, query_str="When was Spielberg born?")] == ["1"]
