"""Pipelines are told apart by the names that they were given, else by what they are made of."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda

from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from rag_cover_langchain.pipeline_names import structure_of
from tests.langchain.recordings import SKY, config, only, told

STRUCTURE = "ChatPromptTemplate > FakeListChatModel > StrOutputParser"


def chain() -> Runnable[Any, str]:
    return ChatPromptTemplate.from_template("{question}") | FakeListChatModel(responses=["Blue."]) | StrOutputParser()


async def read(asked: Runnable[Any, Any], config_: Any) -> None:
    async for _ in asked.astream({"question": SKY}, config_):
        pass


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream", "astream", "batch", "abatch", "bound"])
def test_a_chain_without_a_name_is_called_by_its_steps(handler: RagCoverCallbackHandler, how: str) -> None:
    asked, to, given = chain(), config(handler), {"question": SKY}

    match how:
        case "invoke":
            asked.invoke(given, to)
        case "ainvoke":
            asyncio.run(asked.ainvoke(given, to))
        case "stream":
            list(asked.stream(given, to))
        case "astream":
            asyncio.run(read(asked, to))
        case "batch":
            asked.batch([given, given], to)
        case "abatch":
            asyncio.run(asked.abatch([given], to))
        case _:
            asked.with_config(tags=["x"]).invoke(given, to)

    assert {trace.pipeline for trace in told(handler)} == {STRUCTURE}


def test_a_run_name_is_the_name(handler: RagCoverCallbackHandler) -> None:
    chain().invoke({"question": SKY}, config(handler, run_name="docs"))
    chain().with_config(run_name="docs").invoke({"question": SKY}, config(handler))

    assert [trace.pipeline for trace in told(handler)] == ["docs", "docs"]


def test_a_chain_that_fails_has_the_name_of_one_that_does_not(handler: RagCoverCallbackHandler) -> None:
    with pytest.raises(KeyError):
        chain().invoke({"text": SKY}, config(handler))

    assert only(handler).pipeline == STRUCTURE


@pytest.mark.parametrize("is_async", [False, True])
def test_a_graph_without_a_name_is_called_by_its_nodes_whichever_it_takes(
    handler: RagCoverCallbackHandler, is_async: bool
) -> None:
    pytest.importorskip("langgraph", reason="needs langgraph")
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict, total=False):
        question: str
        answer: str

    graph = StateGraph(State)
    graph.add_node("search", lambda _: {"answer": "It scatters."})
    graph.add_node("reply", lambda _: {"answer": "Hello."})
    graph.add_conditional_edges(START, lambda state: "search" if state["question"] == SKY else "reply")
    graph.add_edge("search", END)
    graph.add_edge("reply", END)
    unnamed, named = graph.compile(), graph.compile(name="helpdesk")

    for question in (SKY, "Hello."):
        asked: Any = {"question": question}
        asyncio.run(unnamed.ainvoke(asked, config(handler))) if is_async else unnamed.invoke(asked, config(handler))
    named.invoke({"question": SKY}, config(handler))

    assert [trace.pipeline for trace in told(handler)] == ["search, reply", "search, reply", "helpdesk"]


def test_a_long_name_loses_its_middle() -> None:
    steps = [RunnableLambda(len).with_config(run_name=f"step{number}") for number in range(30)]
    whole: Runnable[Any, Any] = steps[0]
    for step in steps[1:]:
        whole = whole | step

    name = structure_of(whole)

    assert len(name) == 100
    assert name.startswith("step0 > step1")
    assert name.endswith("step28 > step29")
