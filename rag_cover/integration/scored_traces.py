"""Scores a trace without ever raising: a host that sees an exception repeats the call or loses the whole batch.

The core is synchronous, and measures where it is called: it needs no event loop and cannot meet one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from rag_cover.backends import Failure
from rag_cover.errors import InputError, RagCoverError
from rag_cover.evaluation import evaluate
from rag_cover.integration.inputs import Terms
from rag_cover.integration.lazy_models import LazyModels
from rag_cover.integration.scorings import Scored, Scoring
from rag_cover.measures import NotApplicable
from rag_cover.traces import Trace

__all__ = ["explain_failure", "score_trace"]

Item = TypeVar("Item")
Made = TypeVar("Made")

_logger = logging.getLogger(__name__)


def score_trace(read: Callable[[], Trace], *, by: Scoring[Any], models: LazyModels, terms: Terms) -> Scored:
    """Score the trace that ``read`` makes; what is missing or fails is reported in the result.

    Models are opened only for a trace that lacks nothing.
    """
    trace = None
    try:
        trace = read()
        return replace(_score(trace, by, models, terms), trace=trace)
    except Exception as broken:  # noqa: BLE001  # called by a host: recorded in the result
        return explain_failure(broken, trace=trace)


def explain_failure(error: Exception, *, trace: Trace | None = None) -> Scored:
    """Return why there is no score after an exception; unexpected exceptions are also logged, with their traceback."""
    refused = isinstance(error, RagCoverError)
    reason = str(error) if refused else f"{type(error).__name__}: {error}"
    if not refused:
        _logger.warning("an evaluator has no result: %s", reason, exc_info=error)
    failure = None if isinstance(error, InputError) else Failure(type(error).__name__, str(error))
    return Scored(trace=trace, invalid_reason=reason, failure=failure)


def _score(trace: Trace, by: Scoring[Any], models: LazyModels, terms: Terms) -> Scored:
    if missing := by.lacking(trace, terms):
        return Scored(invalid_reason="; ".join(missing))
    measure = by.measure_for(trace)
    if (reason := measure.not_applicable_reason(trace)) is not None:  # before any model is opened
        return Scored(invalid_reason=reason)
    run = evaluate([trace], measures=[measure], models=models.get(), engine=_Here())
    match run.results[0].outcomes[measure.name]:
        case NotApplicable(reason):
            return Scored(invalid_reason=reason)
        case Failure(kind, message) as failure:
            return Scored(invalid_reason=f"{message or 'a model failed'} ({kind})", failure=failure, judge=run.judge)
        case measured:
            return replace(by.read(measured, trace), judge=run.judge)


class _Here:
    """Runs a block on the calling thread: one trace needs no pool, and a model's calls stay in the caller's context."""

    def run(self, function: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        return map(function, items)
