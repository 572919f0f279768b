from __future__ import annotations

import pickle
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import open_entailer, open_scorer
from rag_cover.backends import ScoringItem
from rag_cover.errors import InvalidValueError
from rag_cover.testing import KeywordScorer
from rag_cover_langchain.cross_encoders import RagCoverCrossEncoder
from tests.langchain.parts import ScriptedChatModel

WHY = "Why is the sky blue?"
BLUE, RAIN = "The sky is blue because air scatters blue light.", "Rain falls from clouds."
YES = '{"verdicts": [{"question": 1, "answered": true, "probability": 0.9, "fragment": "scatters blue light"}]}'


def test_a_score_is_the_probability_that_the_text_answers() -> None:
    scores = RagCoverCrossEncoder().score([(WHY, RAIN), (WHY, BLUE)])

    expected = open_scorer("embedded").correctness([ScoringItem(WHY, RAIN), ScoringItem(WHY, BLUE)]).tolist()
    assert scores == expected
    assert 0 <= scores[0] < scores[1] <= 1


def test_with_an_entailer_a_score_is_the_probability_that_the_text_entails_the_query() -> None:
    pairs = [("Air scatters blue light.", BLUE), ("Air scatters blue light.", RAIN)]

    scores = RagCoverCrossEncoder(entailer="embedded").score(pairs)

    expected = open_entailer("embedded").entail([(text, query) for query, text in pairs])[:, 0].tolist()
    assert scores == expected
    assert scores[0] > scores[1]


def test_nothing_asked_opens_nothing() -> None:
    assert RagCoverCrossEncoder("embedded:no-such-judge").score([]) == []


def test_a_chat_model_judges() -> None:
    assert RagCoverCrossEncoder(ScriptedChatModel(script={"sky": YES})).score([(WHY, BLUE)]) == pytest.approx([0.9])


def test_a_reranker_of_langchains_orders_documents_by_it(store: InMemoryVectorStore) -> None:
    classic = pytest.importorskip("langchain_classic.retrievers", reason="needs the development dependency langchain-classic")
    compressors = pytest.importorskip("langchain_classic.retrievers.document_compressors")
    judge: Any = KeywordScorer()
    reranker = compressors.CrossEncoderReranker(model=RagCoverCrossEncoder(judge), top_n=2)
    retriever = classic.ContextualCompressionRetriever(
        base_compressor=reranker, base_retriever=store.as_retriever(search_kwargs={"k": 4})
    )

    kept = retriever.invoke(WHY)

    found = store.similarity_search(WHY, k=4)
    scores = judge.correctness([ScoringItem(WHY, each.page_content) for each in found]).tolist()
    best = sorted(zip(scores, found, strict=True), key=lambda pair: -pair[0])[:2]
    assert [each.id for each in kept] == [each.id for _, each in best]


def test_it_travels_to_another_process_as_what_it_was_given() -> None:
    for encoder in (RagCoverCrossEncoder(), RagCoverCrossEncoder(entailer="embedded")):
        read = pickle.loads(pickle.dumps(encoder))  # noqa: S301  # its own bytes

        assert repr(read) == repr(encoder)
        assert read.score([(WHY, BLUE)]) == encoder.score([(WHY, BLUE)])


def test_what_cannot_judge_is_refused() -> None:
    nobody: Any = {}

    with pytest.raises(InvalidValueError, match="'dict' cannot serve as judge"):
        RagCoverCrossEncoder(nobody)
