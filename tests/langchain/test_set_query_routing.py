"""Set queries, and nothing else, go to the chain that answers them."""

from __future__ import annotations

import asyncio
import copy
from functools import partial
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import ConfigurableField, Runnable, RunnableBranch, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover.errors import InvalidValueError
from rag_cover_langchain.route_events import EVENT
from rag_cover_langchain.set_queries import SetQueryRetriever
from rag_cover_langchain.set_query_routing import SetQueryRouter, is_set_query
from tests.birds import BIRDS, CHILE_ONLY, bird_judge
from tests.langchain.parts import ScriptedChatModel, WordEmbeddings
from tests.langchain.recordings import config, only, recorder
from tests.langchain.trees import RunTree

DIFFERENCE = "birds of Chile but not birds of Peru"
PLAIN = "Why do birds sing?"

Chain = Runnable[Any, Any]


def asked_as(question: str) -> list[Any]:
    """Ask in every form in which LangChain's parts are asked."""
    return [question, {"question": question}, {"input": question}, [HumanMessage(question)], {"messages": [("user", question)]}]


def says(text: str) -> Chain:
    """A chain of a model that answers with a text, word by word."""
    return ScriptedChatModel(default=text) | StrOutputParser()


def telling(text: str) -> Chain:
    """A chain that answers with a text, whatever it is called with."""
    return RunnableLambda(lambda _: text)


def router(**settings: Any) -> SetQueryRouter[Any, Any]:
    return SetQueryRouter(telling("sets"), telling("plain"), **settings)


@pytest.fixture(scope="module")
def birds() -> InMemoryVectorStore:
    """A store of the animals and plants by shared words."""
    store = InMemoryVectorStore(WordEmbeddings())
    store.add_documents([Document(text, id=name, metadata={"title": name}) for name, text in BIRDS.items()])
    return store


@pytest.mark.parametrize(("question", "said"), [(DIFFERENCE, "sets"), (PLAIN, "plain"), ("not birds of Peru", "plain")])
def test_set_queries_alone_take_their_way_whatever_they_stand_in(question: str, said: str) -> None:
    for asked in asked_as(question):
        assert router().invoke(asked) == asyncio.run(router().ainvoke(asked)) == said


def test_a_route_says_what_it_rests_on() -> None:
    route = router().route(DIFFERENCE)

    assert (route.name, route) == ("set", asyncio.run(router().aroute(DIFFERENCE)))
    assert route.probability is not None
    assert "It is read as" in route.reason
    assert "no set operation" in router().route(PLAIN).reason


def test_a_reading_that_is_too_unsure_takes_the_other_way() -> None:
    assert router(min_confidence=1.0).invoke(DIFFERENCE) == "plain"


def test_retrievers_get_the_question_and_give_documents(birds: InMemoryVectorStore) -> None:
    made: SetQueryRouter[Any, Any] = SetQueryRouter(SetQueryRetriever(birds, judge=bird_judge()), birds.as_retriever())

    for asked in asked_as(DIFFERENCE):
        assert {document.id for document in made.invoke(asked)} == CHILE_ONLY
    for asked in asked_as(PLAIN):
        assert made.invoke(asked) == birds.as_retriever().invoke(PLAIN)


def test_other_chains_get_what_the_router_was_given() -> None:
    made: SetQueryRouter[Any, Any] = SetQueryRouter(lambda given: given, {"given": lambda given: given})

    for asked in asked_as(DIFFERENCE):
        assert made.invoke(asked) == asked
    for asked in asked_as(PLAIN):
        assert made.invoke(asked) == {"given": asked}


def test_a_batch_sends_each_question_its_own_way() -> None:
    questions = [DIFFERENCE, PLAIN] * 3

    assert router().batch(questions, {"max_concurrency": 3}) == ["sets", "plain"] * 3
    assert asyncio.run(router().abatch(questions)) == ["sets", "plain"] * 3


def test_a_stream_is_that_of_the_chosen_chain() -> None:
    made: SetQueryRouter[Any, Any] = SetQueryRouter(says("Four birds of Chile."), says("They sing."))

    async def streamed() -> list[str]:
        return [part async for part in made.astream(DIFFERENCE)]

    assert [part for part in made.stream(DIFFERENCE) if part] == ["Four ", "birds ", "of ", "Chile."]
    assert "".join(asyncio.run(streamed())) == "Four birds of Chile."
    assert "".join(made.stream(PLAIN)) == "They sing."


def test_where_there_is_no_question_the_default_is_taken_or_there_is_an_error() -> None:
    assert router(default="otherwise").invoke({"documents": []}) == "plain"
    assert router(default=telling("default")).invoke(" ") == "default"
    with pytest.raises(InvalidValueError, match="there is no question in what was given"):
        router().invoke(" ")
    with pytest.raises(InvalidValueError, match="no route is called 'sets'"):
        router(default="sets")
    with pytest.raises(InvalidValueError, match="min_confidence is -1"):
        router(min_confidence=-1)


def test_what_was_decided_is_told_in_the_run(birds: InMemoryVectorStore) -> None:
    tree = RunTree()
    made: SetQueryRouter[Any, Any] = SetQueryRouter(SetQueryRetriever(birds, judge=bird_judge()), birds.as_retriever())

    made.invoke(DIFFERENCE, {"callbacks": [tree]})

    ((name, told_by, data),) = tree.events
    assert (name, told_by, data["route"]) == (EVENT, "SetQueryRouter", "set")
    assert tree.of("SetQueryRetriever") == ["RunnableSequence"]
    assert tree.of("VectorStoreRetriever") == ["SetQueryRetriever"] * 2
    assert tree.metadata("SetQueryRetriever", EVENT) == ["set"]


def test_a_recording_has_the_route_and_the_steps(birds: InMemoryVectorStore) -> None:
    made: SetQueryRouter[Any, Any] = SetQueryRouter(SetQueryRetriever(birds, judge=bird_judge()), birds.as_retriever())

    with recorder() as handler:
        made.invoke({"question": DIFFERENCE}, config(handler))
        trace = only(handler)

    assert trace.question.text == DIFFERENCE
    assert [step.kind for step in trace.steps] == ["retrieve", "retrieve", "fuse"]
    assert [route["route"] for route in trace.metadata["routes"]] == ["set"]


def test_a_copy_and_a_configured_router_decide_alike() -> None:
    made = router(min_confidence=1.0)
    tuned = router().configurable_fields(min_confidence=ConfigurableField(id="sure"))

    assert copy.deepcopy(made).invoke(DIFFERENCE) == copy.copy(made).invoke(DIFFERENCE) == "plain"
    assert tuned.invoke(DIFFERENCE) == "sets"
    assert tuned.invoke(DIFFERENCE, {"configurable": {"sure": 1.0}}) == "plain"


def test_a_branch_asks_whether_it_is_a_set_query() -> None:
    branch: RunnableBranch[Any, Any] = RunnableBranch((is_set_query, telling("sets")), telling("plain"))
    sure: RunnableBranch[Any, Any] = RunnableBranch(
        (partial(is_set_query, min_confidence=1.0), telling("sets")), telling("plain")
    )

    for asked in asked_as(DIFFERENCE):
        assert branch.invoke(asked) == asyncio.run(branch.ainvoke(asked)) == "sets"
        assert sure.invoke(asked) == "plain"
    assert branch.invoke(PLAIN) == "plain"
    assert branch.get_graph().nodes
    assert branch.get_input_jsonschema()


def test_what_holds_no_question_is_no_set_query_nor_another() -> None:
    assert not is_set_query({"documents": []})
    assert not is_set_query("")
    with pytest.raises(InvalidValueError, match="give a text, messages, or a mapping with a 'question'"):
        router().invoke({"documents": []})
