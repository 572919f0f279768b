"""The LlamaIndex adapter passes the suite of adapters."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import PromptTemplate, get_response_synthesizer
from llama_index.core.async_utils import run_jobs
from llama_index.core.base.llms.types import ChatMessage, CompletionResponse, CompletionResponseGen, LLMMetadata, MessageRole
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.evaluation import FaithfulnessEvaluator
from llama_index.core.llms import CustomLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation.dispatcher import instrument_tags
from pydantic import PrivateAttr

from rag_cover.recording import Recording
from rag_cover.testing.conformance import AdapterTests
from rag_cover_llama_index import attach

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # LlamaIndex's own
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # of what others left open, collected here
]


class Finding(BaseRetriever):
    """Finds what it was told to."""

    def __init__(self, *texts: str) -> None:
        self._nodes = [NodeWithScore(node=TextNode(text=text), score=1.0) for text in texts]
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        del query_bundle
        return list(self._nodes)


class Writing(CustomLLM):
    """Writes the replies that it was given, one after the other."""

    _replies: Iterator[str] = PrivateAttr()

    def __init__(self, *replies: str) -> None:
        super().__init__()
        self._replies = iter(replies)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="writing", context_window=100_000)

    def complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponse:
        del prompt
        return CompletionResponse(text=next(self._replies))

    def stream_complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponseGen:
        raise NotImplementedError


class Dropping(CustomQueryEngine):
    """Shows its model some texts in place of what it found."""

    retriever: BaseRetriever
    llm: CustomLLM
    shown: tuple[str, ...]

    def custom_query(self, query_str: str) -> str:
        self.retriever.retrieve(query_str)
        return self.llm.complete("\n".join((*self.shown, query_str))).text


def _engine(
    found: Sequence[str], *replies: str, mode: ResponseMode = ResponseMode.COMPACT, retriever: BaseRetriever | None = None
) -> RetrieverQueryEngine:
    return RetrieverQueryEngine(
        retriever or Finding(*found), get_response_synthesizer(llm=Writing(*replies), response_mode=mode)
    )


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """Give LlamaIndex's synchronous methods an event loop, which they would leave open."""
    opened = asyncio.new_event_loop()
    asyncio.set_event_loop(opened)
    yield
    asyncio.set_event_loop(None)
    opened.close()


class TestLlamaIndexAdapter(AdapterTests):
    @pytest.fixture
    def recording(self) -> Iterator[Recording]:
        with attach(measures=()) as attached:
            yield attached

    def attach_again(self, recording: Any) -> Any:
        del recording
        return attach(measures=())

    def ask(self, question: str, found: Sequence[str], shown: Sequence[str], answer: str, **said: str) -> None:
        with instrument_tags(said):
            Dropping(retriever=Finding(*found), llm=Writing(answer), shown=tuple(shown)).query(question)

    def ask_follow_up(self, said: str, standalone: str, found: Sequence[str], answer: str) -> None:
        turns = [ChatMessage("A heat pump?"), ChatMessage("It heats.", role=MessageRole.ASSISTANT)]
        chat = CondenseQuestionChatEngine.from_defaults(
            query_engine=_engine(found, answer), llm=Writing(standalone), memory=ChatMemoryBuffer.from_defaults()
        )
        chat.chat(said, chat_history=turns)

    def ask_two_retrievers(self, question: str, one: Sequence[str], other: Sequence[str], answer: str) -> None:
        both = QueryFusionRetriever([Finding(*one), Finding(*other)], llm=Writing(), num_queries=1, use_async=False)
        _engine((), answer, retriever=both).query(question)

    def ask_refining(self, question: str, found: Sequence[str], drafts: Sequence[str]) -> None:
        _engine(found, *drafts, mode=ResponseMode.REFINE).query(question)

    def ask_several(self, asked: Sequence[tuple[str, Sequence[str], str]]) -> None:
        async def ask() -> None:
            await run_jobs([_engine(found, answer).aquery(question) for question, found, answer in asked])

        asyncio.run(ask())

    def write(self, text: str) -> None:
        Writing("Guten Morgen").predict(PromptTemplate("{text}"), text=text)

    def judge(self, question: str, passages: Sequence[str], answer: str) -> None:
        evaluator = FaithfulnessEvaluator(llm=Writing(*["YES"] * 3))
        evaluator.evaluate(query=question, response=answer, contexts=list(passages))
