"""What a query engine did not retrieve is looked for in the corpus, and that is no query of its own."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex

from rag_cover.coverage import Loss
from rag_cover.testing import KeywordScorer, ScriptedRetriever
from rag_cover_llama_index import SubQuestionCoverageEvaluator, attach
from tests.llama_index.parts import ScriptedLLM, WordEmbedding, corpus_nodes
from tests.llama_index.recordings import HEAT

JUDGE = KeywordScorer(threshold=0.4)


@pytest.fixture
def engine(llm: ScriptedLLM) -> Any:
    """An engine that knows the sky alone."""
    return VectorStoreIndex(corpus_nodes()[:1], embed_model=WordEmbedding()).as_query_engine(llm=llm)


@pytest.mark.parametrize("as_retriever", [False, True])
def test_a_recording_searches_an_index_or_its_retriever(index: VectorStoreIndex, engine: Any, *, as_retriever: bool) -> None:
    corpus = index.as_retriever(similarity_top_k=5) if as_retriever else index
    with attach(measures=["coverage"], judge=JUDGE, corpus=corpus) as recording:
        engine.query(HEAT)

    (result,) = recording.results
    (part,) = result["coverage"].sub_questions
    assert part.loss is Loss.NOT_RETRIEVED
    assert part.corpus is not None
    assert part.corpus.covering is not None
    assert part.corpus.covering.id == "heat"
    assert part.corpus.remedy == "retriever"


def test_what_no_document_says_is_not_in_the_corpus(engine: Any) -> None:
    with attach(measures=["coverage"], judge=JUDGE, corpus=ScriptedRetriever(default=("Nothing of it.",))) as recording:
        engine.query(HEAT)

    assert [result["coverage"].sub_questions[0].loss for result in recording.results] == [Loss.NOT_IN_CORPUS]


def test_the_evaluator_says_it_in_its_feedback(index: VectorStoreIndex) -> None:
    found = SubQuestionCoverageEvaluator(judge=JUDGE, corpus=index).evaluate(
        query=HEAT, response="I do not know.", contexts=["The sky is blue."]
    )

    assert found.score == 0
    assert "in the corpus, not retrieved (another retriever would have brought it)" in str(found.feedback)
