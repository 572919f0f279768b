"""Agents of LangChain in their documented shapes: each recording tells what truly happened."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langchain.agents", reason="needs langchain: pip install langchain")

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, ModelRequest, dynamic_prompt, wrap_tool_call
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from rag_cover.coverage import Loss
from tests.langchain.parts import ScriptedAgentModel
from tests.langchain.recordings import HEAT, SKY, joined
from tests.langchain.scenarios import BAD, GOOD, HOT, Parts, Row, Seen, differences, scenario

ROWS: list[Row] = []
row = partial(scenario, ROWS)

FOUND = "tool search: rayleigh ocean"


class Agent(ScriptedAgentModel):
    """Calls its tools, one for each turn, then answers from what they said; small talk needs none."""

    def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
        asked = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
        if messages[asked].text.startswith("Thanks"):
            return AIMessage("You are welcome.")
        made = super()._next(messages)
        if made.tool_calls or self.answer != "I looked it up.":
            return made
        said = " ".join(message.text for message in messages[asked:])
        return AIMessage(HOT if "12,000" in said else GOOD if "scatter blue" in said else BAD)


class Structured(Agent):
    """Answers with data: by a tool that is called for it, or written out."""

    by: str | None = None

    def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
        made = super()._next(messages)
        if made.tool_calls:
            return made
        reply = {"answer": made.text, "sources": "rayleigh"}
        calls = [] if self.by is None else [{"name": self.by, "args": reply, "id": "call-reply"}]
        return AIMessage("" if calls else json.dumps(reply), tool_calls=calls)


class Condensing(Agent):
    """Asks its tool the question that a follow-up means."""

    def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
        made = super()._next(messages)
        calls = [
            call | {"args": {"query": HEAT}} if call["args"]["query"].startswith("And") else call for call in made.tool_calls
        ]
        return AIMessage(made.text, tool_calls=calls)


class Reply(BaseModel):
    """An answer with its sources."""

    answer: str
    sources: str


def search_tool(parts: Parts) -> BaseTool:
    """Make the documentation's tool, which searches the vector store itself."""

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Retrieve information to help answer a query."""
        found = parts.store.similarity_search(query, k=2)
        return joined(found), found

    return search


def ask(agent: Any, parts: Parts, question: str = SKY, **further: Any) -> object:
    return agent.invoke({"messages": [("user", question)]}, parts.config(**further))


@row(Seen((FOUND,), "rayleigh ocean"))
def an_agent_with_a_tool_that_searches(parts: Parts) -> object:
    return ask(create_agent(Agent(tools=("search",)), [search_tool(parts)]), parts)


@row(Seen((FOUND,), "rayleigh ocean"))
def the_same_awaited(parts: Parts) -> object:
    agent: Any = create_agent(Agent(tools=("search",)), [search_tool(parts)])
    return asyncio.run(agent.ainvoke({"messages": [("user", SKY)]}, parts.config()))


@row(Seen((FOUND,), "rayleigh ocean"))
def the_same_streamed(parts: Parts) -> object:
    agent: Any = create_agent(Agent(tools=("search",)), [search_tool(parts)])
    return list(agent.stream({"messages": [("user", SKY)]}, parts.config(), stream_mode="values"))


@row(Seen((FOUND,), "rayleigh ocean", BAD, Loss.UNUSED))
def an_agent_that_ignores_what_its_tool_said(parts: Parts) -> object:
    return ask(create_agent(Agent(tools=("search",), answer=BAD), [search_tool(parts)]), parts)


@row(Seen(("retrieve VectorStoreRetriever: rayleigh ocean",), "rayleigh ocean"))
def a_retriever_as_a_tool(parts: Parts) -> object:
    found = create_retriever_tool(parts.retriever(), "passages", "Finds passages.")
    return ask(create_agent(Agent(tools=("passages",)), [found]), parts)


@row(Seen(("tool lookup: Air-molecules-scatter",), "Air-molecules-scatter"))
def a_tool_that_returns_a_text(parts: Parts) -> object:
    @tool
    def lookup(query: str) -> str:
        """Look something up."""
        return f"Air molecules scatter blue light, it says of: {query}"

    return ask(create_agent(Agent(tools=("lookup",)), [lookup]), parts)


@row(Seen((FOUND, "tool weather: Rain-at-noon."), "rayleigh ocean Rain-at-noon."))
def two_tools_one_after_the_other(parts: Parts) -> object:
    @tool
    def weather(query: str) -> str:
        """Tell the weather."""
        return "Rain at noon." if query else ""

    return ask(create_agent(Agent(tools=("search", "weather")), [search_tool(parts), weather]), parts)


@row(Seen((FOUND,), "rayleigh ocean"))
def an_answer_by_a_tool_strategy(parts: Parts) -> object:
    model = Structured(tools=("search",), by="Reply")
    return ask(create_agent(model, [search_tool(parts)], response_format=ToolStrategy(Reply)), parts)


@row(Seen((FOUND,), "rayleigh ocean"))
def an_answer_by_a_provider_strategy(parts: Parts) -> object:
    model = Structured(tools=("search",))
    return ask(create_agent(model, [search_tool(parts)], response_format=ProviderStrategy(Reply)), parts)


@row(Seen(("retrieve model/given: The-sky-is The-ocean-looks",), "The-sky-is The-ocean-looks"))
def two_steps_by_a_dynamic_prompt(parts: Parts) -> object:
    @dynamic_prompt
    def with_context(request: ModelRequest) -> str:
        found = parts.store.similarity_search(request.state["messages"][-1].text, k=2)
        return f"You are a helpful assistant. Use the following context in your response:\n\n{joined(found)}"

    class Reader(Agent):
        def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
            return AIMessage(GOOD if "scatter blue" in messages[0].text else BAD)

    return ask(create_agent(Reader(tools=()), [], middleware=[with_context]), parts)


@row(Seen(("retrieve with_context: rayleigh ocean",), "rayleigh ocean"))
def two_steps_by_a_dynamic_prompt_whose_search_is_told(parts: Parts) -> object:
    @dynamic_prompt
    def with_context(request: ModelRequest) -> str:
        found = parts.store.similarity_search(request.state["messages"][-1].text, k=2)
        parts.handler.retrieval(found, name="with_context")
        return f"Use the following context in your response:\n\n{joined(found)}"

    class Reader(Agent):
        def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
            return AIMessage(GOOD if "scatter blue" in messages[0].text else BAD)

    return ask(create_agent(Reader(tools=()), [], middleware=[with_context]), parts)


class _State(AgentState[Any]):
    context: list[Document]


@row(Seen(("retrieve RetrieveDocuments.before_model: rayleigh ocean",), "rayleigh ocean"))
def two_steps_by_a_middleware_that_keeps_its_documents(parts: Parts) -> object:
    class RetrieveDocuments(AgentMiddleware[_State]):
        state_schema = _State

        def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            last = state["messages"][-1]
            found = parts.store.similarity_search(last.text, k=2)
            asked = f"{last.text}\n\nUse the following context to answer the query:\n{joined(found)}"
            return {"messages": [last.model_copy(update={"content": asked})], "context": found}

    return ask(create_agent(Agent(tools=()), [], middleware=[RetrieveDocuments()]), parts)


@row(only_retrieval=True)
def small_talk_with_an_agent(parts: Parts) -> object:
    return ask(create_agent(Agent(tools=("search",)), [search_tool(parts)]), parts, "Thanks a lot!")


@row(Seen(("tool broken", FOUND), "rayleigh ocean", errors=1))
def a_tool_that_fails_and_is_excused(parts: Parts) -> object:
    @wrap_tool_call
    def excused(request: Any, call: Callable[[Any], Any]) -> Any:
        try:
            return call(request)
        except ValueError as error:
            return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")

    @tool
    def broken(query: str) -> str:
        """Fail."""
        message = f"the database is down: {query}"
        raise ValueError(message)

    return ask(create_agent(Agent(tools=("broken", "search")), [broken, search_tool(parts)], middleware=[excused]), parts)


@row(
    Seen((FOUND,), "rayleigh ocean", thread="t1"),
    Seen(("tool search: heat insulation",), "heat insulation", HOT, question=HEAT, thread="t1"),
)
def two_turns_of_a_conversation(parts: Parts) -> object:
    agent = create_agent(Agent(tools=("search",)), [search_tool(parts)], checkpointer=InMemorySaver())
    return [ask(agent, parts, question, configurable={"thread_id": "t1"}) for question in (SKY, HEAT)]


@row(
    Seen((FOUND,), "rayleigh ocean", thread="t1"),
    Seen(
        ("tool search: heat insulation",), "heat insulation", HOT, question=HEAT, asked="And the cost of heating?", thread="t1"
    ),
)
def a_follow_up_whose_tool_is_asked_the_whole_question(parts: Parts) -> object:
    agent = create_agent(Condensing(tools=("search",)), [search_tool(parts)], checkpointer=InMemorySaver())
    asked = (SKY, "And the cost of heating?")
    return [ask(agent, parts, question, configurable={"thread_id": "t1"}) for question in asked]


@row(Seen((FOUND,), "rayleigh ocean", thread="t1"), only_retrieval=True)
def small_talk_after_a_question(parts: Parts) -> object:
    agent = create_agent(Agent(tools=("search",)), [search_tool(parts)], checkpointer=InMemorySaver())
    return [ask(agent, parts, question, configurable={"thread_id": "t1"}) for question in (SKY, "Thanks!")]


@row(Seen((FOUND,), "rayleigh ocean"))
def an_agent_that_is_asked_by_another_ones_tool(parts: Parts) -> object:
    expert: Any = create_agent(Agent(tools=("search",)), [search_tool(parts)], name="expert")

    @tool
    def ask_expert(query: str) -> str:
        """Ask the expert."""
        return str(expert.invoke({"messages": [("user", query)]})["messages"][-1].text)

    return ask(create_agent(Agent(tools=("ask_expert",)), [ask_expert], name="supervisor"), parts)


@row(Seen((FOUND,), "rayleigh ocean", thread="t1"))
def a_search_that_somebody_approves(parts: Parts) -> object:
    approval = HumanInTheLoopMiddleware(interrupt_on={"search": True})
    agent: Any = create_agent(
        Agent(tools=("search",)), [search_tool(parts)], middleware=[approval], checkpointer=InMemorySaver()
    )
    ask(agent, parts, configurable={"thread_id": "t1"})
    yes: Command[Any] = Command(resume={"decisions": [{"type": "approve"}]})
    return agent.invoke(yes, parts.config(configurable={"thread_id": "t1"}))


@pytest.mark.parametrize("row", ROWS, ids=lambda each: each.run.__name__)
def test_what_happened_is_told(row: Row) -> None:
    found = differences(row)

    assert not found, "\n".join(found)
