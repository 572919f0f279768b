from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata, MessageRole
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatStartEvent
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import instrument_tags
from pydantic import BaseModel, PrivateAttr

from rag_cover.backends import Failure, Generator, Message, Sampling
from rag_cover.errors import InvalidValueError, TransientError
from rag_cover_llama_index.generators import LlamaIndexGenerator, chat_messages
from tests.llama_index.parts import ScriptedLLM

WHY = (Message("system", "Be brief."), Message("user", "Why is the sky blue?"))


class RecordingLLM(ScriptedLLM):
    """Remembers what it was asked, and refuses some parameters as clients do."""

    refuses: dict[str, str] = {}
    reports: bool = True
    _asked: list[tuple[object, dict[str, Any]]] = PrivateAttr(default_factory=list)

    def _answered(self, prompt: object, parameters: dict[str, Any]) -> str:
        for name, words in self.refuses.items():
            if name in parameters:
                raise TypeError(words)
        self._asked.append((prompt, parameters))
        return self._reply(str(prompt))

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        said = self._answered([(message.role.value, message.content) for message in messages], kwargs)
        usage = {"usage": {"prompt_tokens": 10, "completion_tokens": 3}} if self.reports else {}
        return ChatResponse(message=ChatMessage(role="assistant", content=said), raw=usage)

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


def test_nothing_asked_is_nothing_written() -> None:
    assert LlamaIndexGenerator(ScriptedLLM()).generate([]) == []


def test_sampling_is_passed_on_where_it_says_something() -> None:
    llm = RecordingLLM()
    sampling = Sampling(temperature=0.7, max_tokens=9, stop=("\n",), logprobs=True, seed=3)

    LlamaIndexGenerator(llm).generate([WHY], sampling)

    assert llm._asked[0][1] == {"temperature": 0.7, "max_tokens": 9, "stop": ["\n"], "logprobs": True, "seed": 3}


def test_several_samples_take_several_calls_with_seeds_of_their_own_and_tokens_add_up() -> None:
    llm = RecordingLLM()

    first, second = LlamaIndexGenerator(llm, workers=2).generate([WHY, WHY], Sampling(n=3, seed=5))

    assert [len(first.samples), len(second.samples)] == [3, 3]
    assert sorted(parameters["seed"] for _, parameters in llm._asked) == [5, 5, 6, 6, 7, 7]
    assert (first.prompt_tokens, first.completion_tokens) == (30, 9)


def test_a_refused_parameter_is_dropped_remembered_and_noted() -> None:
    llm = RecordingLLM(refuses={"stop": "create() got an unexpected keyword argument 'stop'"}, default="Blue.\nContext: sky")
    generator = LlamaIndexGenerator(llm)

    (written,) = generator.generate([WHY], Sampling(stop=("\n",)))
    generator.generate([WHY], Sampling(stop=("\n",)))

    assert written.samples[0].text == "Blue."
    assert ["stop" in parameters for _, parameters in llm._asked] == [False, False]
    assert generator.notes == ("scripted refuses stop; it is no longer sent",)


def test_a_value_that_is_refused_is_a_failure_and_no_lesson() -> None:
    llm = RecordingLLM(refuses={"max_tokens": "max_tokens is too large: this context has 400"})
    generator = LlamaIndexGenerator(llm)

    (written,) = generator.generate([WHY])

    assert written.failure == Failure("TypeError", "scripted: max_tokens is too large: this context has 400")
    assert (written.samples, generator.notes) == ((), ())


class OverloadedError(RuntimeError):
    """What a client raises for a server's status."""

    status_code = 503


class OverloadedLLM(RecordingLLM):
    """Has no time."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        message = "unexpected stop of the server"
        raise OverloadedError(message)


def test_a_servers_trouble_teaches_nothing_about_parameters() -> None:
    generator = LlamaIndexGenerator(OverloadedLLM())

    (written,) = generator.generate(["Why?"], Sampling(stop=("\n",)))

    assert written.failure == Failure("OverloadedError", "scripted: unexpected stop of the server")
    assert generator.notes == ()


class BrokenLLM(ScriptedLLM):
    """Fails on questions about storms."""

    error: Any = None

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        if "storm" in prompt:
            raise self.error
        return super().complete(prompt)


def test_a_failing_call_costs_its_prompt_alone() -> None:
    generator = LlamaIndexGenerator(BrokenLLM(error=TimeoutError("60 s"), default="Blue."))

    blue, storm = generator.generate(["Why is the sky blue?", "Why do storms form?"], Sampling(n=2))

    assert [sample.text for sample in blue.samples] == ["Blue.", "Blue."]
    assert (storm.samples, storm.failure) == ((), Failure("TimeoutError", "scripted: 60 s"))


def test_a_failure_of_rag_covers_own_kind_keeps_its_kind() -> None:
    generator = LlamaIndexGenerator(BrokenLLM(error=TransientError("busy", kind="rate limit")))

    (storm,) = generator.generate(["Why do storms form?"])

    assert storm.failure is not None
    assert storm.failure.kind == "rate limit"


class CutLLM(ScriptedLLM):
    """Says how its answer ended."""

    reason: str

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.default, raw={"choices": [{"finish_reason": self.reason}]})


@pytest.mark.parametrize(
    ("text", "reason", "kind"),
    [
        ("", "length", "malformed"),
        ("<think>Blue, or is it", "length", "malformed"),
        ("The sky", "content_filter", "filtered"),
    ],
)
def test_a_reply_that_was_cut_before_it_began_is_a_failure(text: str, reason: str, kind: str) -> None:
    (written,) = LlamaIndexGenerator(CutLLM(default=text, reason=reason)).generate(["Why?"])

    assert written.samples == ()
    assert written.failure is not None
    assert (written.failure.kind, written.failure.raw) == (kind, text)


@pytest.mark.parametrize(("text", "reason"), [("", "stop"), ("The sky is", "length"), ("<think>Blue?</think> Bl", "length")])
def test_a_reply_that_began_is_one_however_it_ended(text: str, reason: str) -> None:
    (written,) = LlamaIndexGenerator(CutLLM(default=text, reason=reason)).generate(["Why?"])

    assert [sample.text for sample in written.samples] == [text]
    assert written.failure is None


class Verdict(BaseModel):
    """A reply to fit."""

    answered: bool


def test_a_schema_is_told_in_the_one_system_message() -> None:
    llm = RecordingLLM(default='{"answered": true}')

    (written, _) = LlamaIndexGenerator(llm, workers=1).generate([WHY, "Is it?"], schema=Verdict)

    first, second = (prompt for prompt, _ in llm._asked)
    assert isinstance(first, list)
    assert isinstance(second, list)
    assert [role for role, _ in first] == ["system", "user"]
    assert first[0][1].startswith("Be brief.")
    assert '"answered"' in first[0][1]
    assert [role for role, _ in second] == ["system", "user"]
    assert written.samples[0].text == '{"answered": true}'


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


def test_fewer_than_one_worker_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="workers is 0; it is at least 1"):
        LlamaIndexGenerator(ScriptedLLM(), workers=0)


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


def test_one_generator_serves_16_threads_at_once() -> None:
    generator = LlamaIndexGenerator(ScriptedLLM(script={f"number {number}.": f"answer {number}" for number in range(16)}))
    together = threading.Barrier(16)

    def ask(number: int) -> str:
        together.wait()
        return generator.generate([f"This is number {number}."])[0].samples[0].text

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(16)))

    assert answers == [f"answer {number}" for number in range(16)]
