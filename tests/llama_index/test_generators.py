from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata, MessageRole
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatStartEvent
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import instrument_tags
from pydantic import PrivateAttr

from rag_cover.backends import Generator, Message, Sampling
from rag_cover_llama_index.generators import LlamaIndexGenerator, chat_messages
from tests.llama_index.parts import ScriptedLLM

WHY = (Message("system", "Be brief."), Message("user", "Why is the sky blue?"))


class RecordingLLM(ScriptedLLM):
    """Remembers what it was asked, and refuses some parameters as clients do."""

    refuses: dict[str, str] = {}
    _asked: list[tuple[object, dict[str, Any]]] = PrivateAttr(default_factory=list)

    def _answered(self, prompt: object, parameters: dict[str, Any]) -> str:
        for name, words in self.refuses.items():
            if name in parameters:
                raise TypeError(words)
        self._asked.append((prompt, parameters))
        return self._reply(str(prompt))

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        said = self._answered([(message.role.value, message.content) for message in messages], kwargs)
        return ChatResponse(message=ChatMessage(role="assistant", content=said))

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._answered(prompt, kwargs))


def test_a_language_model_is_a_generator() -> None:
    generator = LlamaIndexGenerator(ScriptedLLM(script={"sky": "Air scatters blue light."}))

    (written,) = generator.generate([WHY])

    assert isinstance(generator, Generator)
    assert [sample.text for sample in written.samples] == ["Air scatters blue light."]
    assert (written.prompt_tokens, written.completion_tokens, written.failure) == (None, None, None)


def test_messages_are_chatted_and_a_text_is_completed() -> None:
    llm = RecordingLLM()

    LlamaIndexGenerator(llm, workers=1).generate([WHY, "The sky is"])

    assert [prompt for prompt, _ in llm._asked] == [[("system", "Be brief."), ("user", "Why is the sky blue?")], "The sky is"]


def test_sampling_is_passed_on_where_it_says_something() -> None:
    llm = RecordingLLM()
    sampling = Sampling(temperature=0.7, max_tokens=9, stop=("\n",), logprobs=True, seed=3)

    LlamaIndexGenerator(llm).generate([WHY], sampling)

    assert llm._asked[0][1] == {"temperature": 0.7, "max_tokens": 9, "stop": ["\n"], "logprobs": True, "seed": 3}


def test_a_refused_parameter_is_dropped_remembered_and_noted() -> None:
    llm = RecordingLLM(refuses={"stop": "create() got an unexpected keyword argument 'stop'"}, default="Blue.\nContext: sky")
    generator = LlamaIndexGenerator(llm)

    (written,) = generator.generate([WHY], Sampling(stop=("\n",)))
    generator.generate([WHY], Sampling(stop=("\n",)))

    assert written.samples[0].text == "Blue."
    assert ["stop" in parameters for _, parameters in llm._asked] == [False, False]
    assert generator.notes == ("scripted refuses stop; it is no longer sent",)


class CohereLikeLLM(RecordingLLM):
    """Calls a system message otherwise, as some servers do."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="commander", system_role=MessageRole.CHATBOT)


def test_a_system_message_has_the_role_that_the_model_expects() -> None:
    llm = CohereLikeLLM()

    LlamaIndexGenerator(llm).generate([WHY])

    asked = llm._asked[0][0]
    assert isinstance(asked, list)
    assert asked[0][0] == "chatbot"
    assert [message.role for message in chat_messages(WHY)] == [MessageRole.SYSTEM, MessageRole.USER]


class HostedLLM(ScriptedLLM):
    """Has an address, and secrets in it."""

    api_base: str = "https://user:secret@example.org:8443/token-in-path/v1?key=hidden"
    api_key: str = "sk-hidden"


def test_a_fingerprint_names_class_model_and_server_and_no_secret() -> None:
    fingerprint = LlamaIndexGenerator(HostedLLM()).fingerprint

    assert fingerprint == f"llama-index:{HostedLLM.__module__}.HostedLLM:scripted@example.org:8443"


class NamelessLLM(ScriptedLLM):
    """Does not say what it is."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()


def test_a_model_without_a_name_goes_by_its_class() -> None:
    assert LlamaIndexGenerator(NamelessLLM()).name == "NamelessLLM"


class TagRecorder(BaseEventHandler):
    """Keeps the tags of every chat."""

    _tags: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    def handle(self, event: BaseEvent, **_: Any) -> None:
        if isinstance(event, LLMChatStartEvent):
            self._tags.append(event.tags)


def test_calls_made_side_by_side_belong_to_the_trace_of_whoever_asked() -> None:
    recorder, dispatcher = TagRecorder(), get_dispatcher()
    dispatcher.add_event_handler(recorder)
    try:
        with instrument_tags({"query": "q1"}):
            LlamaIndexGenerator(ScriptedLLM()).generate([WHY] * 5)
    finally:
        dispatcher.event_handlers.remove(recorder)

    assert recorder._tags == [{"query": "q1"}] * 5
