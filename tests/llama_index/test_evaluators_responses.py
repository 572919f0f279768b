"""Responses of every kind are evaluated with their nodes, and a stream is still there for whoever reads it afterwards."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, ChatMode, StreamingAgentChatResponse
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import QueryEngineTool, RetrieverTool, ToolOutput
from llama_index.core.workflow import StopEvent
from pydantic import BaseModel

from rag_cover import SubQuestion
from rag_cover.testing import KeywordScorer
from rag_cover_llama_index import responses
from rag_cover_llama_index.evaluators import SubQuestionCoverageEvaluator
from rag_cover_llama_index.results import CoverageEvaluationResult
from tests.llama_index.parts import ScriptedAgentLLM, ScriptedLLM

QUESTION = "Why is the sky blue?"
TEXT = "The sky is blue because air scatters blue light."
WORDS = ["The sky is blue ", "because air ", "scatters blue light."]
NODES = [NodeWithScore(node=TextNode(id_="n1", text="Air scatters blue light.", metadata={"title": "Air"}), score=0.7)]
ASKED: dict[str, Any] = {"sub_questions": [SubQuestion("Why is the sky blue?", role="core")]}


class Stated(BaseModel):
    """A structured answer."""

    claim: str


@pytest.fixture
def evaluator() -> SubQuestionCoverageEvaluator:
    return SubQuestionCoverageEvaluator(judge=KeywordScorer())


def tokens(error: Exception | None = None) -> Generator[str, None, None]:
    yield from WORDS
    if error:
        raise error


async def tokens_awaited(error: Exception | None = None) -> AsyncGenerator[str, None]:
    for word in WORDS:
        await asyncio.sleep(0)
        yield word
    if error:
        raise error


RESPONSES: dict[str, Callable[[], Any]] = {
    "response": lambda: Response(TEXT, NODES),
    "pydantic": lambda: PydanticResponse(Stated(claim=TEXT), NODES),
    "streaming": lambda: StreamingResponse(tokens(), NODES),
    "async streaming": lambda: AsyncStreamingResponse(tokens_awaited(), NODES),
    "agent chat": lambda: AgentChatResponse(TEXT, source_nodes=NODES),
    "agent chat with a query engine": lambda: AgentChatResponse(
        TEXT, sources=[ToolOutput("engine", TEXT, raw_input={}, raw_output=Response(TEXT, NODES))]
    ),
    "agent chat with a retriever": lambda: AgentChatResponse(
        TEXT, sources=[ToolOutput("retriever", TEXT, raw_input={}, raw_output=NODES)]
    ),
    "streamed chat, read before": lambda: StreamingAgentChatResponse(TEXT, source_nodes=NODES),
    "result of a workflow": lambda: StopEvent(result=Response(TEXT, NODES)),
    "stream of a workflow": lambda: StopEvent(result=AsyncStreamingResponse(tokens_awaited(), NODES)),
}


def check(result: CoverageEvaluationResult, answer: str) -> None:
    assert result.invalid_reason is None
    assert result.score == 1.0
    assert result.response == answer
    assert result.contexts == ["Air scatters blue light."]
    assert result.trace is not None
    (passage,) = result.trace.chunks
    assert (passage.id, passage.title, passage.score) == ("n1", "Air", 0.7)


@pytest.mark.parametrize("kind", RESPONSES)
def test_every_kind_of_response_is_evaluated_and_still_says_its_text(
    evaluator: SubQuestionCoverageEvaluator, kind: str
) -> None:
    here, awaited, nested = (RESPONSES[kind]() for _ in range(3))

    async def in_a_loop() -> tuple[CoverageEvaluationResult, CoverageEvaluationResult]:
        first = await evaluator.aevaluate_response(QUESTION, awaited, **ASKED)
        return first, evaluator.evaluate_response(QUESTION, nested, **ASKED)

    results = [evaluator.evaluate_response(QUESTION, here, **ASKED), *asyncio.run(in_a_loop())]

    answer = TEXT if kind != "pydantic" else f'{{"claim":"{TEXT}"}}'
    for result, response in zip(results, (here, awaited, nested), strict=True):
        check(result, answer)
        assert str(response) == answer or isinstance(response, StopEvent)


NO_STREAM: Any = None


@pytest.mark.parametrize(
    "response", [None, Response(None, NODES), PydanticResponse(None, NODES), StreamingResponse(NO_STREAM, NODES)]
)
def test_a_response_without_a_text_is_no_response(evaluator: SubQuestionCoverageEvaluator, response: object) -> None:
    result = evaluator.evaluate_response(QUESTION, response, **ASKED)

    assert str(result.invalid_reason).startswith("there is no response")


def test_what_is_no_response_is_refused_by_its_name(evaluator: SubQuestionCoverageEvaluator) -> None:
    result = evaluator.evaluate_response(QUESTION, 12, **ASKED)

    assert str(result.invalid_reason).startswith("a int is no response that can be read")


def test_contexts_that_are_given_go_before_the_nodes(evaluator: SubQuestionCoverageEvaluator) -> None:
    result = evaluator.evaluate_response(QUESTION, Response(TEXT, NODES), contexts=["Another text."], **ASKED)

    assert result.contexts == ["Another text."]


class TestStreams:
    def test_tokens_can_be_read_again_after_the_evaluation(self, evaluator: SubQuestionCoverageEvaluator) -> None:
        streaming, awaited = StreamingResponse(tokens(), NODES), AsyncStreamingResponse(tokens_awaited(), NODES)

        async def read() -> list[str]:
            return [token async for token in awaited.response_gen]

        evaluator.evaluate_response(QUESTION, streaming, **ASKED)
        evaluator.evaluate_response(QUESTION, awaited, **ASKED)

        assert list(streaming.response_gen) == WORDS
        assert asyncio.run(read()) == WORDS

    def test_one_stream_is_read_once_by_evaluators_in_many_threads(self, evaluator: SubQuestionCoverageEvaluator) -> None:
        def slow_tokens() -> Generator[str, None, None]:
            for word in WORDS:
                time.sleep(0.02)  # so that the others come while it is read
                yield word

        async def slow_tokens_awaited() -> AsyncGenerator[str, None]:
            for word in WORDS:
                await asyncio.sleep(0.02)
                yield word

        for response in (StreamingResponse(slow_tokens(), NODES), AsyncStreamingResponse(slow_tokens_awaited(), NODES)):
            with ThreadPoolExecutor(8) as pool:
                results = list(pool.map(lambda _, r=response: evaluator.evaluate_response(QUESTION, r, **ASKED), range(8)))

            assert [(result.response, result.invalid_reason) for result in results] == [(TEXT, None)] * 8

    def test_one_stream_is_read_once_by_evaluators_on_one_loop(self, evaluator: SubQuestionCoverageEvaluator) -> None:
        async def evaluated(response: object) -> list[CoverageEvaluationResult]:
            return await asyncio.gather(*(evaluator.aevaluate_response(QUESTION, response, **ASKED) for _ in range(8)))

        for response in (StreamingResponse(tokens(), NODES), AsyncStreamingResponse(tokens_awaited(), NODES)):
            assert {result.response for result in asyncio.run(evaluated(response))} == {TEXT}

    @pytest.mark.parametrize("make", [StreamingResponse, AsyncStreamingResponse])
    def test_a_stream_that_breaks_never_passes_for_a_whole_answer(
        self, evaluator: SubQuestionCoverageEvaluator, make: Callable[..., Any]
    ) -> None:
        gone = ConnectionError("the server hung up")
        response = make(tokens(gone) if make is StreamingResponse else tokens_awaited(gone), NODES)

        first = evaluator.evaluate_response(QUESTION, response, **ASKED)
        again = asyncio.run(evaluator.aevaluate_response(QUESTION, response, **ASKED))

        assert first.invalid_reason == again.invalid_reason == "ConnectionError: the server hung up"
        assert first.query == QUESTION
        assert first.failure is not None

    def test_a_stream_that_needs_the_loop_that_waits_is_given_up_and_says_so(
        self, evaluator: SubQuestionCoverageEvaluator, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(responses, "_STALLED_S", 0.05)

        async def blocked() -> CoverageEvaluationResult:
            queue: asyncio.Queue[str] = asyncio.Queue()

            async def from_this_loop() -> AsyncGenerator[str, None]:
                yield WORDS[0]
                yield await queue.get()

            return evaluator.evaluate_response(QUESTION, AsyncStreamingResponse(from_this_loop(), NODES), **ASKED)

        result = asyncio.run(blocked())

        assert "await evaluator.aevaluate_response(query, response)" in str(result.invalid_reason)

    def test_the_loop_goes_on_while_a_stream_that_blocks_is_read(self, evaluator: SubQuestionCoverageEvaluator) -> None:
        released = threading.Event()

        def waits() -> Generator[str, None, None]:
            assert released.wait(10)
            yield TEXT

        async def evaluated() -> CoverageEvaluationResult:
            task = asyncio.create_task(evaluator.aevaluate_response(QUESTION, StreamingResponse(waits(), NODES), **ASKED))
            await asyncio.sleep(0.01)
            released.set()  # nobody could, were the loop blocked
            return await task

        assert asyncio.run(evaluated()).score == 1.0


class TestPipelines:
    def test_a_query_engine_in_each_of_its_ways(
        self, evaluator: SubQuestionCoverageEvaluator, index: VectorStoreIndex, llm: ScriptedLLM
    ) -> None:
        plain, streaming = (index.as_query_engine(llm=llm, streaming=each, similarity_top_k=2) for each in (False, True))

        async def awaited() -> list[CoverageEvaluationResult]:
            return [
                await evaluator.aevaluate_response(QUESTION, await engine.aquery(QUESTION), **ASKED)
                for engine in (plain, streaming)
            ]

        results = [evaluator.evaluate_response(QUESTION, engine.query(QUESTION), **ASKED) for engine in (plain, streaming)]
        results += asyncio.run(awaited())

        assert [result.score for result in results] == [1.0] * 4
        assert {result.response for result in results} == {"The sky is blue because air scatters blue light."}
        assert all(result.trace and "rayleigh" in [passage.id for passage in result.trace.chunks] for result in results)

    def test_a_chat_engine_in_each_of_its_ways(
        self, evaluator: SubQuestionCoverageEvaluator, index: VectorStoreIndex, llm: ScriptedLLM
    ) -> None:
        def engine() -> Any:
            memory = ChatMemoryBuffer.from_defaults(token_limit=1_000)  # the default one leaves a database open
            return index.as_chat_engine(chat_mode=ChatMode.CONTEXT, llm=llm, similarity_top_k=2, memory=memory)

        async def awaited() -> list[Any]:
            pairs = []
            for ask in (engine().achat, engine().astream_chat):
                response = await ask(QUESTION)
                pairs.append((await evaluator.aevaluate_response(QUESTION, response, **ASKED), response))
            return pairs

        asked = [engine().chat(QUESTION), engine().stream_chat(QUESTION)]
        pairs = [(evaluator.evaluate_response(QUESTION, response, **ASKED), response) for response in asked]
        pairs += asyncio.run(awaited())

        assert [result.score for result, _ in pairs] == [1.0] * 4
        assert {str(response) for _, response in pairs} == {"The sky is blue because air scatters blue light."}
        assert list(asked[1].response_gen) == ["The sky is blue because air scatters blue light."]

    @pytest.mark.filterwarnings("default::DeprecationWarning")  # of pydantic, by workflows
    @pytest.mark.parametrize("kind", ["query engine", "retriever"])
    def test_an_agent_with_a_retrieval_tool(
        self, evaluator: SubQuestionCoverageEvaluator, index: VectorStoreIndex, llm: ScriptedLLM, kind: str
    ) -> None:
        tools: dict[str, Any] = {
            "query engine": QueryEngineTool.from_defaults(index.as_query_engine(llm=llm), name="corpus"),
            "retriever": RetrieverTool.from_defaults(index.as_retriever(), name="corpus"),
        }
        agent: Any = FunctionAgent(tools=[tools[kind]], llm=ScriptedAgentLLM(tool="corpus", answer=TEXT))

        async def evaluated() -> CoverageEvaluationResult:
            output = await agent.run(QUESTION, memory=ChatMemoryBuffer.from_defaults(token_limit=1_000))
            return await evaluator.aevaluate_response(QUESTION, output, **ASKED)

        result = asyncio.run(evaluated())

        assert (result.score, result.response) == (1.0, TEXT)
        assert result.trace is not None
        assert "rayleigh" in [passage.id for passage in result.trace.chunks]
