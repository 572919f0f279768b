"""Routers as middleware of agents: which model, which tools and how deep a retrieval, chosen once for each question."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langchain.agents", reason="needs langchain")

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware
from langchain.tools import ToolRuntime
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, tool
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver

from rag_cover.errors import InvalidValueError
from rag_cover_langchain.middleware import ComplexityRoutingMiddleware, SkillRoutingMiddleware
from rag_cover_langchain.route_events import EVENT
from rag_cover_langchain.tags import PROBE
from tests.gates import Gate
from tests.langchain.parts import ScriptedAgentModel, ScriptedChatModel
from tests.langchain.skilled import TopicEmbeddings, skilled, skills
from tests.langchain.trees import RunTree

COST = "How much does a heat pump cost?"
MAYOR = "Who is the mayor of Lisbon?"


class WatchedAgentModel(ScriptedAgentModel):
    """Remembers which tools it was shown."""

    shown: list[list[str]] = []

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        self.shown.append([each.name for each in tools])
        return self


def small(*tools: str) -> WatchedAgentModel:
    return WatchedAgentModel(tools=tools, answer="small", shown=[])


def large(*tools: str) -> WatchedAgentModel:
    return WatchedAgentModel(tools=tools, answer="large", shown=[])


def search_tool(asked: list[int]) -> BaseTool:
    @tool
    def search(query: str, k: int = 4) -> str:
        """Search the corpus for k passages."""
        asked.append(k)
        return query

    return search


@tool
def calculate(query: str) -> str:
    """Calculate."""
    return query


def said(agent: Any, question: str, **config: Any) -> str:
    state = agent.invoke({"messages": [HumanMessage(question)]}, {"configurable": {"thread_id": "one"}, **config})
    answer = state["messages"][-1].text
    assert isinstance(answer, str)
    return answer


def said_later(agent: Any, question: str, **config: Any) -> str:
    state = asyncio.run(
        agent.ainvoke({"messages": [HumanMessage(question)]}, {"configurable": {"thread_id": "later"}, **config})
    )
    answer = state["messages"][-1].text
    assert isinstance(answer, str)
    return answer


def test_a_question_is_answered_by_the_model_of_its_demand(store: InMemoryVectorStore) -> None:
    routing = ComplexityRoutingMiddleware(store, models={"direct": small()})
    agent = create_agent(large(), [], middleware=[routing])

    assert [said(agent, COST), said(agent, MAYOR)] == ["small", "large"]
    assert [said_later(agent, COST), said_later(agent, MAYOR)] == ["small", "large"]


def test_the_model_is_shown_the_tools_of_the_demand_alone(store: InMemoryVectorStore) -> None:
    search, model = search_tool([]), large()
    routing = ComplexityRoutingMiddleware(store, tools={"direct": [search], "complex": ["calculate", "search"]})
    agent = create_agent(model, [calculate], middleware=[routing])

    said(agent, COST)
    said_later(agent, MAYOR)

    assert [sorted(names) for names in model.shown] == [["search"], ["calculate", "search"]]


def test_tools_that_take_a_depth_are_called_with_that_of_the_demand(store: InMemoryVectorStore) -> None:
    asked: list[int] = []
    routing = ComplexityRoutingMiddleware(store, depths={"direct": 2, "complex": 20})
    agent = create_agent(large("search", "calculate"), [search_tool(asked), calculate], middleware=[routing])

    said(agent, COST)
    said_later(agent, MAYOR)

    assert asked == [2, 20]


def test_without_a_depth_tools_are_called_as_the_model_asked(store: InMemoryVectorStore) -> None:
    asked: list[int] = []
    routing = ComplexityRoutingMiddleware(store, depths={"complex": 20})

    said(create_agent(large("search"), [search_tool(asked)], middleware=[routing]), COST)

    assert asked == [4]


def test_a_tool_can_read_the_depth_in_the_state(store: InMemoryVectorStore) -> None:
    read: list[int] = []

    @tool
    def look(query: str, runtime: ToolRuntime) -> str:
        """Look it up."""
        read.append(runtime.state["rag_cover_complexity"]["depth"])
        return query

    routing = ComplexityRoutingMiddleware(store, depths={"direct": 2})

    said(create_agent(large("look"), [look], middleware=[routing]), COST)

    assert read == [2]


def test_it_is_decided_once_for_a_question_and_anew_for_the_next(store: InMemoryVectorStore) -> None:
    probed: list[str] = []

    def find(query: str) -> list[Document]:
        probed.append(query)
        return store.similarity_search(query)

    routing = ComplexityRoutingMiddleware(RunnableLambda(find), models={"direct": small("search", "search")})
    agent = create_agent(large(), [search_tool([])], middleware=[routing], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}

    answers = [said(agent, COST), said(agent, MAYOR), said(agent, COST)]
    first = agent.get_state(config).values["rag_cover_complexity"]
    agent.invoke({"messages": []}, config)  # nobody asked anything new

    assert answers == ["small", "large", "small"]
    assert probed == [COST, MAYOR, COST]
    assert first["route"] == "direct"
    assert agent.get_state(config).values["rag_cover_complexity"] == first


def test_the_decision_shows_in_state_updates_and_events_and_not_in_the_answer(store: InMemoryVectorStore) -> None:
    routing = ComplexityRoutingMiddleware(store, models={"direct": small()}, depths={"direct": 2})
    agent = create_agent(large(), [], middleware=[routing])
    asked: Any = {"messages": [HumanMessage(COST)]}
    tree, later = RunTree(), RunTree()

    updates = list(agent.stream(asked, {"callbacks": [tree]}, stream_mode="updates"))
    answer = asyncio.run(agent.ainvoke(asked, {"callbacks": [later]}))

    told = updates[0]["ComplexityRoutingMiddleware.before_agent"]["rag_cover_complexity"]
    assert (told["route"], told["depth"]) == ("direct", 2)
    assert "one step, which the passages answer" in told["reason"]
    assert answer.keys() == {"messages"}
    for runs in (tree, later):
        ((name, within, data),) = runs.events
        assert (name, within, data["route"]) == (EVENT, "ComplexityRoutingMiddleware.before_agent", "direct")
        assert runs.of("VectorStoreRetriever") == ["ComplexityRoutingMiddleware.before_agent"]
        assert PROBE in runs.tags("VectorStoreRetriever")[0]


def dead() -> Runnable[str, list[Document]]:
    def find(_: str) -> list[Document]:
        message = "connection refused"
        raise ConnectionError(message)

    return RunnableLambda(find)


def test_where_the_router_fails_the_default_is_taken_and_that_is_told() -> None:
    tree = RunTree()
    routing = ComplexityRoutingMiddleware(dead(), models={"direct": small()}, default="direct")
    agent = create_agent(large(), [], middleware=[routing])

    assert said(agent, COST, callbacks=[tree]) == "small"
    assert tree.events[0][2]["error"] == "ConnectionError: connection refused"


def test_where_the_router_fails_and_there_is_no_default_the_agent_goes_on_with_its_own_model(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = create_agent(large(), [], middleware=[ComplexityRoutingMiddleware(dead(), models={"direct": small()})])

    assert [said(agent, COST), said_later(agent, COST)] == ["large", "large"]
    warning = "ComplexityRoutingMiddleware decided nothing: ConnectionError: connection refused"
    assert [each.getMessage() for each in caplog.records if each.levelname == "WARNING"] == [warning, warning]


@pytest.mark.parametrize("default", [None, "complex"])
@pytest.mark.parametrize("message", [AIMessage("Hello."), HumanMessage("  "), HumanMessage("")])
def test_where_nobody_asked_the_agent_goes_on(store: InMemoryVectorStore, message: Any, default: Any) -> None:
    routing = ComplexityRoutingMiddleware(store, models={"direct": small()}, default=default)

    asked: Any = {"messages": [message]}
    answer = create_agent(ScriptedChatModel(default="Hm."), [], middleware=[routing]).invoke(asked)

    assert answer["messages"][-1].text == "Hm."


def test_what_was_decided_for_an_earlier_message_does_not_hold_where_the_router_fails(store: InMemoryVectorStore) -> None:
    routing = ComplexityRoutingMiddleware(store, models={"direct": small()})
    agent: Runnable[Any, Any] = create_agent(large(), [], middleware=[routing], checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}

    answers = [agent.invoke({"messages": [("user", text)]}, thread) for text in (COST, " ")]

    assert [answer["messages"][-1].text for answer in answers] == ["small", "large"]


def test_a_tool_that_the_agent_does_not_have_is_named_with_the_nearest(store: InMemoryVectorStore) -> None:
    routing = ComplexityRoutingMiddleware(store, tools={"direct": ["serch"]})

    with pytest.raises(InvalidValueError, match="the agent has no tool 'serch'. Did you mean 'search'.* It has: search"):
        said(create_agent(large(), [search_tool([])], middleware=[routing]), COST)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "there is nothing to choose; give models="),
        ({"models": {"direkt": small()}}, "Did you mean 'direct'"),
        ({"depths": {"direct": 0}}, "the depth of 'direct' is 0; give a whole number of at least 1"),
        ({"depths": {"direct": 2}, "default": "unanswerable"}, "no route is called 'unanswerable'"),
        ({"tools": {"direct": "search"}}, "the tools of a route are 'str'; give a list of names or tools"),
        ({"models": {"direct": 5}}, "'int' is no model for an agent; give a chat model, or what init_chat_model takes"),
        ({"models": {"direct": ScriptedAgentModel}}, "the class 'ScriptedAgentModel' itself is no model for an agent"),
        ({"depths": {"direct": 2}, "k": 0}, "k is 0; give a whole number of at least 1"),
        ({"depths": {"direct": 2}, "judge": object()}, "'object' cannot serve as judge"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(
    store: InMemoryVectorStore, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidValueError, match=message):
        ComplexityRoutingMiddleware(store, **settings)


@pytest.mark.parametrize("demand", ["direct", "complex", "unanswerable"])
def test_what_is_unanswerable_goes_the_complex_way_unless_it_has_means_of_its_own(demand: Any) -> None:
    nothing: Runnable[str, list[Document]] = RunnableLambda(lambda _: [Document("Rain.")])
    routing = ComplexityRoutingMiddleware(nothing, models={demand: small()})

    answer = said(create_agent(large(), [], middleware=[routing]), MAYOR)

    assert answer == ("large" if demand == "direct" else "small")


def test_a_decision_does_not_block_the_loop(store: InMemoryVectorStore) -> None:
    gate = Gate()

    def find(query: str) -> list[Document]:
        gate.wait()
        return store.similarity_search(query)

    routing = ComplexityRoutingMiddleware(RunnableLambda(find), models={"direct": small()})
    agent = create_agent(large(), [], middleware=[routing])

    state = gate.run(agent.ainvoke({"messages": [HumanMessage(COST)]}))

    assert state["messages"][-1].text == "small"


def test_a_question_is_answered_by_the_model_that_is_likeliest_to_succeed() -> None:
    routing = SkillRoutingMiddleware(skilled(), models={"plain": small(), "split": large()})
    agent = create_agent(ScriptedAgentModel(tools=(), answer="neither"), [], middleware=[routing])

    assert [said(agent, "Why is the sky blue?"), said(agent, COST)] == ["small", "large"]
    assert [said_later(agent, "Why is the sky blue?"), said_later(agent, COST)] == ["small", "large"]


def test_skills_are_read_where_they_were_kept(tmp_path: Any) -> None:
    skills().save(tmp_path / "skills")
    means: Any = {"models": {"plain": small()}, "depths": {"split": 7}}

    routing = SkillRoutingMiddleware(tmp_path / "skills", embedder=TopicEmbeddings(), **means)
    cheap = SkillRoutingMiddleware(
        tmp_path / "skills", embedder=TopicEmbeddings(), costs={"plain": 1.0, "split": 5.0}, target=0.1, **means
    )

    assert said(create_agent(large(), [], middleware=[routing]), COST) == "large"
    assert said(create_agent(large(), [], middleware=[cheap]), COST) == "small"


def test_an_agent_of_the_skills_without_means_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="no model is named for the agent 'split', which may be chosen"):
        SkillRoutingMiddleware(skilled(), models={"plain": small()})
    with pytest.raises(InvalidValueError, match="no depth is named for the agent 'split', .*; depths has: plain"):
        SkillRoutingMiddleware(skilled(), depths={"plain": 5})
    with pytest.raises(InvalidValueError, match="a router has its own settings; make it with target="):
        SkillRoutingMiddleware(skilled(), models={"plain": small(), "split": large()}, target=0.5)


def test_both_work_side_by_side_and_with_others(store: InMemoryVectorStore) -> None:
    asked: list[int] = []
    by_skill = SkillRoutingMiddleware(skilled(), models={"plain": small("search"), "split": large("search")})
    by_complexity = ComplexityRoutingMiddleware(store, depths={"direct": 2, "complex": 20})
    limit: Any = ModelCallLimitMiddleware(run_limit=5)
    agent = create_agent(large(), [search_tool(asked)], middleware=[by_skill, limit, by_complexity])

    assert [said(agent, "Why is the sky blue?"), said_later(agent, MAYOR)] == ["small", "large"]
    assert asked == [2, 20]


@pytest.mark.slow
@pytest.mark.parametrize("package", ["langchain", "langgraph"])
def test_where_langchain_itself_is_absent_it_says_what_to_install(package: str) -> None:
    absent = f"import sys; sys.modules[{package!r}] = None"
    code = [absent, "import rag_cover_langchain.routers", "import rag_cover_langchain.middleware"]

    done = subprocess.run([sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        f"Middleware needs the package {package!r}, which is not installed: pip install langchain"
    )


@pytest.mark.parametrize("is_absent", [False, True])
@pytest.mark.slow
def test_all_names_are_imported_with_langchain_and_without_it(is_absent: bool) -> None:
    absent = "import sys; sys.modules['langchain'] = None" if is_absent else ""
    code = [absent, "from rag_cover_langchain import *", "print('SkillRoutingMiddleware' in globals())"]

    done = subprocess.run([sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, check=False)

    assert (done.stdout.strip(), done.returncode) == (str(not is_absent), 0)
