"""Many questions at once, in batches, on tasks and threads: each trace is of one question alone."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnableParallel
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import Trace
from rag_cover.recording import RecordingCounts
from rag_cover_langchain.attachment import attach
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from tests.langchain.parts import ScriptedChatModel, WordEmbeddings
from tests.langchain.recordings import PATIENCE_S, answering, config, joined, recorder

NUMBERS = range(100, 164)


class NumberEmbeddings(WordEmbeddings):
    """Embeds a text as the number in it."""

    def embed_query(self, text: str) -> list[float]:
        (number,) = re.findall(r"\d+", text)
        return [float(int(number) == each) for each in NUMBERS]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return list(map(self.embed_query, texts))


def question(number: int) -> str:
    return f"What is fact{number}?"


def said(handler: RagCoverCallbackHandler, number: int) -> RunnableConfig:
    known = {"id": f"id {number}", "references": f"gold {number}", "metadata": {"number": number}}
    return config(handler, metadata={"rag_cover": known})


@pytest.fixture
def chain() -> Runnable[str, str]:
    """Finds two passages of each fact at once, merges them, turns them round, and answers by the number."""
    store = InMemoryVectorStore(NumberEmbeddings())
    names = {f"{number}-{part}": f"fact{number}, part {part}." for number in NUMBERS for part in "ab"}
    store.add_documents([Document(text, id=id_) for id_, text in names.items()])
    model = ScriptedChatModel(script={question(number): f"It is {number}." for number in NUMBERS})
    retriever = store.as_retriever(search_kwargs={"k": 2})

    def merged(found: dict[str, list[Document]]) -> list[Document]:
        return sorted(found["one"], key=lambda document: str(document.id), reverse=True)

    both: Runnable[str, dict[str, Any]] = RunnableParallel(one=retriever, two=retriever)
    asked: Runnable[str, str] = RunnableLambda(lambda asked: asked)
    held: Runnable[str, dict[str, Any]] = RunnableParallel(context=both | merged | joined, question=asked)
    return held | answering(model)


def check(handler: RagCoverCallbackHandler) -> None:
    """Each trace's steps, prompt, answer and all that was said belong to its question."""
    assert handler.flush(PATIENCE_S)
    assert handler.counts == RecordingCounts(begun=64, recorded=64)
    assert handler.errors == ()
    assert not handler.gathering._open
    found = {trace.question.text: trace for trace in handler.traces}
    assert set(found) == set(map(question, NUMBERS))
    for number in NUMBERS:
        _check(found[question(number)], number)


def _check(trace: Trace, number: int) -> None:
    own = [f"{number}-b", f"{number}-a"]
    assert (trace.answer, trace.question.id, trace.metadata["number"]) == (f"It is {number}.", f"id {number}", number)
    assert trace.question.references == (f"gold {number}",)
    assert [step.kind for step in trace.steps[:2]] == ["retrieve", "retrieve"]
    assert {passage.id for step in trace.steps for passage in step.passages} == set(own)
    assert {step.query for step in trace.steps} == {question(number)}
    assert trace.prompt is not None
    assert [passage.id for passage in trace.prompt] == own


def test_questions_of_one_batch_are_kept_apart(handler: RagCoverCallbackHandler, chain: Runnable[str, str]) -> None:
    answers = chain.batch(list(map(question, NUMBERS)), [said(handler, number) for number in NUMBERS])

    assert answers == [f"It is {number}." for number in NUMBERS]
    check(handler)


def test_questions_of_one_batch_that_is_awaited_are_kept_apart(
    handler: RagCoverCallbackHandler, chain: Runnable[str, str]
) -> None:
    async def ask() -> list[str]:
        return await chain.abatch(list(map(question, NUMBERS)), [said(handler, number) for number in NUMBERS])

    assert asyncio.run(ask()) == [f"It is {number}." for number in NUMBERS]
    check(handler)


def test_questions_that_are_asked_on_threads_are_kept_apart(
    handler: RagCoverCallbackHandler, chain: Runnable[str, str]
) -> None:
    def ask(number: int) -> str:
        with handler.question(id=f"id {number}", references=f"gold {number}", metadata={"number": number}):
            return chain.invoke(question(number), config(handler))

    with ThreadPoolExecutor(64) as pool:
        assert list(pool.map(ask, NUMBERS)) == [f"It is {number}." for number in NUMBERS]

    check(handler)


@pytest.mark.slow
def test_questions_of_several_loops_on_threads_are_kept_apart(chain: Runnable[str, str]) -> None:
    async def ask(handler: RagCoverCallbackHandler, number: int) -> None:
        with handler.question(id=f"id {number}", references=f"gold {number}", metadata={"number": number}):
            assert "".join([word async for word in chain.astream(question(number))]) == f"It is {number}."

    async def ask_some(handler: RagCoverCallbackHandler, numbers: list[int]) -> None:
        await asyncio.gather(*(ask(handler, number) for number in numbers))

    with attach(recorder()) as handler:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda start: asyncio.run(ask_some(handler, list(NUMBERS)[start::8])), range(8)))

        check(handler)


def test_questions_that_are_streamed_on_threads_are_kept_apart(
    handler: RagCoverCallbackHandler, chain: Runnable[str, str]
) -> None:
    def ask(number: int) -> str:
        return "".join(chain.stream(question(number), said(handler, number)))

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, NUMBERS)) == [f"It is {number}." for number in NUMBERS]

    check(handler)
