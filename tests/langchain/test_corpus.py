"""What a chain did not retrieve is looked for in the corpus, and that is no run of its own."""

from __future__ import annotations

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover.coverage import Loss
from rag_cover.testing import KeywordScorer, ScriptedRetriever
from rag_cover_langchain import SubQuestionCoverageEvaluator, attach
from tests.langchain.parts import WordEmbeddings, corpus_documents
from tests.langchain.recordings import HEAT, rag

JUDGE = KeywordScorer(threshold=0.4)


@pytest.fixture
def chain(model: BaseChatModel) -> Runnable[str, str]:
    """A chain that knows the sky alone."""
    store = InMemoryVectorStore(WordEmbeddings())
    store.add_documents(corpus_documents()[:1])
    return rag(store.as_retriever(), model)


@pytest.mark.parametrize("as_retriever", [False, True])
def test_a_recording_searches_a_vector_store_or_its_retriever(
    store: InMemoryVectorStore, chain: Runnable[str, str], *, as_retriever: bool
) -> None:
    corpus = store.as_retriever(search_kwargs={"k": 5}) if as_retriever else store
    with attach(measures=["coverage"], judge=JUDGE, corpus=corpus) as recording:
        chain.invoke(HEAT)

    (result,) = recording.results
    (part,) = result["coverage"].sub_questions
    assert part.loss is Loss.NOT_RETRIEVED
    assert part.corpus is not None
    assert part.corpus.covering is not None
    assert part.corpus.covering.id == "heat"
    assert part.corpus.remedy == "retriever"


def test_what_no_document_says_is_not_in_the_corpus(chain: Runnable[str, str]) -> None:
    with attach(measures=["coverage"], judge=JUDGE, corpus=ScriptedRetriever(default=("Nothing of it.",))) as recording:
        chain.invoke(HEAT)

    assert [result["coverage"].sub_questions[0].loss for result in recording.results] == [Loss.NOT_IN_CORPUS]


def test_the_evaluator_says_it_in_its_comment(store: InMemoryVectorStore) -> None:
    found = SubQuestionCoverageEvaluator(judge=JUDGE, corpus=store)(
        inputs={"question": HEAT}, outputs={"answer": "I do not know.", "context": corpus_documents()[:1]}
    )

    assert found["score"] == 0
    assert "in the corpus, not retrieved (another retriever would have brought it)" in str(found)
