"""Streamed answers are recorded once they were read; those that are left or break are no answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from tests.langchain.parts import ScriptedChatModel
from tests.langchain.recordings import (
    ANSWER,
    HEAT,
    SKY,
    FailingModel,
    answering,
    config,
    is_empty,
    joined,
    only,
    prompt,
    rag,
    steps,
    told,
)


def test_a_streamed_answer_is_recorded_once_it_was_read(handler: RagCoverCallbackHandler, chain: Runnable[str, str]) -> None:
    words = chain.stream(SKY, config(handler))
    first = next(words)
    assert (handler.traces, handler.counts.under_way) == ((), 1)

    said = first + "".join(words)

    trace = only(handler)
    assert said == trace.answer == ANSWER
    assert (trace.question.text, prompt(trace)) == (SKY, ["rayleigh", "ocean"])


def test_an_answer_streamed_to_a_coroutine_is_recorded_once_it_was_read(
    handler: RagCoverCallbackHandler, chain: Runnable[str, str]
) -> None:
    async def read() -> str:
        return "".join([word async for word in chain.astream(SKY, config(handler))])

    assert asyncio.run(read()) == only(handler).answer == ANSWER
    assert prompt(only(handler)) == ["rayleigh", "ocean"]


def test_events_are_streamed_and_the_question_recorded_once(
    handler: RagCoverCallbackHandler, chain: Runnable[str, str]
) -> None:
    async def read() -> list[str]:
        return [event["event"] async for event in chain.astream_events(SKY, config(handler), version="v2")]

    assert "on_retriever_end" in asyncio.run(read())
    assert (only(handler).answer, steps(only(handler))) == (
        ANSWER,
        [("retrieve", "VectorStoreRetriever", ["rayleigh", "ocean"])],
    )


def test_a_streamed_answer_that_is_left_early_is_no_answer(handler: RagCoverCallbackHandler, chain: Runnable[str, str]) -> None:
    words = chain.stream(SKY, config(handler))

    read = [next(words), next(words), next(words)]
    words.close()  # type: ignore[attr-defined]  # it is a generator

    trace = only(handler)
    assert (trace.answer, trace.question.text) == (None, SKY)
    assert "".join(read).startswith(trace.metadata["unfinished_answer"])
    assert "error" not in trace.metadata
    assert prompt(trace) == ["rayleigh", "ocean"]


def test_an_answer_that_a_coroutine_leaves_early_is_no_answer(
    handler: RagCoverCallbackHandler, chain: Runnable[str, str]
) -> None:
    async def read() -> None:
        async for _ in chain.astream(SKY, config(handler)):
            break

    asyncio.run(read())

    trace = only(handler)
    assert (trace.answer, trace.question.text) == (None, SKY)
    assert "error" not in trace.metadata
    assert prompt(trace) == ["rayleigh", "ocean"]


def test_events_that_are_left_early_leave_no_answer(handler: RagCoverCallbackHandler, chain: Runnable[str, str]) -> None:
    async def read() -> None:
        async for event in chain.astream_events(SKY, config(handler), version="v2"):
            if event["event"] == "on_chat_model_stream":
                break

    asyncio.run(read())

    trace = only(handler)
    assert (trace.answer, trace.metadata["error"]) == (None, "CancelledError")


def test_what_was_asked_for_on_the_way_is_no_answer_of_a_stream_that_is_left(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    rewriting = ScriptedChatModel(default="sky blue why") | (lambda message: message.text)
    chain = rag(rewriting | store.as_retriever(search_kwargs={"k": 1}), model)

    words = chain.stream(SKY, config(handler))
    next(words)
    words.close()  # type: ignore[attr-defined]  # it is a generator

    assert only(handler).answer is None
    assert only(handler).steps[0].query == "sky blue why"


def test_a_stream_that_no_model_writes_and_that_is_left_is_no_answer(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore
) -> None:
    def words(_: Iterator[Any]) -> Iterator[str]:
        yield from ("The ", "sky ", "is ", "blue.")

    def loudly(said: Iterator[str]) -> Iterator[str]:
        yield from (word.upper() for word in said)

    chain = store.as_retriever() | words | loudly
    stream = chain.stream(SKY, config(handler))

    assert [next(stream), next(stream), next(stream)] == ["THE ", "SKY ", "IS "]
    stream.close()  # type: ignore[attr-defined]  # it is a generator

    trace = only(handler)
    assert (trace.answer, trace.metadata["unfinished_answer"]) == (None, "THE SKY ")


def test_parts_of_a_dictionary_are_streamed_and_put_together(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    found = RunnablePassthrough.assign(documents=lambda held: store.similarity_search(held["question"], k=2))
    chain = found.assign(answer=(lambda held: {**held, "context": joined(held["documents"])}) | answering(model))

    parts = list(chain.stream({"question": SKY}, config(handler)))

    assert "".join(part.get("answer", "") for part in parts) == only(handler).answer == ANSWER
    assert prompt(only(handler)) == ["rayleigh", "ocean"]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_that_streams_from_a_chain_is_recorded(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel, is_async: bool
) -> None:
    async def answer(question: str) -> AsyncIterator[str]:
        found = await store.as_retriever(search_kwargs={"k": 2}).ainvoke(question)
        async for word in answering(model).astream({"context": joined(found), "question": question}):
            yield word

    def answer_now(question: str) -> Iterator[str]:
        found = store.as_retriever(search_kwargs={"k": 2}).invoke(question)
        yield from answering(model).stream({"context": joined(found), "question": question})

    async def read() -> list[str]:
        chain: Runnable[str, str] = RunnableLambda(answer)
        return [word async for word in chain.astream(SKY, config(handler))]

    now: Runnable[str, str] = RunnableLambda(answer_now)
    words = asyncio.run(read()) if is_async else list(now.stream(SKY, config(handler)))

    assert (len(words) > 5, "".join(words)) == (True, ANSWER)
    assert (only(handler).answer, prompt(only(handler))) == (ANSWER, ["rayleigh", "ocean"])


def test_a_stream_that_breaks_raises_and_is_no_answer(handler: RagCoverCallbackHandler, store: InMemoryVectorStore) -> None:
    failing = FailingModel(default=ANSWER)
    read: list[str] = []

    with pytest.raises(ConnectionError, match="the model is down"):
        read.extend(rag(store.as_retriever(), failing).stream(SKY, config(handler)))

    trace = only(handler)
    assert (trace.answer, trace.metadata["error"]) == (None, "ConnectionError: the model is down")
    assert trace.metadata["unfinished_answer"] == "".join(read) == "The sky "


def test_streams_that_are_read_by_turns_are_kept_apart(handler: RagCoverCallbackHandler, store: InMemoryVectorStore) -> None:
    model = ScriptedChatModel(script={SKY: ANSWER, HEAT: "It costs 12,000 euros, they say."})
    chain = rag(store.as_retriever(search_kwargs={"k": 1}), model)
    one, other = chain.stream(SKY, config(handler)), chain.stream(HEAT, config(handler))

    for _ in zip(one, other, strict=False):
        pass
    for _ in (*one, *other):
        pass

    assert {trace.answer: prompt(trace) for trace in told(handler)} == {
        ANSWER: ["rayleigh"],
        "It costs 12,000 euros, they say.": ["heat"],
    }
    assert is_empty(handler)


def test_a_question_that_is_asked_while_another_is_read_is_its_own(
    handler: RagCoverCallbackHandler, chain: Runnable[str, str]
) -> None:
    words = chain.stream(SKY, config(handler))
    next(words)

    chain.invoke(HEAT, config(handler))
    list(words)

    assert [trace.question.text for trace in told(handler)] == [HEAT, SKY]


def test_streams_that_are_forgotten_leave_nothing(handler: RagCoverCallbackHandler, chain: Runnable[str, str]) -> None:
    for _ in range(3):
        next(chain.stream(SKY, config(handler)))

    assert [trace.answer for trace in told(handler)] == [None] * 3
    assert is_empty(handler)
