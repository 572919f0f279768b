"""What a framework's language model wrote, read as a sample: its text, how it ended, its log-probabilities, its tokens.

Frameworks keep the server's answer, or parts of it, in that server's own shape. What is not found there is unknown: None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rag_cover.llm_calls import read_finish_reason
from rag_cover.traces import Sample

__all__ = ["Written", "describe_completion", "first_choice_of", "get_field", "sample_from_completion"]

Finish = Literal["stop", "length", "filter"]

_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason")
_MODELS = ("model_name", "model", "model_id")
_USAGES = ("usage", "usage_metadata", "token_usage")
_ASKED = ("prompt_tokens", "input_tokens", "prompt_token_count", "prompt_eval_count")
_TOLD = ("completion_tokens", "output_tokens", "candidates_token_count", "eval_count")
_ROUNDING = 1e-3  # servers round log-probabilities of certain tokens to a hair above 0


@dataclass(frozen=True, slots=True)
class Written:
    """One answer of a language model; a count of tokens is None where the server does not report it."""

    sample: Sample
    prompt_tokens: int | None
    completion_tokens: int | None


def sample_from_completion(
    text: str, *, reports: Sequence[object], tokens: Sequence[object] = (), stop: Sequence[str] = ()
) -> Written:
    """Read an answer, up to the first of the texts where it should have stopped.

    Args:
        text: all that was written.
        reports: what the server told about it, whatever its shape; what an earlier one tells is believed before a later one.
        tokens: the sampled tokens, each with a ``token`` and a ``logprob``; kept only where they are those of the text.
        stop: texts that end the answer.
    """
    kept = text[: min((place for mark in stop if (place := text.find(mark)) >= 0), default=len(text))]
    whole = kept == text
    sample = Sample(
        kept,
        token_logprobs=_logprobs(tokens, kept) if whole else None,  # else they are those of more than the sample
        finish_reason=_finish(reports) if whole else "stop",
    )
    return Written(sample, _count(reports, _ASKED), _count(reports, _TOLD))


def describe_completion(reports: Sequence[object]) -> dict[str, Any]:
    """Read what a server told about an answer beside its text: model, tokens, finish reason, as fields of an `LLMCall`.

    What an earlier report tells is believed before a later one; what none tells is left out.

    >>> describe_completion([{"usage": {"prompt_tokens": 3}}, {"model": "small", "stop_reason": "end_turn"}])
    {'model': 'small', 'prompt_tokens': 3, 'finish_reason': 'stop'}
    """
    reports = [report for report in reports if report is not None]
    models = (get_field(report, name) for report in reports for name in _MODELS)
    found = {
        "model": next((each for each in models if isinstance(each, str) and each.strip()), None),
        "prompt_tokens": _count(reports, _ASKED),
        "completion_tokens": _count(reports, _TOLD),
        "finish_reason": read_finish_reason(_reason(reports)),
    }
    return {name: value for name, value in found.items() if value is not None}


def first_choice_of(report: object) -> object | None:
    """Return the first of a server's choices, None where it lists none."""
    choices = get_field(report, "choices")
    return choices[0] if isinstance(choices, Sequence) and choices else None


def get_field(report: Any, name: str) -> Any:  # whatever a server tells
    """Take a field of a mapping or an object, None where it has no such field."""
    return report.get(name) if type(report) is dict or isinstance(report, Mapping) else getattr(report, name, None)


def _reason(reports: Sequence[object]) -> object:
    """Return a server's word for why an answer ended, None where it gives none."""
    places = [place for report in reports for place in (first_choice_of(report), report) if place is not None]
    told = [get_field(place, name) for place in places for name in _REASONS]
    told += [get_field(get_field(report, "incomplete_details"), "reason") for report in reports]
    return next((each for each in told if each is not None), None)


def _finish(reports: Sequence[object]) -> Finish | None:
    match read_finish_reason(_reason(reports)):
        case "tool" | "other":
            return None
        case found:
            return found


def _count(reports: Sequence[object], names: Sequence[str]) -> int | None:
    places = (place for report in reports for place in (*(get_field(report, usage) for usage in _USAGES), report))
    counts = (get_field(place, name) for place in places if place is not None for name in names)
    return next((each for each in counts if isinstance(each, int) and not isinstance(each, bool) and each >= 0), None)


def _logprobs(tokens: Sequence[object], text: str) -> tuple[float, ...] | None:
    """Read each token's log-probability; None unless it is certain that the tokens are those of the text."""
    if not tokens or "".join(str(get_field(token, "token")) for token in tokens) != text:
        return None
    values = [get_field(token, "logprob") for token in tokens]
    known = [min(0.0, float(value)) for value in values if isinstance(value, int | float) and _is_logprob(value)]
    return tuple(known) if len(known) == len(values) else None


def _is_logprob(value: float) -> bool:
    return not math.isnan(value) and value <= _ROUNDING
