"""Many questions at once, on tasks and threads: each trace is of one question alone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.postprocessor import LongContextReorder, SimilarityPostprocessor
from llama_index.core.schema import TextNode

from rag_cover import Trace
from rag_cover.recording import Recording, RecordingCounts
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import ScriptedLLM, WordEmbedding

PATIENCE_S = 30
NUMBERS = range(100, 164)


@pytest.fixture
def recording() -> Iterator[Recording]:
    """A recording that only records."""
    with attach(measures=(), references={question(number): f"gold {number}" for number in NUMBERS}) as attached:
        yield attached


class NumberEmbedding(WordEmbedding):
    """Embeds a text as the number in it."""

    def _vector(self, text: str) -> list[float]:
        (number,) = re.findall(r"\d+", text)
        return [float(int(number) == each) for each in NUMBERS]


def question(number: int) -> str:
    return f"What is fact{number}?"


@pytest.fixture
def engine() -> BaseQueryEngine:
    """An engine that finds two passages of each fact, and answers by its number."""
    texts = {f"{number}-{part}": f"fact{number}, part {part}." for number in NUMBERS for part in "ab"}
    nodes = [TextNode(id_=id_, text=text) for id_, text in texts.items()]
    llm = ScriptedLLM(script={question(number): f"It is {number}." for number in NUMBERS})
    return VectorStoreIndex(nodes, embed_model=NumberEmbedding()).as_query_engine(
        llm=llm,
        similarity_top_k=2,
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.1), LongContextReorder()],
    )


def check(recording: Recording) -> None:
    """Each trace's steps, prompt, answer and all that was said belong to its question."""
    assert recording.flush(PATIENCE_S)
    assert recording.counts == RecordingCounts(begun=64, recorded=64)
    assert recording.errors == ()
    found = {trace.question.text: trace for trace in recording.traces}
    assert set(found) == set(map(question, NUMBERS))
    for number in NUMBERS:
        _check(found[question(number)], number)


def _check(trace: Trace, number: int) -> None:
    own = {f"{number}-a", f"{number}-b"}
    assert (trace.answer, trace.question.id, trace.metadata["number"]) == (f"It is {number}.", f"id {number}", number)
    assert trace.question.references == (f"gold {number}",)
    assert len(trace.steps) == 3
    assert all({passage.id for passage in step.passages} <= own for step in trace.steps)
    assert {step.query for step in trace.steps} == {question(number)}
    assert trace.prompt == trace.steps[-1].passages
    assert {passage.id for passage in trace.prompt} == own


def test_questions_that_are_awaited_at_once_are_kept_apart(recording: Recording, engine: BaseQueryEngine) -> None:
    async def ask(number: int) -> None:
        with recording.question(id=f"id {number}", metadata={"number": number}):
            await asyncio.sleep(0)
            assert str(await engine.aquery(question(number))) == f"It is {number}."

    async def ask_all() -> None:
        await asyncio.gather(*map(ask, NUMBERS))

    asyncio.run(ask_all())

    check(recording)


def test_questions_that_are_asked_on_threads_are_kept_apart(recording: Recording, engine: BaseQueryEngine) -> None:
    def ask(number: int) -> None:
        with recording.question(id=f"id {number}", metadata={"number": number}):
            assert str(engine.query(question(number))) == f"It is {number}."

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, NUMBERS))

    check(recording)


def test_questions_of_several_loops_on_threads_are_kept_apart(recording: Recording, engine: BaseQueryEngine) -> None:
    async def ask(number: int) -> None:
        with recording.question(id=f"id {number}", metadata={"number": number}):
            await engine.aquery(question(number))

    async def ask_some(numbers: list[int]) -> None:
        await asyncio.gather(*map(ask, numbers))

    def run(numbers: list[int]) -> None:
        asyncio.run(ask_some(numbers))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, [list(NUMBERS)[start::8] for start in range(8)]))

    check(recording)


def test_a_share_of_questions_at_once_is_sampled_and_the_rest_leaves_nothing(engine: BaseQueryEngine) -> None:
    with attach(measures=(), sampling=0.5, seed=3) as recording:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(engine.query, map(question, NUMBERS)))

        assert recording.flush(PATIENCE_S)
        assert not recording.gathering._open
        counts = recording.counts
    assert (counts.begun, counts.recorded + counts.unsampled) == (64, 64)
    assert all(len(trace.steps) == 3 for trace in recording.traces)
    assert 10 < counts.recorded < 54
