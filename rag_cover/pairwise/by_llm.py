"""Pairs judged by a language model, each in both orders, so that what comes first cannot decide who wins.

What cannot be read is asked for once more, and a failure after that. A pair with a failure in either order has no verdict: it
is no tie, and half a judgement would let the order in again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator

from rag_cover.backends import Failure, Generator
from rag_cover.llm.json_replies import parse_reply
from rag_cover.llm.prompt_safety import fence
from rag_cover.llm.prompts import Conversation, conversation
from rag_cover.llm.structured import replies_to
from rag_cover.pairwise.answers import AnswerPair
from rag_cover.pairwise.win_rates import PairVerdict, UnjudgedPair, Winner

__all__ = ["PreferenceReply", "by_generator", "which_is_better"]

_PROMPT = Path(__file__).with_name("prompt.toml")
_FIRST_A: Mapping[str, Winner] = {"1": "a", "2": "b", "tie": "tie"}
_FIRST_B: Mapping[str, Winner] = {"1": "b", "2": "a", "tie": "tie"}


class PreferenceReply(BaseModel):
    """Which answer is better, after the reason why."""

    model_config = ConfigDict(defer_build=True)  # when first used: importing is not the time

    reason: str = ""
    better: Literal["1", "2", "tie"]

    @field_validator("better", mode="before")
    @classmethod
    def _plainly(cls, better: object) -> object:
        return str(better).strip().casefold().removeprefix("answer").strip()


Preference = PreferenceReply | Failure


def by_generator(pairs: Sequence[AnswerPair], generator: Generator) -> list[PairVerdict | UnjudgedPair]:
    """Ask about every pair in both orders, all in one call; the same answers, up to white space, are a tie without asking.

    Raises:
        ModelFailedError: the generator broke its word and did not return one generation for each prompt.
    """
    orders = {index: _both_orders(pair) for index, pair in enumerate(pairs) if _judge_without_model(pair) is None}
    replies = _preferences([prompt for both in orders.values() for prompt in both], generator)
    return [
        _judge_without_model(pair) or _judge_from_preferences(pair, *(replies[prompt] for prompt in orders[index]))
        for index, pair in enumerate(pairs)
    ]


def which_is_better(question: str, first: str, second: str) -> Conversation:
    """Ask which of two answers is better, showing them in this order."""
    parts = [fence("question", question), fence("answer", first, number=1), fence("answer", second, number=2)]
    told = "Say which of the two answers above is better, 1, 2, or tie. Reply with the JSON only."
    return conversation(_instructions(), [*parts, told])


@cache
def _instructions() -> str:
    return str(tomllib.loads(_PROMPT.read_text(encoding="utf-8"))["compare"])


def _judge_without_model(pair: AnswerPair) -> PairVerdict | UnjudgedPair | None:
    """Judge what needs no question; None where one is needed."""
    a, b = pair.answer_a.text, pair.answer_b.text
    if a is None or b is None:
        return pair.leave_unjudged(f"{pair.a if a is None else pair.b} has no answer")
    if a.split() == b.split():
        return PairVerdict(pair.question, pair.a, pair.b, "tie", "tie", basis="identical")
    return None


def _both_orders(pair: AnswerPair) -> tuple[Conversation, Conversation]:
    question, a, b = pair.answer_a.question, pair.answer_a.text or "", pair.answer_b.text or ""
    return which_is_better(question, a, b), which_is_better(question, b, a)


def _preferences(prompts: Sequence[Conversation], generator: Generator) -> dict[Conversation, Preference]:
    """Ask each distinct prompt once: of three pipelines, two may say the same."""
    distinct = list(dict.fromkeys(prompts))
    replies = replies_to(distinct, generator, _read, schema=PreferenceReply, purpose="compare")
    return dict(zip(distinct, replies, strict=True))


def _read(_index: int, reply: str) -> PreferenceReply:
    return parse_reply(reply, PreferenceReply)


def _judge_from_preferences(pair: AnswerPair, ab: Preference, ba: Preference) -> PairVerdict | UnjudgedPair:
    if isinstance(ab, Failure):
        return _mark_failed(pair, ab)
    if isinstance(ba, Failure):
        return _mark_failed(pair, ba)
    reasons = (ab.reason, ba.reason) if ab.reason or ba.reason else ()
    return PairVerdict(pair.question, pair.a, pair.b, _FIRST_A[ab.better], _FIRST_B[ba.better], reasons=reasons)


def _mark_failed(pair: AnswerPair, failure: Failure) -> UnjudgedPair:
    return pair.leave_unjudged(f"{failure.kind}: {failure.message}", failed=True)
