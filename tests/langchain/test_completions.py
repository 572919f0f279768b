from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.messages import AIMessage
from langchain_core.outputs import Generation, LLMResult

from rag_cover.errors import ModelFailedError
from rag_cover_langchain.completions import read_completion, read_message


def test_a_message_and_a_completion_are_read_alike() -> None:
    completion = LLMResult(generations=[[Generation(text="Paris")]])

    assert read_message(AIMessage("Paris")) == read_completion(completion) == read_message("Paris")
    assert read_message(AIMessage("Paris")).sample.text == "Paris"


def test_of_a_message_in_blocks_the_text_is_read() -> None:
    blocks: list[Any] = [{"type": "reasoning", "reasoning": "Not London."}, {"type": "text", "text": "Par"}, "is"]

    assert read_message(AIMessage(content=blocks)).sample.text == "Paris"


def test_what_no_server_told_is_unknown_and_not_0() -> None:
    written = read_message(AIMessage("Paris", response_metadata={"token_usage": {}}))

    assert (written.prompt_tokens, written.completion_tokens) == (None, None)
    assert written.sample.finish_reason is None
    assert written.sample.token_logprobs is None


def test_an_answer_ends_where_it_should_have_stopped() -> None:
    tokens = [{"token": "Paris", "logprob": -0.1}, {"token": "\nContext:", "logprob": -0.2}]
    message = AIMessage("Paris\nContext:", response_metadata={"logprobs": {"content": tokens}, "finish_reason": "length"})

    sample = read_message(message, stop=("\n",)).sample

    assert (sample.text, sample.finish_reason, sample.token_logprobs) == ("Paris", "stop", None)


@pytest.mark.parametrize(
    ("metadata", "counts"),
    [
        ({"token_usage": {"prompt_tokens": 7, "completion_tokens": 2}}, (7, 2)),
        ({"usage": {"input_tokens": 7, "output_tokens": 2}}, (7, 2)),
        ({"prompt_eval_count": 7, "eval_count": 0}, (7, 0)),
        ({"token_usage": {"prompt_tokens": True, "completion_tokens": -1}}, (None, None)),
    ],
)
def test_token_counts_are_read_in_the_shapes_of_several_servers(
    metadata: dict[str, Any], counts: tuple[int | None, int | None]
) -> None:
    written = read_message(AIMessage("Paris", response_metadata=metadata))

    assert (written.prompt_tokens, written.completion_tokens) == counts


def test_what_langchain_counts_is_believed_before_what_the_server_wrote() -> None:
    message = AIMessage(
        "Paris",
        usage_metadata={"input_tokens": 9, "output_tokens": 3, "total_tokens": 12},
        response_metadata={"token_usage": {"prompt_tokens": 7, "completion_tokens": 2}},
    )

    written = read_message(message)

    assert (written.prompt_tokens, written.completion_tokens) == (9, 3)


def test_a_completion_tells_its_end_with_the_text_and_its_tokens_with_the_result() -> None:
    result = LLMResult(
        generations=[[Generation(text="Paris", generation_info={"finish_reason": "length"})]],
        llm_output={"token_usage": {"prompt_tokens": 7, "completion_tokens": 2}},
    )

    written = read_completion(result)

    assert written.sample.finish_reason == "length"
    assert (written.prompt_tokens, written.completion_tokens) == (7, 2)


@pytest.mark.parametrize(
    ("metadata", "finish"),
    [
        ({"finish_reason": "length"}, "length"),
        ({"finish_reason": "MAX_TOKENS"}, "length"),
        ({"stop_reason": "end_turn"}, "stop"),
        ({"stopReason": "max_tokens"}, "length"),
        ({"done_reason": "stop"}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "completed", "incomplete_details": None}, None),
        ({"finish_reason": "content_filter"}, "filter"),
        ({"finish_reason": "tool_calls"}, None),
        ({}, None),
    ],
)
def test_how_an_answer_ended_is_read_in_the_shapes_of_several_servers(metadata: dict[str, Any], finish: str | None) -> None:
    assert read_message(AIMessage("Paris", response_metadata=metadata)).sample.finish_reason == finish


@pytest.mark.parametrize(
    ("tokens", "logprobs"),
    [
        ([{"token": "Par", "logprob": -1.5}, {"token": "is", "logprob": 0.0005}], (-1.5, 0.0)),
        ([{"token": "Lon", "logprob": -0.1}, {"token": "don", "logprob": -0.1}], None),
        ([{"token": "Paris", "logprob": float("nan")}], None),
        (None, None),
    ],
)
def test_log_probabilities_are_those_of_the_texts_own_tokens_or_none(tokens: object, logprobs: object) -> None:
    message = AIMessage("Paris", response_metadata={"logprobs": {"content": tokens}})

    assert read_message(message).sample.token_logprobs == logprobs


def test_what_is_no_text_is_a_failure() -> None:
    with pytest.raises(ModelFailedError, match="'dict', which is neither a message nor a text") as failed:
        read_message({"answer": "Paris"})

    assert failed.value.kind == "malformed"
