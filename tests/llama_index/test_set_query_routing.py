"""Set queries, and nothing else, go to the tool that answers them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine, RouterQueryEngine, SubQuestionQueryEngine
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import RouterRetriever
from llama_index.core.schema import QueryBundle, TextNode
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.tools.types import ToolMetadata

from rag_cover.errors import InvalidValueError
from rag_cover_llama_index import attach
from rag_cover_llama_index.question_generators import TypedSubQuestion
from rag_cover_llama_index.routers import RoutedSelection
from rag_cover_llama_index.set_queries import SetQueryRetriever
from rag_cover_llama_index.set_query_routing import SetQueryQuestionGenerator, SetQuerySelector
from tests.birds import BIRDS, CHILE_ONLY, bird_judge
from tests.llama_index.parts import ScriptedLLM, WordEmbedding

DIFFERENCE = "birds of Chile but not birds of Peru"
TWO = "Why is the kea loud and how much does a kauri tree grow?"
SETS = ToolMetadata(name="sets", description="Everything that belongs to a set of animals or plants.")
ANIMALS = ToolMetadata(name="animals", description="What animals do: how birds fly, dive and feed.")
PLANTS = ToolMetadata(name="plants", description="How trees grow, and how tall.")
TOOLS = [ANIMALS, SETS, PLANTS]


def asked(made: Sequence[SubQuestion]) -> list[tuple[str, str]]:
    return [(each.sub_question, each.tool_name) for each in made]


class ToEveryTool(BaseQuestionGenerator):
    """Asks every tool that it is given, and keeps whether it was awaited."""

    def __init__(self) -> None:
        self.was_awaited = False

    def generate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        return [SubQuestion(sub_question=query.query_str, tool_name=tool.get_name()) for tool in tools]

    async def agenerate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        self.was_awaited = True
        return self.generate(tools, query)

    def _get_prompts(self) -> dict[str, BasePromptTemplate]:
        return {}

    def _update_prompts(self, prompts: object) -> None: ...


def test_a_set_query_goes_whole_to_the_tool_for_set_queries() -> None:
    (made,) = SetQueryQuestionGenerator("sets").generate(TOOLS, QueryBundle(DIFFERENCE))

    assert isinstance(made, TypedSubQuestion)
    assert (made.sub_question, made.tool_name, made.role) == (DIFFERENCE, "sets", "core")


def test_another_question_is_split_for_the_other_tools() -> None:
    made = asked(SetQueryQuestionGenerator("sets").generate(TOOLS, QueryBundle(TWO)))

    assert ("How much does a kauri tree grow?", "plants") in made
    assert "sets" not in {tool for _, tool in made}


def test_another_question_goes_where_whoever_is_named_sends_it() -> None:
    everywhere = SetQueryQuestionGenerator("sets", otherwise=ToEveryTool())
    to_one = SetQueryQuestionGenerator("sets", otherwise="plants")

    assert asked(everywhere.generate(TOOLS, QueryBundle(TWO))) == [(TWO, "animals"), (TWO, "plants")]
    assert asked(to_one.generate(TOOLS, QueryBundle(TWO))) == [(TWO, "plants")]
    assert asked(everywhere.generate(TOOLS, QueryBundle(DIFFERENCE))) == [(DIFFERENCE, "sets")]


def test_the_only_tool_is_asked_everything() -> None:
    made = SetQueryQuestionGenerator("sets", otherwise=ToEveryTool()).generate([SETS], QueryBundle(TWO))

    assert asked(made) == [(TWO, "sets")]


def test_a_reading_that_is_too_unsure_is_no_set_query() -> None:
    made = SetQueryQuestionGenerator("sets", otherwise="plants", min_confidence=1.0).generate(TOOLS, QueryBundle(DIFFERENCE))

    assert asked(made) == [(DIFFERENCE, "plants")]


def test_the_same_is_made_in_a_loop_and_the_other_generator_is_awaited() -> None:
    other = ToEveryTool()
    generator = SetQueryQuestionGenerator("sets", otherwise=other)

    assert asked(asyncio.run(generator.agenerate(TOOLS, QueryBundle(DIFFERENCE)))) == [(DIFFERENCE, "sets")]
    assert not other.was_awaited
    assert len(asyncio.run(generator.agenerate(TOOLS, QueryBundle(TWO)))) == 2
    assert other.was_awaited


def test_what_cannot_be_asked_is_refused() -> None:
    misnamed: Any = SetQueryQuestionGenerator("set", otherwise="plants")

    with pytest.raises(InvalidValueError, match=r"no tool is called 'set'. Did you mean 'sets'"):
        misnamed.generate(TOOLS, QueryBundle(TWO))
    with pytest.raises(InvalidValueError, match="no tool is called 'nowhere'"):
        SetQueryQuestionGenerator("sets", otherwise="nowhere").generate(TOOLS, QueryBundle(TWO))
    with pytest.raises(InvalidValueError, match="the question is blank"):
        SetQueryQuestionGenerator("sets").generate(TOOLS, QueryBundle(" "))
    with pytest.raises(InvalidValueError, match="'int' makes no sub-questions: give a BaseQuestionGenerator or the name"):
        SetQueryQuestionGenerator("sets", otherwise=5)  # type: ignore[arg-type]  # that is the test
    with pytest.raises(InvalidValueError, match="min_confidence is 7"):
        SetQueryQuestionGenerator("sets", min_confidence=7)


def test_prompts_are_those_of_the_other_generator() -> None:
    generator = SetQueryQuestionGenerator("sets", otherwise="plants")

    generator.update_prompts({})

    assert generator.get_prompts() == {}


@pytest.fixture(scope="module")
def birds() -> VectorStoreIndex:
    """An index of the animals and plants by shared words."""
    nodes = [TextNode(id_=name, text=text, metadata={"title": name}) for name, text in BIRDS.items()]
    return VectorStoreIndex(nodes, embed_model=WordEmbedding())


@pytest.mark.parametrize("use_async", [False, True])
def test_a_sub_question_engine_answers_set_queries_by_their_tool(birds: VectorStoreIndex, *, use_async: bool) -> None:
    llm = ScriptedLLM(script={"Sub question": "Whole.", f"Query: {DIFFERENCE}": "Four birds."}, default="Something.")
    synthesizer = get_response_synthesizer(llm=llm)
    sets = RetrieverQueryEngine(SetQueryRetriever(birds, judge=bird_judge()), synthesizer)
    plain = RetrieverQueryEngine(birds.as_retriever(), synthesizer)
    tools = [QueryEngineTool(query_engine=sets, metadata=SETS), QueryEngineTool(query_engine=plain, metadata=ANIMALS)]
    whole = SubQuestionQueryEngine(SetQueryQuestionGenerator("sets"), synthesizer, tools, verbose=False, use_async=use_async)

    with attach(measures=()) as recording:
        response = asyncio.run(whole.aquery(DIFFERENCE)) if use_async else whole.query(DIFFERENCE)
        assert recording.flush(20)

    assert str(response) == "Whole."
    assert {node.node_id for node in response.source_nodes} >= CHILE_ONLY
    assert f"Sub question: {DIFFERENCE}\nResponse: Four birds." in response.source_nodes[0].get_content()
    (trace,) = recording.traces
    assert [step.kind for step in trace.steps] == ["retrieve", "retrieve", "fuse"]
    assert trace.sub_questions is not None
    assert [each.text for each in trace.sub_questions] == [DIFFERENCE]


def test_a_selector_chooses_by_whether_it_is_a_set_query() -> None:
    selector = SetQuerySelector("sets", "animals")

    taken = selector.select(TOOLS, DIFFERENCE).selections[0]
    other = asyncio.run(selector.aselect(TOOLS, TWO)).selections[0]

    assert isinstance(taken, RoutedSelection)
    assert isinstance(other, RoutedSelection)
    assert (taken.index, taken.tool, taken.route) == (1, "sets", "set")
    assert (other.index, other.tool, other.route) == (0, "animals", "otherwise")
    assert taken.probability is not None
    assert "It is read as" in taken.reason


def test_a_selector_takes_the_default_where_there_is_nothing_to_read() -> None:
    taken = SetQuerySelector(1, 0, default="plants").select(TOOLS, " ").selections[0]

    assert taken.index == 2
    assert "blank" in taken.reason
    with pytest.raises(InvalidValueError, match="the question is blank"):
        SetQuerySelector(1, 0).select(TOOLS, " ")
    with pytest.raises(InvalidValueError, match="min_confidence is -1"):
        SetQuerySelector(1, 0, min_confidence=-1)


def test_routers_send_set_queries_to_the_engine_or_retriever_for_them(birds: VectorStoreIndex) -> None:
    llm = ScriptedLLM(default="Said.")
    sets, plain = SetQueryRetriever(birds, judge=bird_judge()), birds.as_retriever()
    engine = RouterQueryEngine(
        SetQuerySelector("sets", "animals"),
        [
            QueryEngineTool(query_engine=RetrieverQueryEngine(each, get_response_synthesizer(llm=llm)), metadata=metadata)
            for each, metadata in ((sets, SETS), (plain, ANIMALS))
        ],
        llm=llm,
    )
    router = RouterRetriever(
        SetQuerySelector("sets", "animals"),
        [RetrieverTool(retriever=sets, metadata=SETS), RetrieverTool(retriever=plain, metadata=ANIMALS)],
        llm=llm,
    )

    assert {node.node_id for node in engine.query(DIFFERENCE).source_nodes} == CHILE_ONLY
    assert {node.node_id for node in router.retrieve(DIFFERENCE)} == CHILE_ONLY
    assert len(router.retrieve(TWO)) == 2
