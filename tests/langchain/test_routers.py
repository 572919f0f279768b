"""Routers that are called, awaited, batched and streamed as the chain that they choose."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import (
    ConfigurableField,
    Runnable,
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import read_traces
from rag_cover.errors import InvalidValueError
from rag_cover.questions import json_value
from rag_cover.testing import KeywordScorer, ScriptedScorer
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from rag_cover_langchain.route_events import EVENT
from rag_cover_langchain.routers import ComplexityRouterRunnable
from rag_cover_langchain.tags import INTERNAL_TAGS, PROBE
from tests.gates import Gate
from tests.langchain.parts import ScriptedChatModel
from tests.langchain.trees import RunTree

COST = "How much does a heat pump cost?"
MAYOR = "Who is the mayor of Lisbon?"
ASKED = [COST, {"question": COST}, {"input": COST}, [HumanMessage(COST)], {"messages": [("user", COST)]}]

Chain = Runnable[Any, Any]


def says(text: str) -> Chain:
    """A chain of a model that answers with a text, word by word."""
    return ScriptedChatModel(default=text) | StrOutputParser()


def answering(text: str) -> Chain:
    """A chain that answers with a text, whatever it is called with."""
    return RunnableLambda(lambda _: text)


def ways() -> Mapping[Any, Chain]:
    return {"direct": answering("plain"), "complex": answering("split"), "unanswerable": answering("none")}


def router(store: InMemoryVectorStore, **settings: Any) -> ComplexityRouterRunnable[Any, Any]:
    return ComplexityRouterRunnable(store, **({"routes": ways()} | settings))


def dead() -> Runnable[str, list[Document]]:
    """A retriever that does not answer."""

    def find(_: str) -> list[Document]:
        message = "connection refused"
        raise ConnectionError(message)

    return RunnableLambda(find)


@pytest.mark.parametrize("asked", ASKED)
def test_what_one_passage_answers_goes_the_direct_way_whatever_it_stands_in(store: InMemoryVectorStore, asked: Any) -> None:
    made = router(store)

    route = made.route(asked)

    assert made.invoke(asked) == asyncio.run(made.ainvoke(asked)) == "plain"
    assert (route.name, route) == ("direct", asyncio.run(made.aroute(asked)))
    assert "one step, which the passages answer" in route.reason
    assert route.scores["max_answer_probability"] > route.scores["t_ans"]


def test_what_no_passage_answers_goes_another_way(store: InMemoryVectorStore) -> None:
    two_ways = {"direct": answering("plain"), "complex": answering("split")}

    assert router(store, judge=ScriptedScorer(default=0.0)).invoke(COST) != "plain"
    assert router(store, judge=ScriptedScorer(default=0.0), routes=two_ways).invoke(COST) == "split"


def test_a_cut_decides_in_place_of_thresholds(store: InMemoryVectorStore) -> None:
    made = router(store, cut=0.0)

    assert made.invoke(COST) == "split"
    assert "reaches the cut of 0.00" in made.route(COST).reason


def test_the_same_is_decided_as_without_the_framework(store: InMemoryVectorStore) -> None:
    made = router(store)

    for question in (COST, MAYOR):
        assert made.route(question) == made._router.route(question)
        assert made.complexity(question) == made._router.complexity(question)


def test_chains_get_what_the_router_was_given(store: InMemoryVectorStore) -> None:
    same: Chain = RunnablePassthrough()

    for asked in ASKED:
        assert router(store, routes={"direct": same, "complex": same}).invoke(asked) == asked


def test_functions_and_mappings_are_chains_too(store: InMemoryVectorStore) -> None:
    made = router(store, routes={"direct": {"said": str.upper}, "complex": str.lower})

    assert made.invoke(COST) == {"said": COST.upper()}


def test_a_batch_sends_each_question_its_own_way(store: InMemoryVectorStore) -> None:
    made = router(store, routes={"direct": answering("plain"), "complex": answering("split")})
    questions = [COST, MAYOR] * 4

    alone = [made.invoke(question) for question in questions]

    assert alone == ["plain", "split"] * 4
    assert made.batch(questions, {"max_concurrency": 4}) == alone
    assert asyncio.run(made.abatch(questions)) == alone


def test_a_failure_in_a_batch_is_one_of_its_results(store: InMemoryVectorStore) -> None:
    found = router(store).batch([COST, " "], return_exceptions=True)

    assert found[0] == "plain"
    assert isinstance(found[1], InvalidValueError)


def test_the_chosen_chain_streams_as_it_speaks(store: InMemoryVectorStore) -> None:
    made = router(store, routes={"direct": says("It costs 12,000 euros."), "complex": says("It depends.")})

    async def read() -> list[str]:
        return [part async for part in made.astream(COST)]

    parts = [part for part in made.stream(COST) if part]
    assert parts == ["It ", "costs ", "12,000 ", "euros."]
    assert [part for part in asyncio.run(read()) if part] == parts


def test_the_first_word_is_there_before_the_last_is_thought_of(store: InMemoryVectorStore) -> None:
    spoken: list[str] = []

    def speak(_: Iterator[str]) -> Iterator[str]:
        for word in ("one", "two"):
            spoken.append(word)
            yield word

    made = router(store, routes={"direct": RunnableGenerator(speak), "complex": says("It depends.")})
    stream = made.stream(COST)

    assert (next(stream), spoken) == ("one", ["one"])
    assert (list(stream), spoken) == (["two"], ["one", "two"])


def test_messages_stream_in_chunks_that_add_up(store: InMemoryVectorStore) -> None:
    model = ScriptedChatModel(default="It costs 12,000 euros.")

    chunks = list(router(store, routes={"direct": model, "complex": model}).stream([HumanMessage(COST)]))

    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    assert isinstance(whole, AIMessageChunk)
    assert whole.text == "It costs 12,000 euros."
    assert len(chunks) > 3


@given(st.lists(st.integers(1, len(COST) - 1), max_size=4, unique=True).map(sorted))
def test_an_input_that_comes_in_parts_is_put_together(cuts: list[int]) -> None:
    parts = [COST[start:end] for start, end in zip([0, *cuts], [*cuts, len(COST)], strict=True)]
    same: Chain = RunnablePassthrough()
    made = ComplexityRouterRunnable[Any, Any](
        RunnableLambda(lambda _: []), {"direct": same, "complex": same}, judge=KeywordScorer(), relevance=None
    )

    async def read() -> list[str]:
        async def given() -> AsyncIterator[str]:
            for part in parts:
                yield part

        return [part async for part in made.atransform(given())]

    assert list(made.transform(iter(parts))) == [COST]
    assert asyncio.run(read()) == [COST]


def test_it_is_a_step_among_others(store: InMemoryVectorStore) -> None:
    prompt = ChatPromptTemplate.from_messages([("user", "{question}")])
    model = ScriptedChatModel(default="It costs 12,000 euros.")
    chain = RunnableParallel(question=RunnablePassthrough()) | router(
        store, routes={"direct": prompt | model | StrOutputParser(), "complex": says("It depends.")}
    )

    shouted = chain.with_config(tags=["mine"]) | str.upper

    assert shouted.invoke(COST) == "IT COSTS 12,000 EUROS."
    assert [part for part in chain.stream(COST) if part] == ["It ", "costs ", "12,000 ", "euros."]


def test_it_shows_in_graphs_and_schemas(store: InMemoryVectorStore) -> None:
    tuned = ScriptedChatModel().configurable_fields(default=ConfigurableField(id="said"))
    made = router(store, routes={"direct": tuned, "complex": says("It depends.")}, name="which_way")

    assert [node.name for node in made.get_graph().nodes.values()] == ["which_way_input", "which_way", "which_way_output"]
    assert "configurable" in made.config_schema().model_json_schema()["properties"]
    assert made.get_input_jsonschema()["title"] == "which_way_input"
    assert made.invoke(COST, {"configurable": {"said": "tuned"}}).text == "tuned"


def test_what_runs_belongs_to_the_router_and_says_which_way_it_was_sent(store: InMemoryVectorStore) -> None:
    made = router(store, routes={"direct": says("plain"), "complex": says("split")})

    async def streamed(tree: RunTree) -> list[str]:
        return [part async for part in made.astream(COST, {"callbacks": [tree]})]

    trees = [RunTree() for _ in range(4)]
    made.invoke(COST, {"callbacks": [trees[0]], "tags": ["mine"], "metadata": {"qid": 7}})
    asyncio.run(made.ainvoke(COST, {"callbacks": [trees[1]], "tags": ["mine"], "metadata": {"qid": 7}}))
    list(made.stream(COST, {"callbacks": [trees[2]]}))
    asyncio.run(streamed(trees[3]))

    for tree in trees:
        assert tree.of("ComplexityRouterRunnable") == [None]
        assert tree.of("VectorStoreRetriever") == tree.of("RunnableSequence") == ["ComplexityRouterRunnable"]
        assert tree.of("ScriptedChatModel") == ["RunnableSequence"]
        assert PROBE in tree.tags("VectorStoreRetriever")[0]
        assert PROBE not in tree.tags("RunnableSequence")[0] + tree.tags("ScriptedChatModel")[0]
        assert "route:direct" in tree.tags("RunnableSequence")[0]
        assert tree.metadata("ScriptedChatModel", EVENT) == ["direct"]
        assert tree.metadata("VectorStoreRetriever", EVENT) == [None]
    assert all("mine" in tree.tags("ScriptedChatModel")[0] for tree in trees[:2])
    assert trees[0].metadata("VectorStoreRetriever", "qid") == trees[1].metadata("VectorStoreRetriever", "qid") == [7]


def test_a_chat_model_that_judges_is_part_of_the_probe(store: InMemoryVectorStore) -> None:
    verdict = '{"verdicts": [{"question": 1, "answered": false, "probability": 0.0, "fragment": null}]}'
    tree = RunTree()

    router(store, judge=ScriptedChatModel(default=verdict)).invoke(COST, {"callbacks": [tree]})

    assert set(tree.of("ScriptedChatModel")) == {"ComplexityRouterRunnable"}
    assert all(INTERNAL_TAGS & set(tags) for tags in tree.tags("ScriptedChatModel"))


def test_a_recording_tells_the_route_and_what_the_chosen_chain_retrieves_and_leaves_the_probe_out(
    store: InMemoryVectorStore, tmp_path: Path
) -> None:
    model = ScriptedChatModel(default="It costs 12,000 euros.")
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    find = RunnableParallel(context=store.as_retriever(search_kwargs={"k": 2}), question=RunnablePassthrough())
    chain = find | prompt | model | StrOutputParser()

    with RagCoverCallbackHandler(measures=(), traces=tmp_path / "traces.jsonl") as handler:
        made = router(store, routes={"direct": chain, "complex": chain}, k=5)
        made.invoke(COST, {"callbacks": [handler]})

    (trace,) = read_traces(tmp_path / "traces.jsonl")
    (route,) = trace.metadata["routes"]
    assert json_value(route) == made.route(COST).to_dict()
    assert [len(step.passages) for step in trace.steps] == [2]
    assert trace.answer == "It costs 12,000 euros."


def test_the_decision_is_an_event_of_the_router(store: InMemoryVectorStore) -> None:
    made, tree = router(store), RunTree()

    made.invoke(COST, {"callbacks": [tree]})

    route = made.route(COST)
    assert tree.events == [(EVENT, "ComplexityRouterRunnable", route.to_dict())]


def test_streams_of_events_tell_the_decision_before_the_answer(store: InMemoryVectorStore) -> None:
    made = router(store, routes={"direct": says("plain"), "complex": says("split")})

    async def read() -> list[tuple[str, Any]]:
        return [(event["event"], event["data"]) async for event in made.astream_events(COST, version="v2")]

    events = asyncio.run(read())
    kinds = [kind for kind, _ in events]
    told = kinds.index("on_custom_event")
    assert kinds.index("on_retriever_end") < told < kinds.index("on_chat_model_start")
    assert events[told][1]["route"] == "direct"


def test_where_the_router_fails_the_default_is_called_and_that_is_told() -> None:
    by_name, by_itself = RunTree(), RunTree()
    reason = "The router failed (ConnectionError: connection refused), so the default is taken."

    named = ComplexityRouterRunnable[Any, Any](dead(), ways(), default="unanswerable")
    own = ComplexityRouterRunnable[Any, Any](dead(), ways(), default=answering("sorry"))

    assert (named.invoke(COST, {"callbacks": [by_name]}), own.invoke(COST, {"callbacks": [by_itself]})) == ("none", "sorry")
    assert (asyncio.run(named.ainvoke(COST)), asyncio.run(own.ainvoke(COST))) == ("none", "sorry")
    assert (list(named.stream(COST)), list(own.stream(COST))) == (["none"], ["sorry"])
    assert (named.route(COST).name, named.route(COST).reason, named.route(COST).probability) == ("unanswerable", reason, None)
    assert by_name.events[0][2] == {
        "route": "unanswerable",
        "probability": None,
        "scores": {},
        "reason": reason,
        "error": "ConnectionError: connection refused",
    }
    assert by_itself.events[0][2]["route"] == "default"


def test_where_the_router_fails_and_there_is_no_default_there_is_an_error() -> None:
    made = ComplexityRouterRunnable[Any, Any](dead(), ways())

    with pytest.raises(ConnectionError, match="connection refused"):
        made.invoke(COST)
    with pytest.raises(ConnectionError, match="connection refused"):
        list(made.stream(COST))


@pytest.mark.parametrize("asked", [" ", {"context": []}, [], {}, 7])
def test_without_a_question_there_is_an_error_or_the_default(store: InMemoryVectorStore, asked: Any) -> None:
    with pytest.raises(InvalidValueError, match="there is no question in what was given"):
        router(store).invoke(asked)
    assert router(store, default="complex").invoke(asked) == "split"


def test_a_failure_of_the_chosen_chain_is_its_own(store: InMemoryVectorStore) -> None:
    def fail(_: object) -> str:
        message = "the model is down"
        raise TimeoutError(message)

    made = router(store, routes={"direct": RunnableLambda(fail), "complex": says("It depends.")}, default="complex")

    with pytest.raises(TimeoutError, match="the model is down"):
        made.invoke(COST)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"routes": {"direkt": answering("plain"), "complex": answering("split")}}, "Did you mean 'direct'"),
        ({"routes": {"complex": answering("split")}}, "name a route for 'direct' questions"),
        ({"k": 0}, "k is 0; give a whole number of at least 1"),
        (
            {"default": "complx"},
            "no route is called 'complx'. Did you mean 'complex'.* are: direct, complex, unanswerable",
        ),
        ({"judge": object()}, "'object' cannot serve as judge"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(
    store: InMemoryVectorStore, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidValueError, match=message):
        router(store, **settings)


def test_a_decision_does_not_block_the_loop(store: InMemoryVectorStore) -> None:
    def waiting(gate: Gate) -> Runnable[str, list[Document]]:
        def find(query: str) -> list[Document]:
            gate.wait()
            return store.similarity_search(query)

        return RunnableLambda(find)

    async def streamed(made: ComplexityRouterRunnable[Any, Any]) -> list[str]:
        return [part async for part in made.astream(COST)]

    gates = [Gate() for _ in range(3)]
    made = [ComplexityRouterRunnable[Any, Any](waiting(gate), ways()) for gate in gates]

    assert gates[0].run(made[0].ainvoke(COST)) == "plain"
    assert gates[1].run(streamed(made[1])) == ["plain"]
    assert gates[2].run(made[2].aroute(COST)).name == "direct"


def test_one_router_serves_16_threads_at_once(store: InMemoryVectorStore) -> None:
    made, together = router(store), threading.Barrier(16)
    alone = {question: made.invoke(question) for question in (COST, MAYOR)}

    def ask(question: str) -> Any:
        together.wait()
        return made.invoke(question)

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, [COST, MAYOR] * 8)) == [alone[COST], alone[MAYOR]] * 8
    assert alone[COST] != alone[MAYOR]


def test_a_copy_decides_the_same(store: InMemoryVectorStore) -> None:
    made = router(store, default="complex")

    copied = copy.deepcopy(made)

    assert copied.routes == made.routes
    assert copied.route(COST) == made.route(COST)
