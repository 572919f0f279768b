"""Streamed answers are recorded once they were read, left or forgotten; chat turns are recorded with what was streamed."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, Literal

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex, get_response_synthesizer
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import BaseChatEngine, ChatMode, StreamingAgentChatResponse
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

from rag_cover.recording import Recording
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import ScriptedLLM
from tests.llama_index.recordings import ANSWER, SKY, ids, only, prompt, wait_for_all

Mode = Literal["context", "condense_question", "condense_plus_context"]
MODES: tuple[Mode, ...] = ("context", "condense_question", "condense_plus_context")
PATIENCE_S = 20


class Interrupted(ScriptedLLM):
    """Breaks off after three words."""

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        def words() -> CompletionResponseGen:
            for word in ("The ", "sky ", "is "):
                yield CompletionResponse(text=word, delta=word)
            message = "the connection was lost"
            raise ConnectionError(message)

        return words()


@pytest.fixture
def recording() -> Iterator[Recording]:
    """A recording that only records."""
    with attach(measures=()) as attached:
        yield attached


def streaming(index: VectorStoreIndex, llm: ScriptedLLM, *, use_async: bool = False) -> RetrieverQueryEngine:
    synthesizer = get_response_synthesizer(llm=llm, streaming=True, use_async=use_async)
    return RetrieverQueryEngine(index.as_retriever(similarity_top_k=2), synthesizer)


def chat_engine(index: VectorStoreIndex, llm: ScriptedLLM, mode: Mode = "context") -> BaseChatEngine:
    """Make a chat engine that remembers in memory: the default opens a database and leaves it open."""
    memory = ChatMemoryBuffer.from_defaults(token_limit=10_000)
    return index.as_chat_engine(chat_mode=ChatMode(mode), llm=llm, memory=memory, similarity_top_k=2)


def test_a_streamed_answer_is_recorded_once_it_was_read(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    response = streaming(index, llm).query(SKY)
    assert isinstance(response, StreamingResponse)
    assert recording.flush(PATIENCE_S)
    assert (recording.traces, recording.counts.under_way) == ((), 1)

    words = list(response.response_gen)

    trace = only(recording)
    assert "".join(words) == trace.answer == ANSWER
    assert len(words) > 5
    assert prompt(trace) == ids(trace)


def test_a_streamed_answer_may_be_read_by_the_framework_itself(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    response = streaming(index, llm).query(SKY)
    assert isinstance(response, StreamingResponse)

    assert str(response.get_response()) == ANSWER == str(response)

    assert only(recording).answer == ANSWER


def test_an_answer_streamed_to_a_coroutine_is_recorded_once_it_was_read(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    async def read() -> str:
        response = await streaming(index, llm, use_async=True).aquery(SKY)
        assert isinstance(response, AsyncStreamingResponse)
        return "".join([word async for word in response.async_response_gen()])

    assert asyncio.run(read()) == ANSWER
    assert only(recording).answer == ANSWER


def test_a_streamed_answer_that_is_left_early_is_no_answer_and_kept_as_far_as_it_was_read(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    response = streaming(index, llm).query(SKY)
    assert isinstance(response, StreamingResponse)
    words = response.response_gen

    first = [next(words), next(words)]
    words.close()

    trace = only(recording)
    assert trace.answer is None
    assert trace.metadata["unfinished_answer"] == "".join(first) == "The sky "


def test_an_answer_streamed_to_a_coroutine_and_left_early_is_no_answer_either(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    async def read() -> None:
        response = await streaming(index, llm, use_async=True).aquery(SKY)
        assert isinstance(response, AsyncStreamingResponse)
        words = response.response_gen
        await anext(words)
        await words.aclose()

    asyncio.run(read())

    trace = only(recording)
    assert (trace.answer, trace.metadata["unfinished_answer"]) == (None, "The ")


@pytest.mark.parametrize("is_async", [False, True])
def test_a_streamed_answer_that_nobody_reads_is_none(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, is_async: bool
) -> None:
    engine = streaming(index, llm, use_async=is_async)
    response: object = asyncio.run(engine.aquery(SKY)) if is_async else engine.query(SKY)
    assert recording.counts.under_way == 1

    del response
    gc.collect()

    trace = only(recording)
    assert (trace.answer, recording.counts.under_way) == (None, 0)
    assert prompt(trace) == ids(trace)


def test_an_answer_that_breaks_off_raises_where_it_is_read_and_is_no_answer(
    recording: Recording, index: VectorStoreIndex
) -> None:
    response = streaming(index, Interrupted()).query(SKY)
    assert isinstance(response, StreamingResponse)

    with pytest.raises(ConnectionError, match="the connection was lost"):
        list(response.response_gen)

    trace = only(recording)
    assert (trace.answer, trace.metadata["unfinished_answer"]) == (None, "The sky is ")


def test_streams_that_are_read_in_turns_are_kept_apart(recording: Recording, index: VectorStoreIndex) -> None:
    questions = [f"{SKY} ({number})" for number in range(8)]
    told = {question: f"Answer to {question} in words." for question in questions}
    engine = streaming(index, ScriptedLLM(script=told))
    responses = [engine.query(question) for question in questions]
    streams = [response.response_gen for response in responses if isinstance(response, StreamingResponse)]

    for _ in zip_longest(*streams):
        pass

    assert recording.flush(PATIENCE_S)
    assert {trace.question.text: trace.answer for trace in recording.traces} == told
    assert recording.counts.recorded == 8


def test_an_answer_is_streamed_to_its_reader_and_to_every_recording(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    with attach(measures=(), keep=100) as other:
        response = streaming(index, llm).query(SKY)
        assert isinstance(response, StreamingResponse)

        assert "".join(response.response_gen) == ANSWER

        assert [only(each).answer for each in (recording, other)] == [ANSWER, ANSWER]


def test_a_stream_may_be_read_after_the_recording_was_closed(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    with attach(measures=()) as recording:
        response = streaming(index, llm).query(SKY)
    assert isinstance(response, StreamingResponse)

    assert "".join(response.response_gen) == ANSWER

    assert [trace.answer for trace in recording.traces] == [None]
    assert (recording.counts.recorded, recording.errors) == (1, ())


@pytest.mark.parametrize("mode", MODES)
def test_a_chat_turn_becomes_a_trace(recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, mode: Mode) -> None:
    engine = chat_engine(index, llm, mode)

    response = engine.chat(SKY)

    trace = only(recording)
    assert (trace.question.text, trace.answer) == (SKY, response.response)
    assert trace.pipeline == type(engine).__name__
    assert prompt(trace) == ids(trace)
    assert len(ids(trace)) == 2


@pytest.mark.parametrize("mode", MODES)
def test_an_awaited_chat_turn_becomes_a_trace(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, mode: Mode
) -> None:
    engine = chat_engine(index, llm, mode)

    response = asyncio.run(engine.achat(SKY))

    assert (only(recording).question.text, only(recording).answer) == (SKY, response.response)


@pytest.mark.parametrize("mode", MODES)
def test_a_streamed_chat_turn_is_recorded_with_its_whole_answer(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, mode: Mode
) -> None:
    engine = chat_engine(index, llm, mode)
    response = engine.stream_chat(SKY)
    assert isinstance(response, StreamingAgentChatResponse)

    words = list(response.response_gen)

    trace = only(recording)
    assert (trace.question.text, trace.answer) == (SKY, ANSWER)
    assert "".join(words).strip() == ANSWER
    assert prompt(trace) == ids(trace)


@pytest.mark.parametrize("mode", MODES)
def test_a_chat_turn_streamed_to_a_coroutine_is_recorded_with_its_whole_answer(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, mode: Mode
) -> None:
    async def read() -> str:
        engine = chat_engine(index, llm, mode)
        response = await engine.astream_chat(SKY)
        assert isinstance(response, StreamingAgentChatResponse)
        words = [word async for word in response.async_response_gen()]
        return "".join(words)

    assert asyncio.run(read()).strip() == ANSWER
    trace = only(recording)
    assert (trace.question.text, trace.answer) == (SKY, ANSWER)


def chat(engine: BaseChatEngine, message: str) -> None:
    engine.chat(message)


def chat_awaited(engine: BaseChatEngine, message: str) -> None:
    asyncio.run(engine.achat(message))


def chat_streamed(engine: BaseChatEngine, message: str) -> None:
    response = engine.stream_chat(message)
    assert isinstance(response, StreamingAgentChatResponse)
    assert list(response.response_gen)


@pytest.mark.parametrize("mode", ["condense_question", "condense_plus_context"])
@pytest.mark.parametrize("turn", [chat, chat_awaited, chat_streamed])
def test_the_question_of_a_follow_up_is_the_standalone_one(
    index: VectorStoreIndex, mode: Mode, turn: Callable[[BaseChatEngine, str], None]
) -> None:
    condensed = "How long does the sky stay blue?"
    engine = chat_engine(index, ScriptedLLM(script={"Standalone question": f" {condensed}"}, default=ANSWER), mode)

    with attach(measures=(), references={"And how long?": "All day."}) as recording:
        for message in (SKY, "And how long?"):
            turn(engine, message)
            wait_for_all(recording)

    first, second = recording.traces
    assert (first.question.text, "asked" in first.metadata) == (SKY, False)
    assert (second.question.text, second.metadata["asked"]) == (condensed, "And how long?")
    assert second.question.references == ("All day.",)
    assert (second.answer, second.steps[0].query.strip()) == (ANSWER, condensed)


def test_turns_of_one_chat_are_traces_of_their_own(recording: Recording, index: VectorStoreIndex) -> None:
    told = {"first": "One.", "second": "Two."}
    engine = chat_engine(index, ScriptedLLM(script=dict(reversed(told.items()))))

    for question in told:
        with recording.question(id=question):
            engine.chat(question)

    assert recording.flush(PATIENCE_S)
    assert [(trace.question.id, trace.question.text, trace.answer) for trace in recording.traces] == [
        (question, question, answer) for question, answer in told.items()
    ]


def test_a_chat_streamed_within_a_workflow_is_part_of_the_workflows_trace(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    class Chatting(Workflow):
        @step
        async def chat(self, ev: StartEvent) -> StopEvent:
            response = await chat_engine(index, llm).astream_chat(ev.query)
            said = "".join([word async for word in response.async_response_gen()])
            return StopEvent(result=f"Said: {said}")

    async def run() -> object:
        return await Chatting().run(query=SKY)

    said = asyncio.run(run())

    trace = only(recording)
    assert (trace.pipeline, trace.question.text, trace.answer) == ("Chatting", SKY, said)
    assert str(said).strip() == f"Said: {ANSWER}"


def test_a_workflow_may_chat_and_then_stream_its_own_answer(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    class Chatting(Workflow):
        @step
        async def chat(self, ev: StartEvent) -> StopEvent:
            engine = chat_engine(index, ScriptedLLM(default="Let me see."))
            before = set(threading.enumerate())
            response = engine.stream_chat(ev.query)
            list(response.response_gen)
            for writer in set(threading.enumerate()) - before:  # of the chat's history: it ends after its reader
                writer.join(PATIENCE_S)
            return StopEvent(result=await streaming(index, llm, use_async=True).aquery(ev.query))

    async def run() -> str:
        response: Any = await Chatting().run(query=SKY)
        assert recording.flush(PATIENCE_S)
        assert recording.traces == ()
        return "".join([word async for word in response.async_response_gen()])

    assert asyncio.run(run()) == ANSWER
    assert only(recording).answer == ANSWER
