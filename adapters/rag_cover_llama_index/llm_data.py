"""What is known of a call of one of LlamaIndex's models: which one, its tokens, how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatResponse, CompletionResponse

from rag_cover.llm_calls import read_finish_reason

__all__ = ["read_model", "read_usage"]

_PROMPT = ("prompt_tokens", "input_tokens", "prompt_token_count", "prompt_eval_count")
_COMPLETION = ("completion_tokens", "output_tokens", "candidates_token_count", "eval_count")
_FINISHED = ("finish_reason", "stop_reason", "done_reason")
_USAGE = ("usage", "usage_metadata", "token_usage")
_CHOICES = ("choices", "candidates")


def read_model(llm: object) -> dict[str, Any]:
    """Read a model's name; nothing where it says none."""
    name = getattr(getattr(llm, "metadata", None), "model_name", None)
    is_known = isinstance(name, str) and name.strip() and name != "unknown"  # what LlamaIndex says of others
    return {"model": name} if is_known else {}


def read_usage(response: ChatResponse | CompletionResponse) -> dict[str, Any]:
    """Read a reply's tokens and finish reason, where the integrations of LlamaIndex put them; what is not told is left out.

    >>> raw = {"usage": {"input_tokens": 3, "output_tokens": 1}, "stop_reason": "end_turn"}
    >>> read_usage(CompletionResponse(text="Hi.", raw=raw))
    {'prompt_tokens': 3, 'completion_tokens': 1, 'finish_reason': 'stop'}
    """
    told = list(_sources(response))
    reason = next((word for each in told for name in _FINISHED if (word := _word(_field(each, name)))), None)
    found = {
        "prompt_tokens": _count(told, _PROMPT),
        "completion_tokens": _count(told, _COMPLETION),
        "finish_reason": read_finish_reason(reason),
    }
    return {name: value for name, value in found.items() if value is not None}


def _sources(response: ChatResponse | CompletionResponse) -> Iterator[object]:
    """Yield what may hold counts and reasons, the surest first."""
    raw = response.raw
    for name in _USAGE:
        yield _field(raw, name)
    for name in _CHOICES:
        choices = _field(raw, name)
        yield choices[0] if isinstance(choices, list | tuple) and choices else None
    yield raw
    yield response.additional_kwargs
    if isinstance(response, ChatResponse):
        yield response.message.additional_kwargs


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _count(told: list[object], names: tuple[str, ...]) -> int | None:
    counts = (_field(each, name) for each in told if each is not None for name in names)
    return next((count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count >= 0), None)


def _word(value: object) -> str | None:
    """Return a text, also of an enumeration."""
    word = getattr(value, "name", value) if not isinstance(value, str) else value
    return word if isinstance(word, str) else None
