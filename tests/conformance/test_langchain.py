"""What we give to LangChain passes the suites that we publish."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedEntailer, ScriptedReceiver
from rag_cover.testing.conformance import CallbackHandlerTests, CompressorTests, EvaluatorTests
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.reader import EmbeddedReader
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from rag_cover_langchain.evaluators import (
    CoverageRatingEvaluator,
    GroundednessEvaluator,
    RetrievalComplexityEvaluator,
    RetrievalUtilityEvaluator,
    SubQuestionCoverageEvaluator,
)
from rag_cover_langchain.reranking import CoverageCompressor, UtilityFilter
from rag_cover_langchain.trace_evaluators import TraceEvaluator


class Evaluates(EvaluatorTests):
    """All of ours have an asynchronous form of one name."""

    def async_twin(self, evaluator: Any) -> Callable[..., Awaitable[Any]]:
        twin: Callable[..., Awaitable[Any]] = evaluator.aevaluate
        return twin


class TestCoverageEvaluator(Evaluates):
    @pytest.fixture
    def evaluator(self, embedded_judge: EmbeddedJudge) -> TraceEvaluator:
        return SubQuestionCoverageEvaluator(judge=embedded_judge)


class TestRatingEvaluator(Evaluates):
    lowest, highest = -1.0, 1.5

    @pytest.fixture
    def evaluator(self) -> TraceEvaluator:
        return CoverageRatingEvaluator(judge=KeywordScorer())


class TestGroundednessEvaluator(Evaluates):
    @pytest.fixture
    def evaluator(self, embedded_judge: EmbeddedJudge) -> TraceEvaluator:
        return GroundednessEvaluator(entailer=embedded_judge)


class TestUtilityEvaluator(Evaluates):
    lowest = -1.0

    @pytest.fixture
    def evaluator(self, embedded_reader: EmbeddedReader) -> TraceEvaluator:
        return RetrievalUtilityEvaluator(receiver=embedded_reader, entailer=KeywordEntailer())


class TestComplexityEvaluator(Evaluates):
    @pytest.fixture
    def evaluator(self, embedded_judge: EmbeddedJudge) -> TraceEvaluator:
        return RetrievalComplexityEvaluator(judge=embedded_judge)


class Compresses(CompressorTests):
    """With documents of LangChain."""

    def make_document(self, text: str, name: str) -> Document:
        return Document(text, id=name, metadata={"name": name, "nested": {"pages": [1, 2]}})


class TestCoverageCompressor(Compresses):
    most = 3

    @pytest.fixture
    def compressor(self) -> CoverageCompressor:
        return CoverageCompressor(top_n=3, judge=KeywordScorer(), receiver=None, on_error="raise")


class TestCoverageRunnable(Compresses):
    most = 2

    @pytest.fixture
    def compressor(self) -> Any:
        return CoverageCompressor(top_n=2, judge=KeywordScorer(), receiver=None).as_runnable()

    def compress(self, compressor: Any, documents: Sequence[Any], query: str) -> Sequence[Any]:
        kept: list[Document] = compressor.invoke({"question": query, "documents": list(documents)})
        return kept

    def acompress(self, compressor: Any, documents: Sequence[Any], query: str) -> Awaitable[Sequence[Any]]:
        kept: Awaitable[list[Document]] = compressor.ainvoke({"question": query, "documents": list(documents)})
        return kept


class TestUtilityFilter(Compresses):
    keeps_order = True

    @pytest.fixture
    def compressor(self) -> UtilityFilter:
        reader = ScriptedReceiver({"1904": ["In 1904."]}, prior=["I do not know."])
        return UtilityFilter(receiver=reader, entailer=ScriptedEntailer(default=0.0), samples=3)


class TestRecordingHandler(CallbackHandlerTests):
    most_pending = 25_000

    @pytest.fixture
    def handler(self) -> Iterator[RagCoverCallbackHandler]:
        with RagCoverCallbackHandler(measures=(), receiver=None) as handler:
            handler.gathering._most_drafts = 100
            yield handler

    def pending(self, handler: Any) -> int:
        return len(handler.gathering._open)

    def make_document(self, text: str) -> Document:
        return Document(text)

    def make_message(self, text: str) -> HumanMessage:
        return HumanMessage(text)

    def make_reply(self, text: str) -> LLMResult:
        return LLMResult(generations=[[ChatGeneration(message=AIMessage(text))]])
