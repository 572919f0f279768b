"""Graphs are recorded: what each node found, kept and added, told by the states that go in and come out."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langgraph", reason="needs langgraph: pip install langchain")

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from tests.langchain.parts import ScriptedChatModel
from tests.langchain.recordings import (
    ANSWER,
    HEAT,
    SKY,
    answering,
    config,
    is_empty,
    joined,
    only,
    prompt,
    steps,
    told,
)

Node = Callable[[Any], Any]


class State(TypedDict, total=False):
    """What most tutorials keep."""

    question: str
    documents: list[Document]
    generation: str


class Stated(BaseModel):
    """The same, as a model."""

    question: str
    documents: list[Document] = []
    generation: str = ""


@dataclass
class Kept:
    """The same, as a dataclass."""

    question: str
    documents: list[Document] = field(default_factory=list)
    generation: str = ""


class Added(TypedDict, total=False):
    """A state whose documents are added up."""

    question: str
    documents: Annotated[list[Document], operator.add]
    generation: str


class Conversation(MessagesState):
    """Messages, and what was found for the last."""

    documents: list[Document]


@pytest.fixture
def nodes(store: InMemoryVectorStore, model: BaseChatModel) -> Mapping[str, Node]:
    """Nodes that retrieve, keep the first two, add one from elsewhere, and answer."""

    def generate(state: State) -> State:
        held = {"context": joined(state["documents"]), "question": state["question"]}
        return {"generation": answering(model).invoke(held)}

    return {
        "retrieve": lambda state: {"documents": store.similarity_search(state["question"], k=3)},
        "grade": lambda state: {"documents": state["documents"][:2]},
        "web": lambda state: {"documents": [*state["documents"], Document("The web says: violet, too.", id="web")]},
        "rerank": lambda state: {"documents": state["documents"][::-1]},
        "generate": generate,
    }


def graph(given: Mapping[str, Any], state: Any = State, **settings: Any) -> Any:
    """Put nodes in a row."""
    made: Any = StateGraph(state)
    before = START
    for name, node in given.items():
        made.add_node(name, node)
        made.add_edge(before, name)
        before = name
    made.add_edge(before, END)
    return made.compile(**settings)


def some(nodes: Mapping[str, Node], *names: str, **others: Any) -> dict[str, Any]:
    return {name: others.get(name, nodes.get(name)) for name in names}


def turn(handler: RagCoverCallbackHandler) -> RunnableConfig:
    return config(handler, configurable={"thread_id": "1"})


@pytest.mark.parametrize("is_async", [False, True])
def test_nodes_retrieve_filter_and_add(handler: RagCoverCallbackHandler, nodes: Mapping[str, Node], is_async: bool) -> None:
    corrective = graph(some(nodes, "retrieve", "grade", "web", "generate"))

    asked = {"question": SKY}
    asyncio.run(corrective.ainvoke(asked, config(handler))) if is_async else corrective.invoke(asked, config(handler))

    trace = only(handler)
    assert (trace.question.text, trace.answer, trace.pipeline) == (SKY, ANSWER, "retrieve, grade, web, generate")
    assert steps(trace) == [
        ("retrieve", "retrieve", ["rayleigh", "ocean", "sunset"]),
        ("filter", "grade", ["rayleigh", "ocean"]),
        ("retrieve", "web", ["web"]),
    ]
    assert [step.input_ids for step in trace.steps] == [(), ("retrieve",), ()]
    assert prompt(trace) == ["rayleigh", "ocean", "web"]


def test_a_node_that_changes_the_order_reranks(handler: RagCoverCallbackHandler, nodes: Mapping[str, Node]) -> None:
    graph(some(nodes, "retrieve", "rerank", "generate")).invoke({"question": SKY}, config(handler))

    trace = only(handler)
    assert steps(trace)[1:] == [("rerank", "rerank", ["sunset", "ocean", "rayleigh"])]
    assert prompt(trace) == ["sunset", "ocean", "rayleigh"]


def test_a_grader_that_keeps_nothing_filters_all(handler: RagCoverCallbackHandler, nodes: Mapping[str, Node]) -> None:
    strict = graph(some(nodes, "retrieve", "grade", "generate", grade=lambda _: {"documents": []}))

    strict.invoke({"question": SKY}, config(handler))

    assert steps(only(handler))[1:] == [("filter", "grade", [])]


def test_models_that_grade_each_passage_answer_nothing(handler: RagCoverCallbackHandler, nodes: Mapping[str, Node]) -> None:
    grader = answering(ScriptedChatModel(script={"ocean": "no"}, default="yes"))

    def grade(state: State) -> State:
        asked = [(each, grader.invoke({"context": each.page_content, "question": "?"})) for each in state["documents"]]
        return {"documents": [document for document, said in asked if said == "yes"]}

    graph(some(nodes, "retrieve", "grade", "generate", grade=grade)).invoke({"question": SKY}, config(handler))

    trace = only(handler)
    assert steps(trace)[1:] == [("filter", "grade", ["rayleigh", "sunset"])]
    assert (trace.answer, prompt(trace)) == (ANSWER, ["rayleigh", "sunset"])


@pytest.mark.parametrize("state", [Stated, Kept])
def test_states_may_be_models_and_dataclasses(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel, state: Any
) -> None:
    written = answering(model)
    row = graph(
        {
            "retrieve": lambda held: {"documents": store.similarity_search(held.question, k=3)},
            "grade": lambda held: {"documents": held.documents[:2]},
            "generate": lambda held: {
                "generation": written.invoke({"context": joined(held.documents), "question": held.question})
            },
        },
        state,
    )

    row.invoke(state(question=SKY), config(handler))

    trace = only(handler)
    assert [(step.kind, step.id) for step in trace.steps] == [("retrieve", "retrieve"), ("filter", "grade")]
    assert (trace.question.text, trace.answer, prompt(trace)) == (SKY, ANSWER, ["rayleigh", "ocean"])


def test_two_nodes_that_retrieve_at_once_are_two_steps(handler: RagCoverCallbackHandler, store: InMemoryVectorStore) -> None:
    one, other = (store.as_retriever(search_kwargs={"k": k}) for k in (2, 1))
    made: Any = StateGraph(Added)
    made.add_node("one", lambda state: {"documents": one.invoke(state["question"])})
    made.add_node("other", lambda _: {"documents": other.invoke(HEAT)})
    made.add_node("generate", lambda _: {"generation": "Blue, says somebody."})
    for name in ("one", "other"):
        made.add_edge(START, name)
        made.add_edge(name, "generate")

    made.compile().invoke({"question": SKY}, config(handler))

    trace = only(handler)
    assert {step.query: [each.id for each in step.passages] for step in trace.steps} == {
        SKY: ["rayleigh", "ocean"],
        HEAT: ["heat"],
    }
    assert (trace.answer, prompt(trace)) == ("Blue, says somebody.", ["rayleigh", "ocean", "heat"])


def test_a_graph_within_a_graph_is_part_of_the_same_question(
    handler: RagCoverCallbackHandler, nodes: Mapping[str, Node]
) -> None:
    inner = graph(some(nodes, "retrieve", "grade"))

    graph({"inner": inner, **some(nodes, "generate")}).invoke({"question": SKY}, config(handler))

    trace = only(handler)
    assert [(step.kind, step.id) for step in trace.steps] == [("retrieve", "retrieve"), ("filter", "grade")]
    assert prompt(trace) == ["rayleigh", "ocean"]


@pytest.mark.parametrize("is_async", [False, True])
def test_questions_that_are_sent_out_are_a_step_each(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, nodes: Mapping[str, Node], is_async: bool
) -> None:
    made: Any = StateGraph(Added)
    made.add_node("plan", lambda _: {})
    made.add_node("search", lambda sent: {"documents": store.similarity_search(sent["query"], k=1)})
    made.add_node("generate", nodes["generate"])
    made.add_edge(START, "plan")
    made.add_conditional_edges("plan", lambda _: [Send("search", {"query": each}) for each in (SKY, HEAT)], ["search"])
    made.add_edge("search", "generate")
    fanned = made.compile()

    asked: Added = {"question": SKY}
    asyncio.run(fanned.ainvoke(asked, config(handler))) if is_async else fanned.invoke(asked, config(handler))

    trace = only(handler)
    assert {step.query: [each.id for each in step.passages] for step in trace.steps} == {SKY: ["rayleigh"], HEAT: ["heat"]}
    assert prompt(trace) == ["rayleigh", "heat"]


@pytest.mark.parametrize("second", [HEAT, SKY])
def test_a_second_turn_has_none_of_what_the_first_found(
    handler: RagCoverCallbackHandler, nodes: Mapping[str, Node], second: str
) -> None:
    row = graph(some(nodes, "retrieve", "grade", "generate"), checkpointer=InMemorySaver())

    for question in (SKY, second):
        row.invoke({"question": question}, turn(handler))

    first, after = told(handler)
    assert steps(first)[0] == ("retrieve", "retrieve", ["rayleigh", "ocean", "sunset"])
    found = ["rayleigh", "ocean", "sunset"] if second == SKY else ["heat", "insulation", "jaws"]
    assert steps(after) == [("retrieve", "retrieve", found), ("filter", "grade", found[:2])]
    assert (prompt(after), after.question.text) == (found[:2], second)


def test_what_is_cleared_of_an_earlier_turn_is_no_step(handler: RagCoverCallbackHandler, nodes: Mapping[str, Node]) -> None:
    clearing = some(nodes, "clear", "retrieve", "generate", clear=lambda _: {"documents": []})
    row = graph(clearing, checkpointer=InMemorySaver())

    for question in (SKY, HEAT):
        row.invoke({"question": question}, turn(handler))

    assert steps(told(handler)[1]) == [("retrieve", "retrieve", ["heat", "insulation", "jaws"])]


def test_what_is_remembered_and_read_again_is_in_the_prompt_and_no_step(
    handler: RagCoverCallbackHandler, nodes: Mapping[str, Node]
) -> None:
    row = graph(some(nodes, "think", "retrieve", "generate", think=lambda _: {}), Added, checkpointer=InMemorySaver())

    for question in (SKY, HEAT):
        row.invoke({"question": question}, turn(handler))

    _, after = told(handler)
    assert steps(after) == [("retrieve", "retrieve", ["heat", "insulation", "jaws"])]
    assert prompt(after) == ["rayleigh", "ocean", "sunset", "heat", "insulation", "jaws"]


def test_turns_of_a_conversation_are_told_by_their_last_message(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    def generate(state: Conversation) -> dict[str, Any]:
        return {"messages": [model.invoke([SystemMessage(joined(state["documents"])), *state["messages"]])]}

    retrieve: Node = lambda state: {"documents": store.similarity_search(state["messages"][-1].text, k=1)}  # noqa: E731
    row = graph({"retrieve": retrieve, "generate": generate}, Conversation, checkpointer=InMemorySaver())

    for question in (SKY, HEAT):
        row.invoke({"messages": [("user", question)]}, turn(handler))

    first, second = told(handler)
    assert [trace.question.text for trace in (first, second)] == [SKY, HEAT]
    assert [steps(trace) for trace in (first, second)] == [
        [("retrieve", "retrieve", ["rayleigh"])],
        [("retrieve", "retrieve", ["heat"])],
    ]
    assert [prompt(trace) for trace in (first, second)] == [["rayleigh"], ["heat"]]


@pytest.mark.parametrize("before", [True, False])
def test_a_graph_that_waits_has_no_answer_and_goes_on_with_its_question(
    handler: RagCoverCallbackHandler, nodes: Mapping[str, Node], before: bool
) -> None:
    rewriting = answering(ScriptedChatModel(default="Why is the sky so blue?"))

    def rewrite(state: State) -> State:
        return {"question": rewriting.invoke({"context": "", "question": state["question"]})}

    def ask(_: State) -> State:
        interrupt("Really?")
        return {}

    row = some(nodes, "retrieve", "rewrite", "ask", "generate", rewrite=rewrite, ask=(lambda _: {}) if before else ask)
    waiting = graph(row, checkpointer=InMemorySaver(), interrupt_before=["ask"] if before else [])

    waiting.invoke({"question": SKY}, turn(handler))
    waiting.invoke(None if before else Command(resume="Yes."), turn(handler))

    trace = only(handler)
    assert (trace.question.text, trace.answer, "error" in trace.metadata) == (SKY, ANSWER, False)
    assert ([step.id for step in trace.steps], prompt(trace)) == (["retrieve"], ["rayleigh", "ocean", "sunset"])


def test_where_a_graph_goes_is_no_answer(handler: RagCoverCallbackHandler, nodes: Mapping[str, Node]) -> None:
    made: Any = StateGraph(State)
    for name in ("retrieve", "route", "generate"):
        made.add_node(name, some(nodes, name, route=lambda _: Command(goto="generate"))[name])
    made.add_edge(START, "retrieve")
    made.add_conditional_edges("retrieve", lambda _: "useful", {"useful": "route"})
    made.add_conditional_edges("generate", lambda _: "done", {"done": END})

    made.compile().invoke({"question": SKY}, config(handler))

    trace = only(handler)
    assert (trace.answer, [step.id for step in trace.steps]) == (ANSWER, ["retrieve"])
    assert prompt(trace) == ["rayleigh", "ocean", "sunset"]


def test_a_node_that_fails_raises_and_is_told(handler: RagCoverCallbackHandler, nodes: Mapping[str, Node]) -> None:
    raised = ValueError("the database is down")

    def fail(_: State) -> State:
        raise raised

    with pytest.raises(ValueError, match="the database is down") as caught:
        graph(some(nodes, "retrieve", "web", "generate", web=fail)).invoke({"question": SKY}, config(handler))

    trace = only(handler)
    assert caught.value is raised
    assert (trace.answer, trace.metadata["error"]) == (None, "ValueError: the database is down")
    assert [step.id for step in trace.steps] == ["retrieve"]


@pytest.mark.parametrize("mode", ["values", "updates", "messages"])
def test_a_graph_that_streams_is_recorded_once(handler: RagCoverCallbackHandler, nodes: Mapping[str, Node], mode: str) -> None:
    assert list(graph(some(nodes, "retrieve", "generate")).stream({"question": SKY}, config(handler), stream_mode=mode))

    assert (only(handler).answer, prompt(only(handler))) == (ANSWER, ["rayleigh", "ocean", "sunset"])


def test_a_graph_that_is_left_while_it_streams_has_no_answer(
    handler: RagCoverCallbackHandler, nodes: Mapping[str, Node]
) -> None:
    stream = graph(some(nodes, "retrieve", "grade", "generate")).stream({"question": SKY}, config(handler))
    next(stream)
    stream.close()

    trace = only(handler)
    assert (trace.answer, "error" in trace.metadata, steps(trace)[0][1]) == (None, False, "retrieve")
    assert is_empty(handler)


def test_a_handler_that_a_node_passes_on_goes_on_with_its_question(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, nodes: Mapping[str, Node]
) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 1})
    inner: Runnable[Any, Any] = graph({"retrieve": lambda held: {"documents": retriever.invoke(held["question"])}})

    def search(state: State) -> State:
        found: State = inner.invoke(state, config(handler))
        return {"documents": found["documents"]}

    graph({"search": search, **some(nodes, "generate")}).invoke({"question": SKY}, config(handler))

    trace = only(handler)
    assert steps(trace) == [("retrieve", "VectorStoreRetriever", ["rayleigh"])]
    assert (trace.answer, prompt(trace)) == (ANSWER, ["rayleigh"])


def test_workflows_of_functions_are_recorded(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    from langgraph.func import entrypoint, task

    @task
    def search(question: str) -> list[Document]:
        return store.similarity_search(question, k=2)

    @entrypoint()
    def workflow(question: str) -> str:
        return answering(model).invoke({"context": joined(search(question).result()), "question": question})

    workflow.invoke(SKY, config(handler))

    trace = only(handler)
    assert (steps(trace), trace.answer) == ([("retrieve", "search", ["rayleigh", "ocean"])], ANSWER)
    assert prompt(trace) == ["rayleigh", "ocean"]
