"""What a LlamaIndex language model wrote, read as a sample: its text, how it ended, its log-probabilities, its tokens.

Each integration keeps its server's answer in ``raw`` in that server's own shape. What is not found there is unknown: None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llama_index.core.base.llms.types import ChatResponse, CompletionResponse

from rag_cover.traces import Sample

__all__ = ["Written", "written_of"]

Response = ChatResponse | CompletionResponse
Finish = Literal["stop", "length", "filter"]

_FINISHED: Mapping[str, Finish] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filter",
    "safety": "filter",
    "refusal": "filter",
}
_ASKED = ("prompt_tokens", "input_tokens", "prompt_token_count", "prompt_eval_count")
_TOLD = ("completion_tokens", "output_tokens", "candidates_token_count", "eval_count")
_ROUNDING = 1e-3  # servers round log-probabilities of certain tokens to a hair above 0


@dataclass(frozen=True, slots=True)
class Written:
    """One answer of a language model; a count of tokens is None where it is not told."""

    sample: Sample
    prompt_tokens: int | None
    completion_tokens: int | None


def written_of(response: Response, *, stop: Sequence[str] = ()) -> Written:
    """Read an answer, up to the first of the texts where it should have stopped."""
    text = (response.message.content if isinstance(response, ChatResponse) else response.text) or ""
    kept = text[: min((place for mark in stop if (place := text.find(mark)) >= 0), default=len(text))]
    sample = Sample(
        kept,
        token_logprobs=_logprobs(response, kept) if kept == text else None,  # else they are those of more than the sample
        finish_reason=_finish(response.raw) if kept == text else "stop",
    )
    return Written(sample, _tokens(response, _ASKED), _tokens(response, _TOLD))


def _finish(raw: object) -> Finish | None:
    for where, name in ((_choice(raw), "finish_reason"), (raw, "stop_reason"), (raw, "done_reason")):
        if (told := _of(where, name)) is not None:
            return _FINISHED.get(str(getattr(told, "value", told)).lower())
    return None


def _tokens(response: Response, names: Sequence[str]) -> int | None:
    raw = response.raw
    for where in (response.additional_kwargs, _of(raw, "usage"), _of(raw, "usage_metadata"), raw):
        for name in names:
            count = _of(where, name)
            if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
                return count
    return None


def _logprobs(response: Response, text: str) -> tuple[float, ...] | None:
    """Read each token's log-probability; None unless it is certain that the tokens are those of the text.

    LlamaIndex lists the likeliest tokens of each place, of which the one that was sampled need not be the first.
    """
    content = _of(_of(_choice(response.raw), "logprobs"), "content")
    tokens = content if isinstance(content, list) else [place[0] for place in response.logprobs or () if place]
    if not tokens or "".join(str(_of(token, "token")) for token in tokens) != text:
        return None
    values = [_of(token, "logprob") for token in tokens]
    known = [min(0.0, float(value)) for value in values if isinstance(value, int | float) and _is_logprob(value)]
    return tuple(known) if len(known) == len(values) else None


def _is_logprob(value: float) -> bool:
    return not math.isnan(value) and value <= _ROUNDING


def _choice(raw: object) -> object | None:
    choices = _of(raw, "choices")
    return choices[0] if isinstance(choices, Sequence) and choices else None


def _of(holder: Any, name: str) -> Any:  # whatever an integration keeps
    """Take a field of a mapping or an object."""
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
