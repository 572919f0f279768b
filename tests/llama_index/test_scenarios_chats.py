"""Chat engines, agents and workflows, each with what its recording says."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import Settings, get_response_synthesizer
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.schema import BaseNode, NodeWithScore, TextNode
from llama_index.core.tools import BaseTool, FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.vector_stores import VectorStoreQuery, VectorStoreQueryResult
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from pydantic import BaseModel, PrivateAttr

from rag_cover.coverage import Loss
from rag_cover_llama_index.attachment import attach
from tests.corpus import word_vector
from tests.llama_index.parts import ScriptedAgentLLM, ScriptedLLM, corpus_nodes
from tests.llama_index.recordings import ANSWER, SKY
from tests.llama_index.scenarios import BOTH, LOST, SEARCH, UNKNOWN, Outcome, Parts, Scenario, Table, check
from tests.llama_index.test_scenarios_engines import DropFirst

pytestmark = [
    pytest.mark.filterwarnings(f"ignore{each}")
    for each in (
        *("::DeprecationWarning", ":Skipping serialization:Warning"),  # of pydantic, by workflows; of workflows
        *("::ResourceWarning", "::pytest.PytestUnraisableExceptionWarning"),  # the memory of chats leaves its database open
    )
]

TABLE = Table()

# chat engines ------------------------------------------------------------------------------------

FOLLOW_UP = "And why is that?"
CONDENSE = ("Follow Up", "follow up question", "Follow Up Message")


class Condensing(ScriptedLLM):
    """Condenses every follow-up to the question about the sky."""

    def _reply(self, prompt: str) -> str:
        return SKY if any(each in prompt for each in CONDENSE) else super()._reply(prompt)


@TABLE.row(Outcome(steps=[], prompt=None, answer=LOST, loss=UNKNOWN))
def a_simple_chat(parts: Parts) -> object:
    return SimpleChatEngine.from_defaults(llm=parts.lost).chat(SKY)


@TABLE.row(Outcome())
def a_chat_with_context(parts: Parts) -> object:
    return ContextChatEngine.from_defaults(parts.retriever(), llm=parts.knows).chat(SKY)


@TABLE.row(Outcome())
async def an_awaited_chat_with_context(parts: Parts) -> object:
    return await ContextChatEngine.from_defaults(parts.retriever(), llm=parts.knows).achat(SKY)


@TABLE.row(Outcome())
def a_streamed_chat_with_context(parts: Parts) -> object:
    return list(ContextChatEngine.from_defaults(parts.retriever(), llm=parts.knows).stream_chat(SKY).response_gen)


@TABLE.row(Outcome())
async def an_awaited_streamed_chat_with_context(parts: Parts) -> object:
    chat = await ContextChatEngine.from_defaults(parts.retriever(), llm=parts.knows).astream_chat(SKY)
    return [token async for token in chat.async_response_gen()]


@TABLE.row(Outcome(steps=[SEARCH, ("filter", "DropFirst", ("ocean",))], prompt=["ocean"], answer=LOST, loss=Loss.DROPPED))
def a_chat_whose_filter_drops_the_passage(parts: Parts) -> object:
    engine = ContextChatEngine.from_defaults(parts.retriever(), llm=parts.lost, node_postprocessors=[DropFirst()])
    return engine.chat(SKY)


@TABLE.row(Outcome(), Outcome(answer=LOST, loss=Loss.UNUSED))
def two_turns_of_a_chat_with_context(parts: Parts) -> object:
    engine = ContextChatEngine.from_defaults(parts.retriever(), llm=parts.knows)
    engine.chat(SKY)
    parts.knows.default = LOST
    return engine.chat(SKY)


@TABLE.row(Outcome(), Outcome())
def a_condensed_follow_up(parts: Parts) -> object:
    llm = Condensing(default=ANSWER)
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=parts.engine(llm), llm=llm)
    engine.chat(SKY)
    return engine.chat(FOLLOW_UP)


@TABLE.row(Outcome(), Outcome())
async def an_awaited_condensed_follow_up(parts: Parts) -> object:
    llm = Condensing(default=ANSWER)
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=parts.engine(llm), llm=llm)
    await engine.achat(SKY)
    return await engine.achat(FOLLOW_UP)


@TABLE.row(Outcome(), Outcome())
def a_condensed_follow_up_with_context(parts: Parts) -> object:
    engine = CondensePlusContextChatEngine.from_defaults(parts.retriever(), llm=Condensing(default=ANSWER))
    engine.chat(SKY)
    return engine.chat(FOLLOW_UP)


@TABLE.row(Outcome(), Outcome())
def a_streamed_condensed_follow_up_with_context(parts: Parts) -> object:
    engine = CondensePlusContextChatEngine.from_defaults(parts.retriever(), llm=Condensing(default=ANSWER))
    list(engine.stream_chat(SKY).response_gen)
    return list(engine.stream_chat(FOLLOW_UP).response_gen)


@TABLE.row(Outcome(), Outcome(question=FOLLOW_UP, steps=[("retrieve", "VectorIndexRetriever", ("sunset",))], prompt=["sunset"]))
def a_follow_up_that_is_not_condensed(parts: Parts) -> object:
    engine = ContextChatEngine.from_defaults(parts.retriever(), llm=parts.knows)
    engine.chat(SKY)
    engine._retriever = parts.retriever(1)
    return engine.chat(FOLLOW_UP)


# agents ------------------------------------------------------------------------------------------


def agent(tool: BaseTool, answer: str = ANSWER, **options: Any) -> FunctionAgent:
    name = tool.metadata.name or ""
    return FunctionAgent(
        name="scholar", description="looks up", tools=[tool], llm=ScriptedAgentLLM(tool=name, answer=answer), **options
    )


def corpus(parts: Parts, llm: Any = None) -> QueryEngineTool:
    return QueryEngineTool.from_defaults(parts.engine(llm), name="corpus", description="knows the sky")


@TABLE.row(Outcome(prompt=["corpus"]))
async def an_agent_that_asks_an_engine(parts: Parts) -> object:
    return await agent(corpus(parts)).run(user_msg=SKY)


@TABLE.row(Outcome(prompt=["corpus"], answer=LOST, loss=Loss.UNUSED))
async def an_agent_that_ignores_what_its_engine_says(parts: Parts) -> object:
    return await agent(corpus(parts), LOST).run(user_msg=SKY)


@TABLE.row(Outcome(prompt=["corpus"], answer="It is unclear.", loss=Loss.SUB_ANSWER, lost_by="corpus"))
async def an_agent_whose_engine_ignores_the_passage(parts: Parts) -> object:
    return await agent(corpus(parts, parts.lost), "It is unclear.").run(user_msg=SKY)


@TABLE.row(Outcome(steps=[("retrieve", "VectorIndexRetriever", ("rayleigh", "sunset"))], prompt=["rayleigh", "sunset"]))
async def an_agent_that_retrieves(parts: Parts) -> object:
    return await agent(RetrieverTool.from_defaults(parts.retriever(), name="search", description="finds")).run(user_msg=SKY)


@TABLE.row(Outcome(steps=[("tool", "lookup", ("lookup",))], prompt=["lookup"], answer=LOST, loss=Loss.UNUSED))
async def an_agent_with_a_function_that_answers(_: Parts) -> object:
    def lookup(input: str) -> str:  # noqa: A002  # what the scripted agent fills in
        """Look up."""
        return f"All about {input}: air scatters blue light."

    return await agent(FunctionTool.from_defaults(lookup), LOST).run(user_msg=SKY)


@TABLE.row(Outcome(steps=[("tool", "lookup", ())], prompt=None, answer=LOST, loss=Loss.FAILED))
async def an_agent_with_a_function_that_fails(_: Parts) -> object:
    def lookup(input: str) -> str:  # noqa: A002  # likewise
        """Look up."""
        raise LookupError(input)

    return await agent(FunctionTool.from_defaults(lookup), LOST).run(user_msg=SKY)


class Direct(ScriptedAgentLLM):
    """Answers at once."""

    tool: str = ""

    def _next(self, messages: Sequence[ChatMessage]) -> ChatMessage:
        return ChatMessage(role=MessageRole.ASSISTANT, content=self.answer)


@TABLE.row(Outcome(steps=[], prompt=None, answer=LOST, loss=UNKNOWN))
async def an_agent_that_calls_no_tool(parts: Parts) -> object:
    return await FunctionAgent(name="wise", tools=[corpus(parts)], llm=Direct(answer=LOST)).run(user_msg=SKY)


class Reasoning(ScriptedLLM):
    """Writes what a ReAct agent parses: one action, then an answer."""

    answer: str = ANSWER

    def _reply(self, prompt: str) -> str:
        if "Observation:" in prompt.rpartition("Current Conversation")[2]:
            return f"Thought: I can answer without using any more tools.\nAnswer: {self.answer}"
        return f'Thought: I need to use a tool.\nAction: corpus\nAction Input: {{"input": "{SKY}"}}'


@TABLE.row(Outcome(prompt=["corpus"]))
async def a_reasoning_agent(parts: Parts) -> object:
    return await ReActAgent(name="scholar", tools=[corpus(parts)], llm=Reasoning()).run(user_msg=SKY)


@TABLE.row(Outcome(prompt=["corpus"], answer=LOST, loss=Loss.SUB_ANSWER, lost_by="corpus"))
async def a_reasoning_agent_whose_engine_ignores_the_passage(parts: Parts) -> object:
    return await ReActAgent(
        name="scholar", tools=[corpus(parts, ScriptedLLM(default="It is unclear."))], llm=Reasoning(answer=LOST)
    ).run(user_msg=SKY)


class Passing(ScriptedAgentLLM):
    """Passes the question on to the scholar."""

    tool: str = "handoff"

    def _next(self, messages: Sequence[ChatMessage]) -> ChatMessage:
        given = {"to_agent": "scholar", "reason": "It knows the sky."}
        call = ToolSelection(tool_id="call-0", tool_name="handoff", tool_kwargs=given)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", additional_kwargs={"tool_calls": [call]})


class Asking(ScriptedAgentLLM):
    """Asks its tool first, whatever other tools have said."""

    def _next(self, messages: Sequence[ChatMessage]) -> ChatMessage:
        own = [
            message for message in messages if message.role != MessageRole.TOOL or "now handling" not in str(message.content)
        ]
        return super()._next(own)


def handed_over(parts: Parts, inner: Any, answer: str) -> AgentWorkflow:
    scholar = FunctionAgent(
        name="scholar", description="knows", tools=[corpus(parts, inner)], llm=Asking(tool="corpus", answer=answer)
    )
    porter = FunctionAgent(name="porter", description="knows who knows", tools=[], llm=Passing())
    return AgentWorkflow(agents=[porter, scholar], root_agent="porter")


@TABLE.row(Outcome(prompt=["corpus"]))
async def a_question_that_is_handed_over(parts: Parts) -> object:
    return await handed_over(parts, parts.knows, ANSWER).run(user_msg=SKY)


@TABLE.row(Outcome(prompt=["corpus"], answer=LOST, loss=Loss.UNUSED))
async def a_question_that_is_handed_over_and_whose_answer_is_ignored(parts: Parts) -> object:
    return await handed_over(parts, parts.knows, LOST).run(user_msg=SKY)


@TABLE.row(Outcome(prompt=["corpus"]), Outcome(prompt=["corpus"]))
async def two_runs_of_an_agent_with_one_context(parts: Parts) -> object:
    class Afresh(ScriptedAgentLLM):
        """Asks its tool once for each question."""

        def _next(self, messages: Sequence[ChatMessage]) -> ChatMessage:
            last = max(number for number, message in enumerate(messages) if message.role == MessageRole.USER)
            return super()._next(messages[last:])

    asked = FunctionAgent(name="scholar", tools=[corpus(parts)], llm=Afresh(tool="corpus", answer=ANSWER))
    ctx = Context(asked)
    await asked.run(user_msg=SKY, ctx=ctx)
    return await asked.run(user_msg=SKY, ctx=ctx)


class Claim(BaseModel):
    """A structured answer."""

    claim: str


@TABLE.row(Outcome(prompt=["corpus"]))
async def an_agent_with_a_structured_answer(parts: Parts) -> object:
    async def make_claim(messages: list[ChatMessage]) -> dict[str, Any]:
        return {"claim": str(messages[-1].content)}

    return await agent(corpus(parts), structured_output_fn=make_claim).run(user_msg=SKY)


# workflows ---------------------------------------------------------------------------------------


class Found(Event):
    """What was retrieved."""

    nodes: list[NodeWithScore]


class Answering(Workflow):
    """Retrieves, drops some nodes in plain Python, and writes."""

    def __init__(self, parts: Parts, llm: Any, *, first: int = 0) -> None:
        super().__init__()
        self.parts, self.llm, self.first = parts, llm, first

    @step
    async def retrieve(self, ev: StartEvent) -> Found:
        """Retrieve."""
        nodes = await self.parts.retriever().aretrieve(ev.query)
        return Found(nodes=nodes[self.first :])

    @step
    async def write(self, ev: Found) -> StopEvent:
        """Write."""
        return StopEvent(result=await get_response_synthesizer(llm=self.llm).asynthesize(SKY, ev.nodes))


@TABLE.row(Outcome())
async def a_workflow(parts: Parts) -> object:
    return await Answering(parts, parts.knows).run(query=SKY)


@TABLE.row(Outcome(prompt=["ocean"], answer=LOST, loss=Loss.DROPPED))
async def a_workflow_that_drops_a_node_in_plain_python(parts: Parts) -> object:
    return await Answering(parts, parts.lost, first=1).run(query=SKY)


class TextStore(BasePydanticVectorStore):
    """A vector store that keeps texts, as those of databases do."""

    stores_text: bool = True
    _nodes: list[TextNode] = PrivateAttr(default_factory=corpus_nodes)

    @property
    def client(self) -> None:
        """Return no client."""

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        return []

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None: ...

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        found = [node for node in self._nodes if node.node_id in BOTH]
        return VectorStoreQueryResult(
            nodes=sorted(found, key=lambda node: BOTH.index(node.node_id)), similarities=[0.9, 0.8], ids=[*BOTH]
        )


class Raw(Workflow):
    """Queries a vector store itself, and asks a model with what it likes."""

    def __init__(self, store: BasePydanticVectorStore, llm: Any, kept: int) -> None:
        super().__init__()
        self.store, self.llm, self.kept = store, llm, kept

    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        """Ask."""
        found = await self.store.aquery(VectorStoreQuery(query_embedding=word_vector(ev.query), similarity_top_k=2))
        shown = "\n".join(node.get_content() for node in (found.nodes or [])[: self.kept])
        return StopEvent(result=(await self.llm.acomplete(f"{shown}\n{ev.query}")).text)


STORED = ("retrieve", "TextStore", BOTH)


@TABLE.row(Outcome(steps=[STORED]))
async def a_workflow_that_queries_a_vector_store(parts: Parts) -> object:
    return await Raw(TextStore(), parts.knows, 2).run(query=SKY)


@TABLE.row(Outcome(steps=[STORED], prompt=[], answer=LOST, loss=Loss.DROPPED))
async def a_workflow_that_queries_a_vector_store_in_vain(parts: Parts) -> object:
    return await Raw(TextStore(), parts.lost, 0).run(query=SKY)


@TABLE.row(Outcome(steps=[], prompt=None, answer=LOST, loss=UNKNOWN))
async def a_workflow_that_queries_a_vector_store_without_texts(parts: Parts) -> object:
    return await Raw(parts.index.vector_store, parts.lost, 2).run(query=SKY)


class Failing(Workflow):
    """Fails after it has retrieved."""

    parts: Any = None

    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        """Ask."""
        await self.parts.retriever().aretrieve(ev.query)
        message = "no more"
        raise RuntimeError(message)


@TABLE.row(Outcome(prompt=None, answer=None))
async def a_workflow_that_fails(parts: Parts) -> object:
    failing = Failing()
    failing.parts = parts
    with pytest.raises(Exception, match="no more"):
        await failing.run(query=SKY)
    return None


class Parallel(Workflow):
    """Asks two engines at once, and a model for the one answer."""

    def __init__(self, engines: Sequence[Any], llm: Any) -> None:
        super().__init__()
        self.engines, self.llm = engines, llm

    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        """Ask."""
        said = await asyncio.gather(*(each.aquery(ev.query) for each in self.engines))
        written = await self.llm.acomplete("\n".join(map(str, said)))
        return StopEvent(result=written.text)


TWICE = [("retrieve", "VectorIndexRetriever-1", BOTH), ("retrieve", "VectorIndexRetriever-2", BOTH)]


@TABLE.row(
    Outcome(steps=TWICE, prompt=["RetrieverQueryEngine"] * 2, answer=LOST, loss=Loss.SUB_ANSWER, lost_by="RetrieverQueryEngine")
)
async def a_workflow_of_two_engines_that_ignore_their_passages(parts: Parts) -> object:
    engines = [parts.engine(ScriptedLLM(default=text)) for text in ("It is unclear.", "Nobody can tell.")]
    return await Parallel(engines, parts.lost).run(query=SKY)


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """An event loop that is closed afterwards: LlamaIndex opens one where there is none, and leaves it open."""
    opened = asyncio.new_event_loop()
    asyncio.set_event_loop(opened)
    yield
    asyncio.set_event_loop(None)
    opened.close()
    gc.collect()  # what chats leave open is warned of here, and not in tests of something else


@pytest.mark.parametrize("scenario", TABLE, ids=lambda scenario: scenario.name)
def test_a_conversation_is_recorded_as_it_was(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", ScriptedLLM())
    with attach(measures=()) as recording:
        check(scenario, recording)
