"""Calls of language models that a pipeline made for one question: who was asked for what, with which passages, at what cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, NaiveDatetime

from rag_cover.questions import Metadata, ReadOnly, Value

__all__ = ["CallPurpose", "FinishReason", "LLMCall", "read_finish_reason"]

CallPurpose = Literal["answer", "decompose", "rewrite", "retrieve", "rerank", "route", "summarise", "judge", "tool", "other"]
"""What a call was for: the answer or a part of it, sub-questions, a search query, what a retriever or a reranker asked, the
choice of a route, a summary, a verdict, the choice of a tool or its arguments, or something else."""

FinishReason = Literal["stop", "length", "filter", "tool", "other"]
"""How a reply ended: by itself, cut off at a limit of tokens, withheld by a filter, with a call of a tool, or otherwise."""

Count = Annotated[int, Field(ge=0)]

_REASONS: Mapping[str, FinishReason] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "eos"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens"), "length"),
    **dict.fromkeys(("content_filter", "safety", "refusal", "filter"), "filter"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call", "tool"), "tool"),
}


class LLMCall(Value):
    """One call of a language model. None stands for what is not known, never for zero.

    ``engine`` is the name of the part of the pipeline that made the call, such as that of a sub-engine, and ``parent_id`` the
    step or call that it was made within; it is nesting only. ``passages`` names those whose text was in the call's input, by
    their ids or keys (`rag_cover.Passage.key`); an empty list says that there were none. ``input`` and ``output`` are the texts
    themselves, where texts are recorded.
    """

    id: str | None = None
    model: str | None = None
    purpose: CallPurpose | None = None
    engine: str | None = None
    parent_id: str | None = None
    passages: tuple[str, ...] | None = None
    input: str | None = None
    output: str | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    finish_reason: FinishReason | None = None
    started_at: AwareDatetime | NaiveDatetime | None = None
    latency_s: Annotated[float, Field(ge=0)] | None = None
    error: str | None = None
    metadata: Metadata = Field(default_factory=ReadOnly)


def read_finish_reason(word: object) -> FinishReason | None:
    """Read a server's word for how a reply ended; None where nothing was said.

    >>> read_finish_reason("end_turn"), read_finish_reason("MAX_TOKENS"), read_finish_reason("paused"), read_finish_reason(None)
    ('stop', 'length', 'other', None)
    """
    said = "" if word is None else str(getattr(word, "value", word)).strip().lower()
    return _REASONS.get(said, "other") if said else None
