from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForLLMRun
from langchain_core.language_models import LLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import PrivateAttr, SecretStr

from rag_cover.backends import Generation, Generator, Message, Sampling
from rag_cover_langchain.generators import LangChainGenerator, chat_messages
from rag_cover_langchain.tags import INTERNAL
from tests.langchain.parts import ScriptedChatModel

WHY = (Message("system", "Be brief."), Message("user", "Why is the sky blue?"))
ASKED = [("system", "Be brief."), ("human", "Why is the sky blue?")]


class RecordingModel(ScriptedChatModel):
    """Remembers what it was asked."""

    _asked: list[tuple[list[tuple[str, str]], dict[str, Any]]] = PrivateAttr(default_factory=list)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        parameters = kwargs if stop is None else kwargs | {"stop": stop}
        self._asked.append(([(message.type, message.text) for message in messages], parameters))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self._reply(messages)))])


class ScriptedCompletion(LLM):
    """Completes every prompt with its own words, quoted."""

    _asked: list[tuple[str, dict[str, Any]]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted-completion"

    def _call(
        self, prompt: str, stop: list[str] | None = None, run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any
    ) -> str:
        self._asked.append((prompt, kwargs))
        return f"{prompt!r}, they say."


def test_a_chat_model_is_a_generator() -> None:
    generator = LangChainGenerator(ScriptedChatModel(script={"sky": "Air scatters blue light."}))

    (written,) = generator.generate([WHY])

    assert isinstance(generator, Generator)
    assert [sample.text for sample in written.samples] == ["Air scatters blue light."]
    assert (written.prompt_tokens, written.completion_tokens, written.failure) == (None, None, None)


def test_messages_are_chatted_and_a_text_is_a_message_of_the_users() -> None:
    llm = RecordingModel()

    LangChainGenerator(llm, workers=1).generate([WHY, "The sky is"])

    assert [messages for messages, _ in llm._asked] == [ASKED, [("human", "The sky is")]]


def test_a_completion_model_completes_texts_and_reads_messages_as_a_script() -> None:
    llm = ScriptedCompletion()

    text, chat = LangChainGenerator(llm, workers=1).generate(["The sky is", WHY], Sampling(seed=4))

    assert text.samples[0].text == "'The sky is', they say."
    assert chat.failure is None
    assert [prompt for prompt, _ in llm._asked] == ["The sky is", "System: Be brief.\nHuman: Why is the sky blue?"]
    assert llm._asked[0][1] == {"temperature": 0.0, "max_tokens": Sampling().max_tokens, "seed": 4}


def bound(model: RecordingModel) -> Runnable[Any, Any]:
    return model.bind(user="u1")


def with_retry(model: RecordingModel) -> Runnable[Any, Any]:
    return model.with_retry()


@pytest.mark.parametrize("wrap", [bound, with_retry], ids=["bound", "retry"])
def test_a_wrapped_model_is_asked_as_the_model_within(wrap: Any) -> None:
    llm = RecordingModel(default="Blue.")
    generator = LangChainGenerator(wrap(llm))

    (written,) = generator.generate([WHY], Sampling(seed=3))

    assert [sample.text for sample in written.samples] == ["Blue."]
    assert generator.name == "RecordingModel"
    assert llm._asked[0][0] == ASKED
    assert llm._asked[0][1]["seed"] == 3


class BusyModel(ScriptedChatModel):
    """Has no time."""

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        message = "busy"
        raise TimeoutError(message)


def test_what_a_model_falls_back_to_is_asked_with_the_same_parameters() -> None:
    llm = RecordingModel(default="Blue.")

    (written,) = LangChainGenerator(BusyModel().with_fallbacks([llm])).generate([WHY], Sampling(max_tokens=7))

    assert written.samples[0].text == "Blue."
    assert llm._asked[0][1] == {"temperature": 0.0, "max_tokens": 7}


def in_a_template(messages: list[BaseMessage]) -> dict[str, list[BaseMessage]]:
    return {"messages": messages}


def counted(messages: list[BaseMessage]) -> int:
    return len(messages)


def test_a_chain_of_messages_to_a_text_is_a_generator() -> None:
    prompted = ChatPromptTemplate([("placeholder", "{messages}")]) | RecordingModel(default="Blue.") | StrOutputParser()
    made: Runnable[Any, str] = RunnableLambda(in_a_template) | prompted

    (written,) = LangChainGenerator(made).generate([WHY])

    assert written.samples[0].text == "Blue."


def test_a_chain_that_writes_no_text_fails_for_its_prompt() -> None:
    generator = LangChainGenerator(RunnableLambda(counted))

    (written,) = generator.generate([WHY])

    assert generator.notes == (
        "RunnableLambda refuses temperature; it is no longer sent",
        "RunnableLambda refuses max_tokens; it is no longer sent",
    )
    assert written.failure is not None
    assert (written.failure.kind, written.samples) == ("malformed", ())
    assert "'int', which is neither a message nor a text" in written.failure.message


def test_sampling_is_passed_on_where_it_says_something() -> None:
    llm = RecordingModel()
    sampling = Sampling(temperature=0.7, max_tokens=9, stop=("\n",), logprobs=True, seed=3)

    LangChainGenerator(llm).generate([WHY], sampling)

    assert llm._asked[0][1] == {"temperature": 0.7, "max_tokens": 9, "stop": ["\n"], "logprobs": True, "seed": 3}


def test_messages_become_langchains() -> None:
    assert chat_messages((*WHY, Message("assistant", "Because."))) == [
        SystemMessage("Be brief."),
        HumanMessage("Why is the sky blue?"),
        AIMessage("Because."),
    ]


class HostedModel(ScriptedChatModel):
    """Has an address, and secrets in it."""

    model_name: str = "sky-1"
    base_url: str = "https://user:secret@example.org:8443/token-in-path/v1?key=hidden"
    api_key: SecretStr = SecretStr("sk-hidden")


def test_a_fingerprint_names_class_model_and_server_and_no_secret() -> None:
    fingerprint = LangChainGenerator(HostedModel()).fingerprint

    assert fingerprint == f"langchain:{HostedModel.__module__}.HostedModel:sky-1@example.org:8443"


def test_models_bound_otherwise_do_not_share_a_fingerprint() -> None:
    model = HostedModel()
    settings = [
        model,
        model.bind(temperature=0.5),
        model.bind(temperature=0.5),
        model.bind(temperature=1.0),
        model.with_retry(),
    ]

    prints = [LangChainGenerator(each).fingerprint for each in settings]

    assert prints[1] == prints[2]
    assert len(set(prints)) == 4
    assert all(each.startswith(prints[0]) for each in prints)
    assert not any("secret" in each or "hidden" in each for each in prints)


def test_a_model_without_a_name_goes_by_its_class() -> None:
    assert LangChainGenerator(ScriptedChatModel()).name == "ScriptedChatModel"


class RunRecorder(BaseCallbackHandler):
    """Keeps the tags and the parent of every chat, and the runs of every chain."""

    def __init__(self) -> None:
        self.chats: list[tuple[list[str], object]] = []
        self.chains: list[object] = []

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, **_: Any) -> None:
        self.chains.append(run_id)

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, run_id: Any, parent_run_id: Any = None, tags: Any = None, **_: Any
    ) -> None:
        self.chats.append((tags, parent_run_id))


def test_calls_made_side_by_side_belong_to_the_run_of_whoever_asked_and_are_told_apart() -> None:
    recorder, generator = RunRecorder(), LangChainGenerator(ScriptedChatModel())

    def asks(_: str) -> list[Generation]:
        return generator.generate([WHY] * 5)

    RunnableLambda(asks).invoke("go", {"callbacks": [recorder]})

    assert [INTERNAL in tags for tags, _ in recorder.chats] == [True] * 5
    assert [parent for _, parent in recorder.chats] == recorder.chains * 5


def test_a_completion_model_is_tagged_as_a_chat_model_is() -> None:
    seen: list[tuple[Any, Any]] = []

    class Completions(BaseCallbackHandler):
        def on_llm_start(self, serialized: Any, prompts: Any, *, tags: Any = None, parent_run_id: Any = None, **_: Any) -> None:
            seen.append((tags, parent_run_id))

    generator = LangChainGenerator(ScriptedCompletion())

    def asks(_: str) -> list[Generation]:
        return generator.generate(["The sky is"])

    RunnableLambda(asks).invoke("go", {"callbacks": [Completions()]})

    ((tags, parent),) = seen
    assert INTERNAL in tags
    assert parent is not None


def test_what_a_graph_streams_as_its_answer_holds_none_of_our_calls() -> None:
    graphs = pytest.importorskip("langgraph.graph", reason="needs langgraph")
    judge, answerer = LangChainGenerator(ScriptedChatModel(default="internal")), ScriptedChatModel(default="Blue.")

    def answered(state: Any) -> Any:
        judge.generate([WHY] * 2)
        return {"messages": [answerer.invoke(state["messages"])]}

    graph = graphs.StateGraph(graphs.MessagesState)
    graph.add_node("answer", answered)
    graph.set_entry_point("answer")
    streamed = graph.compile().stream({"messages": [HumanMessage("Why?")]}, stream_mode="messages")

    assert "".join(chunk.text for chunk, _ in streamed) == "Blue."
