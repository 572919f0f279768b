"""The Generator against a real server: samples, structured replies, and servers that will not do all they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from rag_cover.backends import Generation, Message, Sampling
from rag_cover.errors import InvalidValueError
from rag_cover.registry import open_generator

pytest.importorskip("openai", reason="needs openai (extra openai)")

MODEL = "openai:small"


class Parts(BaseModel):
    parts: list[str]


def opened(**options: Any) -> Any:
    """Open the model, which tells more than a Generator must."""
    return open_generator(MODEL, **options)


def only(generations: Sequence[Generation]) -> Generation:
    (generation,) = generations
    return generation


def test_a_prompt_is_answered_with_its_tokens(server: Any, options: dict[str, Any]) -> None:
    generation = only(opened(**options).generate([(Message("system", "Be brief."), Message("user", "Capital?"))]))

    assert [sample.text for sample in generation.samples] == ["Paris"]
    assert (generation.prompt_tokens, generation.completion_tokens, generation.failure) == (10, 3, None)
    assert server.requests[0]["messages"][0] == {"role": "system", "content": "Be brief."}


def test_several_samples_come_from_one_call(server: Any, options: dict[str, Any]) -> None:
    generation = only(opened(**options).generate(["Capital?"], Sampling(n=5, temperature=1.0, seed=7)))

    assert len(generation.samples) == 5
    assert [body["n"] for body in server.requests] == [5]
    assert server.requests[0]["seed"] == 7


def test_a_server_that_ignores_n_is_called_several_times_with_other_seeds(server: Any, options: dict[str, Any]) -> None:
    server.counts_n = False
    generator = opened(**options)

    first = only(generator.generate(["Capital?"], Sampling(n=4, temperature=1.0, seed=7)))
    only(generator.generate(["River?"], Sampling(n=2, temperature=1.0, seed=7)))

    assert len(first.samples) == 4
    assert [body.get("n") for body in server.requests] == [4, None, None, None, None, None]
    assert [body["seed"] for body in server.requests[:4]] == [7, 8, 9, 10]
    assert generator.spending.notes == ("openai:small ignores n; several samples take several calls",)


def test_log_probabilities_are_kept_where_the_server_gives_them(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda _: "the city Paris"
    sampling = Sampling(logprobs=True)

    given = only(opened(**options).generate(["?"], sampling)).samples[0]
    server.gives_logprobs = False
    missing = only(opened(**options).generate(["?"], sampling)).samples[0]

    assert given.token_logprobs == (-0.25, -0.25, -0.25)
    assert missing.token_logprobs is None


def test_a_server_that_ignores_stops_has_its_samples_cut(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda _: "Paris\nQuestion: and Rome?"

    sample = only(opened(**options).generate(["?"], Sampling(stop=("\n",), logprobs=True))).samples[0]

    assert (sample.text, sample.token_logprobs, sample.finish_reason) == ("Paris", (-0.25,), "stop")


def test_of_an_empty_sample_the_first_log_probability_is_kept(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda _: "\nParis"

    sample = only(opened(**options).generate(["?"], Sampling(stop=("\n",), logprobs=True))).samples[0]

    assert (sample.text, sample.token_logprobs) == ("", (-0.25,))


@pytest.mark.parametrize("name", ["temperature", "logprobs", "seed", "stop"])
def test_a_parameter_that_is_refused_is_dropped_once_and_reported(server: Any, options: dict[str, Any], name: str) -> None:
    server.refused = {name: f"Unsupported parameter: '{name}' is not supported with this model."}
    generator = opened(**options)
    sampling = Sampling(logprobs=True, seed=1, stop=("###",))

    generations = [only(generator.generate([prompt], sampling)) for prompt in ("A?", "B?", "C?")]

    assert [generation.failure for generation in generations] == [None, None, None]
    assert [name in body for body in server.requests] == [True, False, False, False]
    assert generator.spending.notes == (f"openai:small refuses {name}; it is no longer sent",)
    assert sum(usage.retries for usage in generator.spending.usage) == 1


def test_a_reasoning_model_gets_its_limit_under_the_newer_name_with_room_for_thoughts(
    server: Any, options: dict[str, Any]
) -> None:
    server.refused = {
        "max_tokens": "Unsupported parameter: max_tokens is not supported. Use max_completion_tokens instead.",
        "temperature": "Unsupported value: temperature does not support 0. Only the default (1) is supported.",
    }
    generator = opened(thinking_tokens=1000, **options)

    generation = only(generator.generate(["A?"], Sampling(max_tokens=50)))

    assert generation.failure is None
    assert server.answered[0]["max_completion_tokens"] == 1050
    assert "max_tokens" not in server.answered[0]
    assert len(generator.spending.notes) == 2


def test_a_value_that_is_refused_is_not_dropped(server: Any, options: dict[str, Any]) -> None:
    server.refused = {"max_tokens": "max_tokens is too large: 90000. This model allows at most 4096 completion tokens"}

    generation = only(opened(**options).generate(["A?"], Sampling(max_tokens=90_000)))

    assert generation.failure is not None
    assert generation.failure.kind == "bad request"
    assert "at most 4096" in generation.failure.message
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("formats", "used"),
    [({"json_schema", "json_object"}, "json_schema"), ({"json_object"}, "json_object"), (set(), None)],
)
def test_structured_output_falls_back_once_and_says_so(
    server: Any, options: dict[str, Any], formats: set[str], used: str | None
) -> None:
    server.formats, server.reply = formats, lambda _: '{"parts": ["a", "b"]}'
    generator = opened(**options)

    generations = generator.generate(["A?"], schema=Parts) + generator.generate(["B?"], schema=Parts)

    assert [each.samples[0].text for each in generations] == ['{"parts":["a","b"]}'] * 2
    assert [body.get("response_format", {}).get("type") for body in server.answered] == [used, used]
    assert len(server.requests) - len(server.answered) == len(generator.spending.notes) == 2 - len(formats)
    if used != "json_schema":
        assert '"parts"' in server.answered[0]["messages"][0]["content"]


def test_a_json_schema_is_sent_as_strict(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda _: '{"parts": []}'

    opened(**options).generate(["A?"], schema=Parts)

    sent = server.requests[0]["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["additionalProperties"] is False
    assert sent["schema"]["required"] == ["parts"]


def test_a_malformed_reply_is_asked_for_once_more(server: Any, options: dict[str, Any]) -> None:
    replies = iter(["I would rather not.", '{"parts": ["a"]}'])
    server.reply = lambda _: next(replies)
    generator = opened(**options)

    generation = only(generator.generate(["A?"], schema=Parts, purpose="decompose"))

    assert generation.samples[0].text == '{"parts":["a"]}'
    assert [message["role"] for message in server.requests[1]["messages"]] == ["user", "assistant", "user"]
    assert generator.spending.usage[0].calls == 2
    assert generation.prompt_tokens == 20


def test_a_reply_malformed_twice_is_asked_for_afresh(server: Any, options: dict[str, Any]) -> None:
    replies = iter(["I would rather not.", "Still not.", '{"parts": ["a"]}'])
    server.reply = lambda _: next(replies)
    generator = opened(**options)

    generation = only(generator.generate(["A?"], Sampling(seed=5), schema=Parts))

    assert generation.samples[0].text == '{"parts":["a"]}'
    assert server.requests[2]["messages"] == server.requests[0]["messages"]
    assert [body["temperature"] for body in server.requests] == [0.0, 0.0, 0.7]
    assert server.requests[0]["seed"] != server.requests[2]["seed"]
    assert [(usage.calls, usage.failures) for usage in generator.spending.usage] == [(3, 0)]


def test_what_stays_malformed_is_a_counted_failure_with_the_raw_text(server: Any, options: dict[str, Any]) -> None:
    replies = iter(["I would rather not.", "Still not.", '{"portions": ["a"]}'])
    server.reply = lambda _: next(replies)
    generator = opened(**options)

    generation = only(generator.generate(["A?"], schema=Parts, purpose="decompose"))

    assert generation.samples == ()
    assert generation.failure is not None
    assert (generation.failure.kind, generation.failure.attempts) == ("malformed", 3)
    assert all(said in (generation.failure.raw or "") for said in ("I would rather not.", "Still not.", "portions"))
    assert generator.spending.usage[0].failures == 1
    assert len(server.requests) == 3


def test_prompts_without_answers_cost_nothing(server: Any, options: dict[str, Any]) -> None:
    assert opened(**options).generate([]) == []
    assert server.requests == []


def test_half_a_character_does_not_stop_a_request(options: dict[str, Any]) -> None:
    assert only(opened(**options).generate(["a\ud800b"])).failure is None


def test_without_a_key_openai_is_not_asked() -> None:
    generator = open_generator(MODEL)

    with pytest.raises(InvalidValueError, match="needs a key: set OPENAI_API_KEY"):
        generator.generate(["A?"])


def test_a_server_of_ones_own_needs_no_key(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    by_argument = opened(base_url=server.base_url).generate(["A?"])
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    by_environment = open_generator("openai:other").generate(["A?"])

    assert [only(each).failure for each in (by_argument, by_environment)] == [None, None]


def test_the_environment_names_server_and_key(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server.needs_key = "from-the-environment"
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")

    assert only(open_generator(MODEL).generate(["A?"])).failure is None


def test_a_model_that_thinks_through_its_limit_is_given_more(server: Any, options: dict[str, Any]) -> None:
    def reply(body: dict[str, Any]) -> str:
        return '{"parts": ["a"]}' if body["max_tokens"] > 1_000 else "<think>Let me see, what could the parts be"

    server.reply, server.finish_reason = reply, "length"
    generator = opened(**options)

    generation = only(generator.generate(["A?"], Sampling(max_tokens=100), schema=Parts))

    assert generation.failure is None
    assert [body["max_tokens"] for body in server.requests] == [100, 4196]
    assert generator.spending.notes == ("openai:small thinks before it replies; it is given more tokens",)


def test_what_servers_should_not_send_is_read_all_the_same(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda _: "half a \ud800 character"

    sample = only(opened(**options).generate(["A?"])).samples[0]

    assert sample.text == "half a \ufffd character"


@pytest.mark.parametrize("thoughts", ["", "<think>Let me see, what could the answer be"])
def test_a_free_reply_that_is_thoughts_alone_is_asked_for_with_more_room(
    server: Any, options: dict[str, Any], thoughts: str
) -> None:
    def reply(body: dict[str, Any]) -> str:
        server.finish_reason = "stop" if body["max_tokens"] > 1_000 else "length"
        return "Paris" if body["max_tokens"] > 1_000 else thoughts

    server.reply = reply

    generation = only(opened(**options).generate(["Capital?"], Sampling(max_tokens=100)))

    assert [sample.text for sample in generation.samples] == ["Paris"]


def test_thoughts_that_never_end_are_a_failure_and_no_sample(server: Any, options: dict[str, Any]) -> None:
    server.reply, server.finish_reason = lambda _: "<think>Paris, or perhaps", "length"

    generation = only(opened(**options).generate(["Capital?"]))

    assert generation.samples == ()
    assert generation.failure is not None
    assert (generation.failure.kind, len(server.requests)) == ("malformed", 2)
    assert "thoughts alone" in generation.failure.message


@pytest.mark.parametrize("schema", [None, Parts])
def test_a_reply_cut_by_a_filter_is_a_failure_and_no_sample(server: Any, options: dict[str, Any], schema: Any) -> None:
    server.reply, server.finish_reason = lambda _: '{"parts": []}', "content_filter"

    generation = only(opened(**options).generate(["Capital?"], schema=schema))

    assert generation.samples == ()
    assert generation.failure is not None
    assert (generation.failure.kind, len(server.requests)) == ("filtered", 1)
