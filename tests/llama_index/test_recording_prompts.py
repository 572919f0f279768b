"""What stood in the model's input is the prompt, whatever was retrieved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import PromptHelper, VectorStoreIndex, get_response_synthesizer
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from rag_cover.recording import Recording
from rag_cover.testing import KeywordScorer
from rag_cover.traces import Trace
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import ScriptedAgentLLM, ScriptedLLM, WordEmbedding
from tests.llama_index.recordings import ANSWER, HEAT, SKY, ids, only, prompt

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pydantic, by workflows

Ask = Callable[[LLM, str], str]


@pytest.fixture
def recording() -> Iterator[Recording]:
    """A recording that only records."""
    with attach(measures=()) as attached:
        yield attached


def engine(index: VectorStoreIndex, answer: Callable[[str, list[NodeWithScore]], str]) -> CustomQueryEngine:
    """Make an engine that retrieves two passages and writes an answer by a function."""

    class Engine(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            return answer(query_str, index.as_retriever(similarity_top_k=2).retrieve(query_str))

    return Engine()


def complete(llm: LLM, asked: str) -> str:
    return llm.complete(asked).text


def chat(llm: LLM, asked: str) -> str:
    return str(llm.chat([ChatMessage(role="system", content="Be short."), ChatMessage(content=asked)]).message.content)


def stream(llm: LLM, asked: str) -> str:
    return "".join(each.delta or "" for each in llm.stream_complete(asked))


def await_completion(llm: LLM, asked: str) -> str:
    return asyncio.run(llm.acomplete(asked)).text


@pytest.mark.parametrize("ask", [complete, chat, stream, await_completion])
@pytest.mark.parametrize("model", [ScriptedLLM(default=ANSWER), MockLLM()])
def test_a_passage_that_is_dropped_before_the_model_is_asked_is_not_in_the_prompt(
    recording: Recording, index: VectorStoreIndex, ask: Ask, model: LLM
) -> None:
    engine(index, lambda query, nodes: ask(model, f"{nodes[1].text}\n{query}")).query(SKY)

    trace = only(recording)
    assert prompt(trace) == ids(trace)[1:] == ["ocean"]
    assert trace.effective_prompt == (trace.prompt, False)


def test_where_all_passages_are_dropped_the_prompt_is_empty(recording: Recording, index: VectorStoreIndex) -> None:
    engine(index, lambda query, _: complete(ScriptedLLM(default=ANSWER), query)).query(SKY)

    assert only(recording).prompt == ()


def test_an_answer_that_no_model_was_seen_to_write_has_an_unknown_prompt(index: VectorStoreIndex) -> None:
    with attach(measures=["coverage"], judge=KeywordScorer()) as recording:
        with recording.question(sub_questions=[HEAT]):
            engine(index, lambda _, nodes: f"Perhaps, of {len(nodes)}.").query(SKY)
        trace = only(recording)

    (result,) = recording.results
    assert (trace.prompt, trace.calls, trace.effective_prompt) == (None, (), (None, False))
    assert Trace.model_validate_json(trace.to_json()).effective_prompt == (None, False)
    assert result.coverage is not None
    assert [(each.in_prompt, each.loss) for each in result.coverage.sub_questions] == [(None, None)]


class Found(Event):
    """What was retrieved."""

    nodes: list[NodeWithScore]


class Dropping(Workflow):
    """A workflow that drops a passage before it asks the model."""

    def __init__(self, index: VectorStoreIndex, llm: LLM) -> None:
        super().__init__()
        self.index, self.llm = index, llm

    @step
    async def retrieve(self, ev: StartEvent) -> Found:
        """Retrieve."""
        return Found(nodes=await self.index.as_retriever(similarity_top_k=2).aretrieve(ev.query))

    @step
    async def write(self, ev: Found) -> StopEvent:
        """Write from the second passage."""
        return StopEvent(result=(await self.llm.acomplete(f"{ev.nodes[1].text}\n{SKY}")).text)


def test_a_passage_that_a_workflow_drops_is_not_in_the_prompt(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    async def run() -> Any:
        return await Dropping(index, llm).run(query=SKY)

    asyncio.run(run())

    trace = only(recording)
    assert (trace.answer, prompt(trace)) == (ANSWER, ["ocean"])


def long_nodes() -> list[TextNode]:
    said = {"first": "The sky is blue as air scatters light.", "second": "The sky of dusk is red."}
    return [TextNode(id_=id_, text=" ".join([text] * 10)) for id_, text in said.items()]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_synthesis_that_truncates_has_what_was_left_in_its_prompt(recording: Recording, is_async: bool) -> None:
    index = VectorStoreIndex(long_nodes(), embed_model=WordEmbedding())
    helper = PromptHelper(context_window=150, num_output=0, chunk_overlap_ratio=0)
    llm = ScriptedLLM(default=ANSWER)
    synthesizer = get_response_synthesizer(llm=llm, response_mode=ResponseMode.SIMPLE_SUMMARIZE, prompt_helper=helper)
    cut = RetrieverQueryEngine(index.as_retriever(similarity_top_k=2), synthesizer)

    asyncio.run(cut.aquery(SKY)) if is_async else cut.query(SKY)

    trace = only(recording)
    assert len(ids(trace)) == 2
    assert prompt(trace) == ids(trace)[:1]
    assert trace.prompt is not None
    assert trace.steps[0].passages[0].text.startswith(trace.prompt[0].text)


@pytest.mark.parametrize(
    "mode", [ResponseMode.COMPACT, ResponseMode.REFINE, ResponseMode.TREE_SUMMARIZE, ResponseMode.ACCUMULATE]
)
def test_all_that_was_shown_in_several_calls_is_the_prompt(recording: Recording, mode: ResponseMode) -> None:
    index = VectorStoreIndex(long_nodes(), embed_model=WordEmbedding())
    helper = PromptHelper(context_window=700, num_output=0, chunk_overlap_ratio=0)
    synthesizer = get_response_synthesizer(llm=ScriptedLLM(default=ANSWER), response_mode=mode, prompt_helper=helper)

    RetrieverQueryEngine(index.as_retriever(similarity_top_k=2), synthesizer).query(SKY)

    trace = only(recording)
    assert prompt(trace) == ids(trace)
    assert trace.prompt is not None
    assert [each.text for each in trace.prompt] == [each.text for each in trace.steps[0].passages]


def test_a_model_that_calls_tools_is_asked_once_for_each_input(recording: Recording, index: VectorStoreIndex) -> None:
    llm = ScriptedAgentLLM(tool="none", answer=ANSWER)

    engine(index, lambda query, nodes: complete(llm, f"{nodes[0].text}\n{query}")).query(SKY)

    assert prompt(only(recording)) == ["rayleigh"]
