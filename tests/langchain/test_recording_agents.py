"""Agents are recorded: what their tools searched for and brought, and what the model made of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langchain.agents", reason="needs langchain: pip install langchain")

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain.tools import InjectedToolCallId
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool, create_retriever_tool, tool
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from tests.langchain.parts import ScriptedAgentModel
from tests.langchain.recordings import HEAT, SKY, config, find, is_empty, joined, only, prompt, rag, steps, told

LOOKED_UP = "I looked it up."


@pytest.fixture
def search(store: InMemoryVectorStore) -> BaseTool:
    """A tool that searches by itself, and returns its documents beside its text."""

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Find passages."""
        found = find(store, 2)(query)
        return joined(found), found

    return search


@tool
def lookup(query: str) -> str:
    """Look something up."""
    return f"Blue light scatters, says the lookup of {query}"


@tool
def broken(query: str) -> str:
    """Fail."""
    message = f"the database is down: {query}"
    raise ValueError(message)


class AtOnce(ScriptedAgentModel):
    """Calls all its tools at once."""

    def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
        asked = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
        if any(isinstance(message, ToolMessage) for message in messages[asked:]):
            return AIMessage(self.answer)
        calls = [
            {"name": name, "args": {self.argument: f"{name}?"}, "id": f"call-{number}"}
            for number, name in enumerate(self.tools)
        ]
        return AIMessage("Let me look that up.", tool_calls=calls)


class Reply(BaseModel):
    """An answer, and how sure it is."""

    answer: str
    confidence: str


@dataclass
class Certain:
    """The same, as a dataclass."""

    answer: str
    confidence: str


REPLY = {"answer": LOOKED_UP, "confidence": "high"}
SCHEMA = {"title": "Reply", "type": "object", "properties": {name: {"type": "string"} for name in REPLY}}


class Structured(ScriptedAgentModel):
    """Answers with data: by a tool that is called for it, or written out."""

    by: str | None = None
    reply: dict[str, str] = REPLY

    def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
        said = super()._next(messages)
        if said.tool_calls:
            return said
        if self.by is None:
            return AIMessage(json.dumps(self.reply))
        return AIMessage("", tool_calls=[{"name": self.by, "args": self.reply, "id": "call-reply"}])


def agent(*tools: BaseTool, at_once: bool = False, **given: Any) -> Runnable[Any, Any]:
    model = (AtOnce if at_once else ScriptedAgentModel)(tools=tuple(each.name for each in tools))
    return create_agent(model, list(tools), **given)


def asking(question: str = SKY) -> dict[str, Any]:
    return {"messages": [("user", question)]}


def turn(handler: RagCoverCallbackHandler, thread: str = "1") -> RunnableConfig:
    return config(handler, configurable={"thread_id": thread})


@pytest.mark.parametrize("is_async", [False, True])
def test_a_tool_that_brings_documents_is_a_step(handler: RagCoverCallbackHandler, search: BaseTool, is_async: bool) -> None:
    asked = agent(search)

    asyncio.run(asked.ainvoke(asking(), config(handler))) if is_async else asked.invoke(asking(), config(handler))

    trace = only(handler)
    assert (trace.question.text, trace.answer) == (SKY, LOOKED_UP)
    assert steps(trace) == [("tool", "search", ["rayleigh", "ocean"])]
    assert prompt(trace) == ["rayleigh", "ocean"]


def test_a_tool_that_brings_a_text_is_a_step(handler: RagCoverCallbackHandler) -> None:
    agent(lookup).invoke(asking(), config(handler))

    (step,) = only(handler).steps
    assert (step.kind, step.query, [each.text for each in step.passages]) == (
        "tool",
        SKY,
        [f"Blue light scatters, says the lookup of {SKY}"],
    )


def test_a_tool_around_a_retriever_is_what_that_found(handler: RagCoverCallbackHandler, store: InMemoryVectorStore) -> None:
    found = create_retriever_tool(store.as_retriever(search_kwargs={"k": 2}), "passages", "Finds passages.")

    agent(found).invoke(asking(), config(handler))

    trace = only(handler)
    assert steps(trace) == [("retrieve", "VectorStoreRetriever", ["rayleigh", "ocean"])]
    assert prompt(trace) == ["rayleigh", "ocean"]


@pytest.mark.parametrize("with_artifact", [False, True])
def test_a_tool_that_returns_a_command_is_a_step(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, with_artifact: bool
) -> None:
    @tool
    def commanding(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Find passages."""
        found = find(store, 2)(query)
        artifact = found if with_artifact else None
        return Command(update={"messages": [ToolMessage(joined(found), tool_call_id=tool_call_id, artifact=artifact)]})

    agent(commanding).invoke(asking(), config(handler))

    trace = only(handler)
    assert [(step.kind, step.id) for step in trace.steps] == [("tool", "commanding")]
    assert prompt(trace) == (["rayleigh", "ocean"] if with_artifact else ["commanding"])


@pytest.mark.parametrize("is_passed_on", [False, True])
def test_a_tool_that_asks_another_chain_is_part_of_the_same_question(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: Any, is_passed_on: bool
) -> None:
    chain = rag(store.as_retriever(search_kwargs={"k": 1}), model)

    @tool
    def expert(query: str) -> str:
        """Ask an expert."""
        return chain.invoke(HEAT, config(handler) if is_passed_on else None) + query

    agent(expert).invoke(asking(), config(handler))

    trace = only(handler)
    assert (trace.question.text, trace.answer) == (SKY, LOOKED_UP)
    assert [(step.id, step.query) for step in trace.steps] == [("VectorStoreRetriever", HEAT)]


def test_tools_at_once_are_a_step_each(handler: RagCoverCallbackHandler, search: BaseTool) -> None:
    agent(search, lookup, at_once=True).invoke(asking(), config(handler))

    trace = only(handler)
    assert {step.id: step.query for step in trace.steps} == {"search": "search?", "lookup": "lookup?"}
    assert trace.answer == LOOKED_UP


def test_a_tool_that_fails_raises_and_is_told(handler: RagCoverCallbackHandler) -> None:
    with pytest.raises(ValueError, match="the database is down"):
        agent(broken).invoke(asking(), config(handler))

    trace = only(handler)
    said = f"ValueError: the database is down: {SKY}"
    assert (trace.answer, trace.metadata["error"]) == (None, said)
    assert [(step.id, step.error) for step in trace.steps] == [("broken", said)]


def test_a_tool_that_fails_and_is_excused_stays_as_a_step_with_its_error(
    handler: RagCoverCallbackHandler, search: BaseTool
) -> None:
    @wrap_tool_call
    def excused(request: Any, call: Callable[[Any], Any]) -> Any:
        try:
            return call(request)
        except ValueError as error:
            return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")

    agent(broken, search, middleware=[excused]).invoke(asking(), config(handler))

    trace = only(handler)
    assert [(step.id, step.error is None) for step in trace.steps] == [("broken", False), ("search", True)]
    assert ("error" in trace.metadata, prompt(trace)) == (False, ["rayleigh", "ocean"])


@pytest.mark.parametrize("with_tools", [True, False])
def test_a_second_turn_has_none_of_the_firsts_steps(
    handler: RagCoverCallbackHandler, search: BaseTool, with_tools: bool
) -> None:
    class Maybe(ScriptedAgentModel):
        def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
            return AIMessage("You are welcome.") if messages[-1].text == "Thanks." else super()._next(messages)

    asked: Runnable[Any, Any] = create_agent(Maybe(tools=("search",)), [search], checkpointer=InMemorySaver())

    for question in (SKY, HEAT if with_tools else "Thanks."):
        asked.invoke(asking(question), turn(handler))

    first, second = told(handler)
    assert (steps(first), prompt(first)) == ([("tool", "search", ["rayleigh", "ocean"])], ["rayleigh", "ocean"])
    assert steps(second) == ([("tool", "search", ["heat", "insulation"])] if with_tools else [])
    assert second.answer == (LOOKED_UP if with_tools else "You are welcome.")
    assert prompt(second) == (["heat", "insulation"] if with_tools else None)


@pytest.mark.parametrize("mode", ["updates", "values", "messages"])
def test_an_agent_that_streams_is_recorded_once(handler: RagCoverCallbackHandler, search: BaseTool, mode: Any) -> None:
    assert list(agent(search, lookup).stream(asking(), config(handler), stream_mode=mode))

    trace = only(handler)
    assert [step.id for step in trace.steps] == ["search", "lookup"]
    assert trace.answer == LOOKED_UP


def test_an_agent_that_is_left_while_it_streams_has_no_answer(handler: RagCoverCallbackHandler, search: BaseTool) -> None:
    updates = agent(search, lookup).stream(asking(), config(handler), stream_mode="updates")
    next(updates)
    next(updates)

    agent(lookup).invoke(asking(HEAT), config(handler))
    updates.close()  # type: ignore[attr-defined]  # it is a generator

    between, left = told(handler)
    assert (between.question.text, between.answer) == (HEAT, LOOKED_UP)
    assert (left.question.text, left.answer, [step.id for step in left.steps]) == (SKY, None, ["search"])
    assert "error" not in left.metadata
    assert is_empty(handler)


def test_an_agent_that_a_coroutine_leaves_has_no_answer(handler: RagCoverCallbackHandler, search: BaseTool) -> None:
    async def read() -> None:
        async for _ in agent(search).astream(asking(), config(handler), stream_mode="updates"):
            break

    asyncio.run(read())

    assert only(handler).answer is None


@pytest.mark.parametrize("is_second", [False, True])
def test_an_agent_that_waits_for_somebody_did_not_fail_and_goes_on_with_its_question(
    handler: RagCoverCallbackHandler, search: BaseTool, is_second: bool
) -> None:
    @tool
    def approval(query: str) -> str:
        """Ask somebody."""
        return str(interrupt(query))

    saver = InMemorySaver()
    asked = agent(search, approval, at_once=True, checkpointer=saver)
    if is_second:
        agent(checkpointer=saver).invoke(asking(HEAT), {"configurable": {"thread_id": "1"}})

    asked.invoke(asking(), turn(handler))
    (waiting,) = handler.gathering.under_way
    assert (waiting.root.query, waiting.root.answer, waiting.root.error) == (SKY, None, None)
    asked.invoke(Command(resume="Yes."), turn(handler))

    trace = only(handler)
    assert (trace.question.text, trace.answer, "error" in trace.metadata) == (SKY, LOOKED_UP, False)
    assert [(step.id, step.error) for step in trace.steps if step.id == "search"] == [("search", None)]


def test_what_a_model_says_while_it_calls_tools_is_no_part_of_an_answer(handler: RagCoverCallbackHandler) -> None:
    with pytest.raises(ValueError, match="the database is down"):
        agent(broken, at_once=True).invoke(asking(), config(handler))

    assert "unfinished_answer" not in only(handler).metadata


def answering_with(model: Structured, saver: InMemorySaver) -> Runnable[Any, Any]:
    return create_agent(model, [lookup], response_format=ToolStrategy(Reply), checkpointer=saver)


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize(
    ("response_format", "by"),
    [
        (ToolStrategy(Reply), "Reply"),
        (ToolStrategy(Certain), "Certain"),
        (ToolStrategy(SCHEMA), "Reply"),
        (ProviderStrategy(Reply), None),
        (ProviderStrategy(SCHEMA), None),
    ],
)
def test_a_structured_answer_is_read(
    handler: RagCoverCallbackHandler, response_format: Any, by: str | None, is_streamed: bool
) -> None:
    asked: Runnable[Any, Any] = create_agent(Structured(tools=("lookup",), by=by), [lookup], response_format=response_format)

    list(asked.stream(asking(), config(handler))) if is_streamed else asked.invoke(asking(), config(handler))

    trace = only(handler)
    assert (trace.answer, [step.id for step in trace.steps]) == (LOOKED_UP, ["lookup"])


def test_a_structured_answer_is_that_of_its_turn(handler: RagCoverCallbackHandler) -> None:
    saver = InMemorySaver()
    much = REPLY | {"answer": "It costs much."}
    first, second = (Structured(tools=("lookup",), by="Reply", reply=reply) for reply in (REPLY, much))

    answering_with(first, saver).invoke(asking(), turn(handler))
    answering_with(second, saver).invoke(asking(HEAT), turn(handler))

    assert [trace.answer for trace in told(handler)] == [LOOKED_UP, "It costs much."]
