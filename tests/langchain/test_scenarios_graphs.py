"""Graphs of LangGraph in their documented shapes: each recording tells what truly happened."""

from __future__ import annotations

import asyncio
import operator
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langgraph", reason="needs langgraph")

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.prompts import ChatPromptTemplate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt

from rag_cover.coverage import Loss
from tests.langchain.parts import ScriptedChatModel
from tests.langchain.recordings import HEAT, SKY, answering, joined
from tests.langchain.scenarios import BAD, GOOD, HOT, Parts, Row, Seen, differences, invoke_or_pass, scenario

ROWS: list[Row] = []
row = partial(scenario, ROWS)

THREAD: Any = {"configurable": {"thread_id": "t1"}}
FOUND = "retrieve retrieve: rayleigh ocean"


class State(TypedDict, total=False):
    """The state of the documentation's graphs."""

    question: str
    documents: list[Document]
    web_search: bool
    generation: str


class Conversation(TypedDict, total=False):
    """The state of a conversation."""

    messages: Annotated[list[AnyMessage], add_messages]
    standalone_question: str
    documents: list[Document]


def retrieve(parts: Parts, k: int = 2) -> Any:
    return lambda state: {"documents": parts.store.similarity_search(state["question"], k=k)}


def generate(parts: Parts) -> Any:
    chain = answering(parts.model)
    return lambda state: {"generation": chain.invoke({"question": state["question"], "context": joined(state["documents"])})}


def graph(*nodes: tuple[str, Any], state: Any = State, **compiled: Any) -> Any:
    """Make a graph whose nodes follow one another."""
    made = StateGraph(state)
    for name, node in nodes:
        made.add_node(name, node)
    for (one, _), (other, _) in pairwise(nodes):
        made.add_edge(one, other)
    made.add_edge(START, nodes[0][0])
    made.add_edge(nodes[-1][0], END)
    return made.compile(**compiled)


def asking(parts: Parts, made: Any, question: str = SKY, **further: Any) -> object:
    return made.invoke({"question": question}, parts.config(**further))


@row(Seen((FOUND,), "rayleigh ocean", pipeline="retrieve, generate"))
def retrieve_and_generate(parts: Parts) -> object:
    return asking(parts, graph(("retrieve", retrieve(parts)), ("generate", generate(parts))))


@row(Seen((FOUND,), "rayleigh ocean"))
def the_same_awaited(parts: Parts) -> object:
    made = graph(("retrieve", retrieve(parts)), ("generate", generate(parts)))
    return asyncio.run(made.ainvoke({"question": SKY}, parts.config()))


@row(Seen((FOUND,), "rayleigh ocean"))
def the_same_streamed(parts: Parts) -> object:
    made = graph(("retrieve", retrieve(parts)), ("generate", generate(parts)))
    return list(made.stream({"question": SKY}, parts.config(), stream_mode="updates"))


@row(Seen(("retrieve VectorStoreRetriever: rayleigh ocean",), "rayleigh ocean"))
def a_node_that_asks_a_retriever(parts: Parts) -> object:
    found = ("retrieve", lambda state: {"documents": parts.retriever().invoke(state["question"])})
    return asking(parts, graph(found, ("generate", generate(parts))))


def _grader(keep: str) -> Any:
    grade = ChatPromptTemplate.from_template("Relevant? {document}") | ScriptedChatModel(script={keep: "yes"}, default="no")

    def grade_documents(state: State) -> State:
        kept = [each for each in state["documents"] if grade.invoke({"document": each.page_content}).text == "yes"]
        return {"documents": kept, "web_search": not kept}

    return grade_documents


@row(Seen((FOUND, "filter grade_documents: ocean"), "ocean", BAD, Loss.DROPPED))
def a_grader_that_drops_the_passage(parts: Parts) -> object:
    grade = ("grade_documents", _grader("The ocean"))
    return asking(parts, graph(("retrieve", retrieve(parts)), grade, ("generate", generate(parts))))


@row(
    Seen(
        (
            "retrieve retrieve: heat insulation",
            "filter grade_documents",
            "retrieve web_search: Air-molecules-scatter",
        ),
        "Air-molecules-scatter",
    )
)
def a_corrective_graph_that_searches_the_web(parts: Parts) -> object:
    def web_search(state: State) -> State:
        return {"documents": [*state["documents"], Document("Air molecules scatter blue light, says the web.")]}

    made = StateGraph(State)
    made.add_node("retrieve", lambda _: {"documents": parts.store.similarity_search(HEAT, k=2)})
    made.add_node("grade_documents", _grader("The sky"))
    made.add_node("web_search", web_search)
    made.add_node("generate", generate(parts))
    made.add_edge(START, "retrieve")
    made.add_edge("retrieve", "grade_documents")
    made.add_conditional_edges("grade_documents", lambda state: "web_search" if state["web_search"] else "generate")
    made.add_edge("web_search", "generate")
    made.add_edge("generate", END)
    return asking(parts, made.compile())


@row(Seen(("retrieve retrieve-1: ocean", "retrieve retrieve-2: rayleigh ocean"), "rayleigh ocean"))
def a_graph_that_checks_itself_and_searches_again(parts: Parts) -> object:
    tries: list[int] = []

    def found(_: State) -> State:
        tries.append(1)
        ids = ["ocean"] if len(tries) == 1 else ["rayleigh", "ocean"]
        return {"documents": parts.store.get_by_ids(ids)}

    grade = ChatPromptTemplate.from_template("Grounded? {said}") | ScriptedChatModel(script={"scatter": "yes"}, default="no")
    made: Any = StateGraph(State)
    made.add_node("retrieve", found)
    made.add_node("generate", generate(parts))
    made.add_edge(START, "retrieve")
    made.add_edge("retrieve", "generate")

    def check(state: State) -> str:
        return END if grade.invoke({"said": state["generation"]}).text == "yes" else "retrieve"

    made.add_conditional_edges("generate", check, ["retrieve", END])
    return asking(parts, made.compile())


class Fan(TypedDict, total=False):
    """The state of a graph that sends its question out in parts."""

    question: str
    documents: Annotated[list[Document], operator.add]
    generation: str


@row(Seen(("retrieve search-1: rayleigh", "retrieve search-2: ocean"), "rayleigh ocean"))
def a_question_sent_out_in_parts(parts: Parts) -> object:
    made = StateGraph(Fan)
    made.add_node("search", lambda state: {"documents": parts.store.get_by_ids([state["question"]])})
    made.add_node("generate", generate(parts))
    made.add_conditional_edges(START, lambda _: [Send("search", {"question": each}) for each in ("rayleigh", "ocean")])
    made.add_edge("search", "generate")
    made.add_edge("generate", END)
    return asking(parts, made.compile(), max_concurrency=1)


@row(Seen((FOUND,), "rayleigh ocean"))
def a_graph_within_a_graph(parts: Parts) -> object:
    inner = graph(("retrieve", retrieve(parts)))
    return asking(parts, graph(("search", inner), ("generate", generate(parts))))


@row(Seen((FOUND,), "rayleigh ocean", thread="t1"))
def somebody_approves_between_retrieving_and_generating(parts: Parts) -> object:
    def approve(_: State) -> State:
        interrupt("Good enough?")
        return {}

    nodes = ("retrieve", retrieve(parts)), ("approve", approve), ("generate", generate(parts))
    made = graph(*nodes, checkpointer=InMemorySaver())
    asking(parts, made, **THREAD)
    return made.invoke(Command(resume="yes"), parts.config(**THREAD))


@row(Seen((FOUND,), "rayleigh ocean", thread="t1"))
def a_breakpoint_before_generating(parts: Parts) -> object:
    nodes = ("retrieve", retrieve(parts)), ("generate", generate(parts))
    made = graph(*nodes, checkpointer=InMemorySaver(), interrupt_before=["generate"])
    asking(parts, made, **THREAD)
    return made.invoke(None, parts.config(**THREAD))


@row(
    Seen((FOUND,), None, None, thread="t1"),
    Seen(("retrieve retrieve: heat insulation",), None, None, question=HEAT, thread="t1"),
)
def an_interrupted_question_that_nobody_goes_on_with(parts: Parts) -> object:
    nodes = ("retrieve", retrieve(parts)), ("generate", generate(parts))
    made = graph(*nodes, checkpointer=InMemorySaver(), interrupt_before=["generate"])
    return [asking(parts, made, question, **THREAD) for question in (SKY, HEAT)]


@row(
    Seen((FOUND,), "rayleigh ocean", thread="t1"),
    Seen(("retrieve retrieve: heat insulation",), "heat insulation", HOT, question=HEAT, thread="t1"),
)
def two_turns_with_a_checkpointer(parts: Parts) -> object:
    made = graph(("retrieve", retrieve(parts)), ("generate", generate(parts)), checkpointer=InMemorySaver())
    return [asking(parts, made, question, **THREAD) for question in (SKY, HEAT)]


def _conversation(parts: Parts) -> Any:
    """Make a graph that condenses a follow-up, retrieves and answers."""
    condense = ChatPromptTemplate.from_messages([("system", "Alone."), ("placeholder", "{messages}")])
    rewriting = condense | ScriptedChatModel(script={"And the price?": HEAT}, default=SKY)

    def rephrase(state: Conversation) -> Conversation:
        said = state["messages"]
        return {"standalone_question": said[-1].text if len(said) == 1 else rewriting.invoke({"messages": said}).text}

    def search(state: Conversation) -> Conversation:
        return {"documents": parts.retriever().invoke(state["standalone_question"])}

    def reply(state: Conversation) -> Conversation:
        said = parts.model.invoke([("system", joined(state["documents"])), *state["messages"][-1:]])
        return {"messages": [AIMessage(HOT if "heat" in state["documents"][0].page_content.lower() else said.text)]}

    return graph(("rephrase", rephrase), ("search", search), ("reply", reply), state=Conversation, checkpointer=InMemorySaver())


@row(
    Seen(("retrieve VectorStoreRetriever: rayleigh ocean",), "rayleigh ocean"),
    Seen(("retrieve VectorStoreRetriever: heat insulation",), "heat insulation", HOT, question=HEAT, asked="And the price?"),
)
def a_conversation_whose_follow_up_is_condensed(parts: Parts) -> object:
    made = _conversation(parts)
    return [made.invoke({"messages": [("user", said)]}, parts.config(**THREAD)) for said in (SKY, "And the price?")]


@row(Seen(("retrieve search: rayleigh ocean",), "rayleigh ocean"))
def a_workflow_of_tasks(parts: Parts) -> object:
    @task
    def search(question: str) -> list[Document]:
        return parts.store.similarity_search(question, k=2)

    @entrypoint()
    def workflow(question: str) -> str:
        found = search(question).result()
        return str(answering(parts.model).invoke({"question": question, "context": joined(found)}))

    return workflow.invoke(SKY, parts.config())


@row(Seen((), None, GOOD), only_retrieval=False)
def a_route_that_needs_no_search(parts: Parts) -> object:
    made = StateGraph(State)
    made.add_node("retrieve", retrieve(parts))
    made.add_node("answer", lambda _: {"generation": ScriptedChatModel(default=GOOD).invoke("?").text})
    made.add_conditional_edges(START, lambda _: "answer", ["retrieve", "answer"])
    return asking(parts, made.compile())


@row(Seen((FOUND,), None, None))
def a_node_that_fails(parts: Parts) -> object:
    def fail(_: State) -> State:
        message = "the model is down"
        raise ConnectionError(message)

    invoke_or_pass(graph(("retrieve", retrieve(parts)), ("generate", fail)), {"question": SKY}, parts.config())
    return None


@pytest.mark.parametrize("row", ROWS, ids=lambda each: each.run.__name__)
def test_what_happened_is_told(row: Row) -> None:
    found = differences(row)

    assert not found, "\n".join(found)
