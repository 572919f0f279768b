"""How long a trace took and what its calls of models cost, where it tells."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import numpy as np

from rag_cover.dashboards.result import Spread
from rag_cover.llm.usage import Price
from rag_cover.traces import Trace

__all__ = ["CostSums", "count_tokens", "latency_of", "latest_time", "price_calls"]

_UPPER = 0.9
_MILLION = 1_000_000


class CostSums:
    """Gathers latency, tokens and cost of traces added one by one."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = prices
        self._latency, self._tokens, self._cost = array("d"), array("d"), array("d")

    def add(self, trace: Trace) -> None:
        """Add what a trace tells."""
        known = (latency_of(trace), count_tokens(trace), price_calls(trace, self._prices))
        for values, value in zip((self._latency, self._tokens, self._cost), known, strict=True):
            if value is not None:
                values.append(value)

    @property
    def spreads(self) -> tuple[Spread | None, Spread | None, Spread | None]:
        """Return how latency, tokens and cost are spread; None where no trace tells."""
        return _spread(self._latency), _spread(self._tokens), _spread(self._cost)


def latency_of(trace: Trace) -> float | None:
    """Return the seconds from the beginning of a trace's first step or call to the end of its last; None: it does not tell.

    It does not where a step or a call has no beginning or no length: the whole may have taken longer then.
    """
    spans = list(_spans(trace))
    if not spans or any(start is None or length is None for start, length in spans):
        return None
    known = [(start, length) for start, length in spans if start is not None and length is not None]
    first = min(start for start, _ in known)
    return max((start - first).total_seconds() + length for start, length in known)


def latest_time(trace: Trace) -> datetime | None:
    """Return when the last step or call of a trace began; None where it does not tell."""
    return max((start for start, _ in _spans(trace) if start is not None), default=None)


def count_tokens(trace: Trace) -> int | None:
    """Count the tokens of a trace's calls; None where they were not recorded, or a call does not tell."""
    counts = [(call.prompt_tokens, call.completion_tokens) for call in trace.calls or ()]
    if not counts or any(prompt is None or completion is None for prompt, completion in counts):
        return None
    return sum((prompt or 0) + (completion or 0) for prompt, completion in counts)


def price_calls(trace: Trace, prices: Mapping[str, Price]) -> float | None:
    """Price a trace's calls; None where one does not tell its tokens, or its model has no price.

    >>> from rag_cover.llm_calls import LLMCall
    >>> from rag_cover.questions import Question
    >>> trace = Trace(question=Question("Why?"), calls=(LLMCall(model="small", prompt_tokens=1000, completion_tokens=0),))
    >>> price_calls(trace, {"small": Price(prompt=0.5, completion=2.0)}), price_calls(trace, {})
    (0.0005, None)
    """
    cost = 0.0
    for call in trace.calls or ():
        price = prices.get(call.model or "")
        if price is None or call.prompt_tokens is None or call.completion_tokens is None:
            return None
        cost += (call.prompt_tokens * price.prompt + call.completion_tokens * price.completion) / _MILLION
    return cost if trace.calls else None


def _spans(trace: Trace) -> Iterator[tuple[datetime | None, float | None]]:
    """List when each step and call began, in UTC, and how many seconds it took; a time without a zone is taken for UTC."""
    spans = [(step.started_at, step.duration_s) for step in trace.steps]
    spans += [(call.started_at, call.latency_s) for call in trace.calls or ()]
    for start, length in spans:
        yield (None if start is None else _in_utc(start)), length


def _in_utc(time: datetime) -> datetime:
    if time.tzinfo is None:
        return time.replace(tzinfo=UTC)
    # not astimezone: at the ends of the calendar that overflows
    offset = time.utcoffset() or timedelta()
    try:
        return time.replace(tzinfo=UTC) - offset
    except OverflowError:
        return time.replace(tzinfo=UTC)


def _spread(values: array[float]) -> Spread | None:
    if not values:
        return None
    known = np.asarray(values, dtype=np.float64)
    median, upper = np.quantile(known, [0.5, _UPPER])
    return Spread(float(median), float(upper), float(known.mean()), len(known))
