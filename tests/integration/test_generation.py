"""A generator made of single calls of a language model."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

from rag_cover.backends import Failure, Message, Prompt, Sampling
from rag_cover.errors import InvalidValueError, TransientError
from rag_cover.integration import GeneratorByCalls, Written, sample_from_completion

WHY = (Message("system", "Be brief."), Message("user", "Why is the sky blue?"))
STORM = "Why do storms form?"


@dataclass(frozen=True)
class Speaker:
    """Says the same to everything but storms, refuses some parameters as clients do, and remembers what it was asked."""

    says: str = "Blue."
    ended: str = "stop"
    refuses: Mapping[str, str] = field(default_factory=dict)
    on_storms: Exception = field(default_factory=TimeoutError)
    asked: list[tuple[Prompt, Mapping[str, Any]]] = field(default_factory=list)
    name: str = "speaker"

    def write(self, prompt: Prompt, parameters: Mapping[str, Any], *, stop: Sequence[str]) -> Written:
        for name, words in self.refuses.items():
            if name in parameters:
                raise TypeError(words)
        if prompt == STORM:
            raise self.on_storms
        self.asked.append((prompt, parameters))
        reports = [{"finish_reason": self.ended, "usage": {"prompt_tokens": 10, "completion_tokens": 3}}]
        return sample_from_completion(self.says, reports=reports, stop=stop)


def test_what_is_made_of_calls_is_a_generator() -> None:
    generator = GeneratorByCalls(Speaker())

    (written,) = generator.generate([WHY])

    assert [sample.text for sample in written.samples] == ["Blue."]
    assert (written.prompt_tokens, written.completion_tokens, written.failure) == (10, 3, None)


def test_nothing_asked_is_nothing_written() -> None:
    assert GeneratorByCalls(Speaker()).generate([]) == []


def test_sampling_is_passed_on_where_it_says_something() -> None:
    model = Speaker()
    generator = GeneratorByCalls(model, workers=1)

    generator.generate([WHY], Sampling(temperature=0.7, max_tokens=9, stop=("\n",), logprobs=True, seed=3, top_p=0.9, top_k=5))
    generator.generate([WHY], Sampling(temperature=0.7, max_tokens=9))

    said = {"top_p": 0.9, "top_k": 5, "stop": ["\n"], "logprobs": True, "seed": 3}
    always = {"temperature": 0.7, "max_tokens": 9}
    assert [parameters for _, parameters in model.asked] == [always | said, always]


def test_several_samples_take_several_calls_with_seeds_of_their_own_and_tokens_add_up() -> None:
    model = Speaker()

    first, second = GeneratorByCalls(model, workers=2).generate([WHY, WHY], Sampling(n=3, seed=5))

    assert [len(first.samples), len(second.samples)] == [3, 3]
    assert sorted(parameters["seed"] for _, parameters in model.asked) == [5, 5, 6, 6, 7, 7]
    assert (first.prompt_tokens, first.completion_tokens) == (30, 9)


def test_a_refused_parameter_is_dropped_remembered_and_noted() -> None:
    model = Speaker("Blue.\nContext: sky", refuses={"stop": "create() got an unexpected keyword argument 'stop'"})
    generator = GeneratorByCalls(model)

    (written,) = generator.generate([WHY], Sampling(stop=("\n",)))
    generator.generate([WHY], Sampling(stop=("\n",)))

    assert written.samples[0].text == "Blue."
    assert ["stop" in parameters for _, parameters in model.asked] == [False, False]
    assert generator.notes == ("speaker refuses stop; it is no longer sent",)


def test_a_value_that_is_refused_is_a_failure_and_no_lesson() -> None:
    generator = GeneratorByCalls(Speaker(refuses={"max_tokens": "max_tokens is too large: this context has 400"}))

    (written,) = generator.generate([WHY])

    assert written.failure == Failure("TypeError", "speaker: max_tokens is too large: this context has 400")
    assert (written.samples, generator.notes) == ((), ())


class OverloadedError(RuntimeError):
    """What a client raises for a server's status."""

    status_code = 503


def test_a_servers_trouble_teaches_nothing_about_parameters() -> None:
    generator = GeneratorByCalls(Speaker(on_storms=OverloadedError("unexpected stop of the server")))

    (written,) = generator.generate([STORM], Sampling(stop=("\n",)))

    assert written.failure == Failure("OverloadedError", "speaker: unexpected stop of the server")
    assert generator.notes == ()


def test_a_failing_call_costs_its_prompt_alone() -> None:
    generator = GeneratorByCalls(Speaker(on_storms=TimeoutError("60 s")))

    blue, storm = generator.generate(["Why is the sky blue?", STORM], Sampling(n=2))

    assert [sample.text for sample in blue.samples] == ["Blue.", "Blue."]
    assert (storm.samples, storm.failure) == ((), Failure("TimeoutError", "speaker: 60 s"))


def test_a_failure_of_rag_covers_own_kind_keeps_its_kind() -> None:
    generator = GeneratorByCalls(Speaker(on_storms=TransientError("busy", kind="rate limit")))

    (storm,) = generator.generate([STORM])

    assert storm.failure is not None
    assert storm.failure.kind == "rate limit"


@pytest.mark.parametrize(
    ("text", "ended", "kind"),
    [
        ("", "length", "malformed"),
        ("<think>Blue, or is it", "length", "malformed"),
        ("The sky", "content_filter", "filtered"),
    ],
)
def test_a_reply_that_was_cut_before_it_began_is_a_failure(text: str, ended: str, kind: str) -> None:
    (written,) = GeneratorByCalls(Speaker(text, ended)).generate(["Why?"])

    assert written.samples == ()
    assert written.failure is not None
    assert (written.failure.kind, written.failure.raw) == (kind, text)


@pytest.mark.parametrize(("text", "ended"), [("", "stop"), ("The sky is", "length"), ("<think>Blue?</think> Bl", "length")])
def test_a_reply_that_began_is_one_however_it_ended(text: str, ended: str) -> None:
    (written,) = GeneratorByCalls(Speaker(text, ended)).generate(["Why?"])

    assert [sample.text for sample in written.samples] == [text]
    assert written.failure is None


class Verdict(BaseModel):
    """A reply to fit."""

    answered: bool


def test_a_schema_is_told_in_the_one_system_message() -> None:
    model = Speaker('{"answered": true}')

    (written, _) = GeneratorByCalls(model, workers=1).generate([WHY, "Is it?"], schema=Verdict)

    chat, text = (prompt for prompt, _ in model.asked)
    assert isinstance(chat, tuple)
    assert isinstance(text, tuple)
    assert [message.role for message in chat] == [message.role for message in text] == ["system", "user"]
    assert chat[0].content.startswith("Be brief.")
    assert '"answered"' in chat[0].content
    assert '"answered"' in text[0].content
    assert written.samples[0].text == '{"answered": true}'


def test_fewer_than_one_worker_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="workers is 0; give a whole number of at least 1"):
        GeneratorByCalls(Speaker(), workers=0)


ASKING: ContextVar[str] = ContextVar("ASKING", default="nobody")


class Echo:
    """Says who asks, and what."""

    name = "echo"

    def write(self, prompt: Prompt, parameters: Mapping[str, Any], *, stop: Sequence[str]) -> Written:  # noqa: ARG002
        return sample_from_completion(f"{ASKING.get()}: {prompt}", reports=())


def test_calls_made_side_by_side_are_made_in_the_context_of_whoever_asked() -> None:
    generator, together = GeneratorByCalls(Echo(), workers=2), threading.Barrier(16)

    def ask(number: int) -> list[str]:
        ASKING.set(f"number {number}")
        together.wait()
        return [written.samples[0].text for written in generator.generate(["one", "two", "three"])]

    with ThreadPoolExecutor(16) as pool:
        said = list(pool.map(ask, range(16)))

    assert said == [[f"number {number}: {prompt}" for prompt in ("one", "two", "three")] for number in range(16)]
