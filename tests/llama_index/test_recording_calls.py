"""What a trace tells of the calls of models: which one, tokens, time, how it ended; and of its conversation."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, CompletionResponse, CompletionResponseGen
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.schema import TextNode
from llama_index_instrumentation.dispatcher import instrument_tags

from rag_cover.llm_calls import LLMCall
from rag_cover.measures import TraceResult
from rag_cover.recording import Recording
from rag_cover.testing import KeywordScorer
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import ScriptedLLM, WordEmbedding
from tests.llama_index.recordings import ANSWER, HEAT, SKY, only, wait_for_all
from tests.llama_index.test_scenarios_chats import Direct

pytestmark = [
    pytest.mark.filterwarnings(f"ignore{each}")
    for each in (
        *("::DeprecationWarning", ":Skipping serialization:Warning"),  # of pydantic, by workflows; of workflows
        *("::ResourceWarning", "::pytest.PytestUnraisableExceptionWarning"),  # the memory of chats leaves its database open
    )
]


@pytest.fixture
def recording() -> Iterator[Recording]:
    """A recording that only records."""
    with attach(measures=()) as attached:
        yield attached


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Collect what chats leave open here, and not in tests of something else."""
    yield
    gc.collect()


class Usage:
    """Counts as an SDK's object."""

    input_tokens, output_tokens = 31, 4


class Raw:
    """A reply as an SDK's object."""

    usage, stop_reason = Usage(), "max_tokens"


OPENAI = {"usage": {"prompt_tokens": 31, "completion_tokens": 4}, "choices": [{"finish_reason": "length"}]}
OLLAMA = {"prompt_eval_count": 31, "eval_count": 4, "done_reason": "length"}


class Metered(ScriptedLLM):
    """Tells its tokens as servers do, and takes its time to stream."""

    raw: Any = None

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._reply(prompt), raw=self.raw)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        def words() -> CompletionResponseGen:
            said = ""
            for word in self._reply(prompt).split():
                time.sleep(0.002)
                said += f"{word} "
                yield CompletionResponse(text=said, delta=f"{word} ", raw=self.raw)

        return words()


def the_call(recording: Recording) -> LLMCall:
    (call,) = only(recording).calls or ()
    return call


def told(call: LLMCall) -> tuple[object, ...]:
    return call.model, call.prompt_tokens, call.completion_tokens, call.finish_reason, call.purpose, call.passages


@pytest.mark.parametrize("raw", [OPENAI, Raw(), OLLAMA])
@pytest.mark.parametrize("streaming", [False, True])
def test_a_call_tells_its_model_its_tokens_and_how_it_ended(
    recording: Recording, index: VectorStoreIndex, raw: object, streaming: bool
) -> None:
    engine = index.as_query_engine(llm=Metered(default=ANSWER, raw=raw), similarity_top_k=1, streaming=streaming)

    str(engine.query(SKY))

    call = the_call(recording)
    assert told(call) == ("scripted", 31, 4, "length", "answer", ("rayleigh",))
    assert call.started_at is not None
    assert call.latency_s is not None
    assert call.latency_s > (0.002 * len(ANSWER.split()) if streaming else 0)


def test_what_a_model_does_not_tell_is_unknown(recording: Recording, index: VectorStoreIndex) -> None:
    index.as_query_engine(llm=ScriptedLLM(default=ANSWER), similarity_top_k=1).query(SKY)

    assert told(the_call(recording)) == ("scripted", None, None, None, "answer", ("rayleigh",))


class BrokenLLM(ScriptedLLM):
    """Fails at once, or in the middle of its stream."""

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        message = "no quota"
        raise RuntimeError(message)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        def parts() -> CompletionResponseGen:
            yield CompletionResponse(text="The", delta="The")
            self.complete(prompt)

        return parts()


@pytest.mark.parametrize("streaming", [False, True])
def test_a_call_that_fails_tells_why(recording: Recording, index: VectorStoreIndex, streaming: bool) -> None:
    engine: Any = index.as_query_engine(llm=BrokenLLM(), similarity_top_k=1, streaming=streaming)

    with pytest.raises(RuntimeError, match="no quota"):
        list(engine.query(SKY).response_gen)

    assert the_call(recording).error == "RuntimeError: no quota"


def test_a_stream_that_its_reader_left_did_not_fail(recording: Recording, index: VectorStoreIndex) -> None:
    response: Any = index.as_query_engine(llm=ScriptedLLM(default=ANSWER), streaming=True).query(SKY)
    next(response.response_gen)
    response.response_gen.close()

    assert the_call(recording).error is None


def threads(recording: Recording) -> list[str | None]:
    wait_for_all(recording)
    assert recording.errors == ()
    return [trace.thread_id for trace in recording.traces]


@pytest.mark.parametrize("memory", [None, ChatMemoryBuffer.from_defaults])
def test_the_turns_of_a_chat_are_one_conversation(recording: Recording, index: VectorStoreIndex, memory: Any) -> None:
    def chat() -> ContextChatEngine:
        given = memory(llm=ScriptedLLM()) if memory else None
        return ContextChatEngine.from_defaults(index.as_retriever(), llm=ScriptedLLM(default=ANSWER), memory=given)

    one, other = chat(), chat()
    one.chat(SKY)
    other.chat(SKY)
    one.chat(HEAT)

    first, second, third = threads(recording)
    assert first == third != second
    assert None not in (first, second)


def test_a_conversation_has_the_name_of_its_session(recording: Recording) -> None:
    memory = Memory.from_defaults(session_id="session-7")
    SimpleChatEngine.from_defaults(llm=ScriptedLLM(), memory=memory).chat(SKY)

    assert threads(recording) == ["session-7"]


def test_a_turn_whose_history_is_handed_over_is_of_an_unknown_conversation(recording: Recording) -> None:
    engine = SimpleChatEngine.from_defaults(llm=ScriptedLLM())
    engine.chat(SKY, chat_history=[ChatMessage(content="Hello.")])

    assert threads(recording) == [None]


def test_the_runs_of_an_agent_with_one_memory_are_one_conversation(recording: Recording) -> None:
    agent = FunctionAgent(name="wise", tools=[], llm=Direct(answer=ANSWER))

    async def ask() -> None:
        memory = Memory.from_defaults()
        await agent.run(user_msg=SKY, memory=memory)
        await agent.run(user_msg=HEAT, memory=memory)
        await agent.run(user_msg=SKY)

    asyncio.run(ask())

    first, second, third = threads(recording)
    assert first == second is not None
    assert third is None


def test_a_query_is_of_no_conversation(recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    index.as_query_engine(llm=llm).query(SKY)

    assert threads(recording) == [None]


@pytest.mark.parametrize("user_ids", [False, True])
def test_what_instrument_tags_hold_is_said_of_the_trace(index: VectorStoreIndex, llm: ScriptedLLM, user_ids: bool) -> None:
    said = {"session_id": "talk-3", "user_id": "lovelace-7", "tags": ["night"], "release": {"number": 5}}
    with attach(measures=(), user_ids=user_ids) as recording:
        with instrument_tags(said):
            index.as_query_engine(llm=llm).query(SKY)

        trace = only(recording)
    assert (trace.thread_id, trace.tags, trace.metadata["release"]) == ("talk-3", ("night",), {"number": 5})
    assert trace.user_id == ("lovelace-7" if user_ids else None)
    assert ("lovelace-7" in trace.to_json()) is user_ids


CANARIES = (
    "canarythread",
    "canaryuser",
    "canarytag",
    "canaryvalue",
    "canaryreply",
    "canarypassage",
    "canaryquestion",
    "canaryid",
)


def test_nothing_that_a_redacted_recording_keeps_holds_a_text(tmp_path: Path) -> None:
    node = TextNode(id_="canaryid", text="The canarypassage sky is blue.", metadata={"where": "canaryvalue"})
    index = VectorStoreIndex([node], embed_model=WordEmbedding())
    engine = index.as_query_engine(llm=Metered(default="A canaryreply.", raw=OPENAI))
    shown: list[TraceResult] = []
    store = tmp_path / "results.sqlite"
    said = {"thread_id": "canarythread", "user_id": "canaryuser", "tags": ["canarytag"], "release": "canaryvalue"}
    options: dict[str, Any] = {"measures": ("coverage",), "judge": KeywordScorer(), "user_ids": True, "redact": True}

    with attach(store=store, on_result=shown.append, **options) as recording, instrument_tags(said):
        engine.query("Why is the canaryquestion sky blue?")
        assert recording.flush(20)

    assert recording.errors == ()
    (result,) = shown
    assert result.trace.calls
    assert result.trace.calls[0].prompt_tokens == 31
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for canary in CANARIES:
        assert canary.encode() not in kept, canary
        assert canary not in result.trace.to_json(), canary
        assert canary not in str(recording.results), canary
