from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LogProb

from rag_cover_llama_index.completions import read_response


def place(token: str, logprob: float) -> LogProb:
    return LogProb.model_validate({"token": token, "logprob": logprob})


def test_a_chat_answer_and_a_completion_are_read_alike() -> None:
    chat = ChatResponse(message=ChatMessage(role="assistant", content="Paris"))
    completion = CompletionResponse(text="Paris")

    assert read_response(chat) == read_response(completion)
    assert read_response(chat).sample.text == "Paris"


def test_an_answer_without_text_is_an_empty_one() -> None:
    assert read_response(ChatResponse(message=ChatMessage(role="assistant"))).sample.text == ""


def test_what_no_server_told_is_unknown_and_not_0() -> None:
    written = read_response(CompletionResponse(text="Paris", raw={"usage": {}}))

    assert (written.prompt_tokens, written.completion_tokens) == (None, None)
    assert written.sample.finish_reason is None
    assert written.sample.token_logprobs is None


def test_an_answer_ends_where_it_should_have_stopped() -> None:
    logprobs = [[place("Paris", -0.1)], [place("\nContext:", -0.2)]]

    sample = read_response(CompletionResponse(text="Paris\nContext:", logprobs=logprobs), stop=("\n",)).sample

    assert (sample.text, sample.finish_reason, sample.token_logprobs) == ("Paris", "stop", None)


@pytest.mark.parametrize(
    ("raw", "counts"),
    [
        ({"usage": {"prompt_tokens": 7, "completion_tokens": 2}}, (7, 2)),
        (SimpleNamespace(usage=SimpleNamespace(prompt_tokens=7, completion_tokens=2)), (7, 2)),
        ({"usage": SimpleNamespace(input_tokens=7, output_tokens=2)}, (7, 2)),
        ({"usage_metadata": {"prompt_token_count": 7, "candidates_token_count": 2}}, (7, 2)),
        ({"prompt_eval_count": 7, "eval_count": 0}, (7, 0)),
        ({"usage": {"prompt_tokens": True, "completion_tokens": -1}}, (None, None)),
        ("plain text", (None, None)),
    ],
)
def test_token_counts_are_read_in_the_shapes_of_several_servers(raw: object, counts: tuple[int | None, int | None]) -> None:
    written = read_response(CompletionResponse(text="Paris", raw=raw))

    assert (written.prompt_tokens, written.completion_tokens) == counts


def test_token_counts_may_stand_beside_the_answer() -> None:
    written = read_response(CompletionResponse(text="Paris", additional_kwargs={"prompt_tokens": 7, "completion_tokens": 2}))

    assert (written.prompt_tokens, written.completion_tokens) == (7, 2)


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ({"choices": [{"finish_reason": "length"}]}, "length"),
        (SimpleNamespace(choices=[SimpleNamespace(finish_reason="stop")]), "stop"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"done_reason": "stop"}, "stop"),
        ({"choices": [{"finish_reason": "content_filter"}]}, "filter"),
        ({"choices": [{"finish_reason": "tool_calls"}]}, None),
        ({"choices": []}, None),
    ],
)
def test_how_an_answer_ended_is_read_in_the_shapes_of_several_servers(raw: object, finish: str | None) -> None:
    assert read_response(CompletionResponse(text="Paris", raw=raw)).sample.finish_reason == finish


def test_the_sampled_tokens_log_probabilities_are_taken_before_the_likeliest_ones() -> None:
    sampled = [{"token": "Lon", "logprob": -1.5}, {"token": "don", "logprob": 0.0005}]
    likeliest = [[place("Par", -0.1)], [place("is", -0.1)]]
    raw = {"choices": [{"logprobs": {"content": sampled}}]}

    sample = read_response(CompletionResponse(text="London", raw=raw, logprobs=likeliest)).sample

    assert sample.token_logprobs == (-1.5, 0.0)


def test_log_probabilities_of_other_tokens_than_the_texts_are_none() -> None:
    likeliest = [[place("Par", -0.1)], [place("is", -0.1)]]

    assert read_response(CompletionResponse(text="London", logprobs=likeliest)).sample.token_logprobs is None
    assert read_response(CompletionResponse(text="Paris", logprobs=likeliest)).sample.token_logprobs == (-0.1, -0.1)


def test_a_log_probability_that_is_none_leaves_the_sample_without() -> None:
    raw = {"choices": [{"logprobs": {"content": [{"token": "Paris", "logprob": float("nan")}]}}]}

    assert read_response(CompletionResponse(text="Paris", raw=raw)).sample.token_logprobs is None
