"""Results as OpenInference attributes on OpenTelemetry spans, in a process that uses OpenTelemetry; nothing in any other.

A span that has ended cannot be added to, and results are known later than that. So each step's worth goes on a span of kind
EVALUATOR below the span that the step ran in; where it ran in none, a span of kind RETRIEVER or RERANKER is written for it,
with its own times and passages. https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from rag_cover.belief import StepUtility, TraceUtility
from rag_cover.measures import TraceResult
from rag_cover.traces import RetrievalStep

__all__ = ["NAME", "emit", "place"]

NAME = "opentelemetry"
"""The key of a trace's metadata under which it says where it stands in a distributed trace."""

ABSTAINED = "rag_cover.coverage.abstained"
"""The attribute that tells whether an answer declines to answer: ``no``, ``partly`` or ``wholly``; absent if unknown."""

_MODULE = "opentelemetry.trace"
_KIND = "openinference.span.kind"
Attributes = dict[str, str | int | float | bool]


def place() -> tuple[str, str, str] | None:
    """Return the trace id, span id and flags that are current on this thread or task, in hex; None outside of any span."""
    api = sys.modules.get(_MODULE)
    if api is None:
        return None
    context = api.get_current_span().get_span_context()
    return (f"{context.trace_id:032x}", f"{context.span_id:016x}", f"{context.trace_flags:02x}") if context.is_valid else None


def emit(result: TraceResult) -> None:
    """Write a result's spans, where the process uses OpenTelemetry."""
    api = sys.modules.get(_MODULE)
    if api is None:
        return
    tracer = api.get_tracer("rag_cover")
    where: Mapping[str, Any] = result.trace.metadata.get(NAME, {})
    _emit(tracer, "rag_cover.answer", _parent(api, where.get("root")), _answer_attributes(result))
    worths = {step.step: step for step in result.utility.steps} if result.utility else {}
    for step in result.trace.steps:
        parent = _parent(api, where.get("steps", {}).get(step.id))
        worth = _worth_attributes(worths.get(step.id), result.utility)
        if parent is not None:
            _emit(tracer, f"rag_cover.{step.kind}", parent, worth | {_KIND: "EVALUATOR"} if worth else {})
        else:
            _emit(tracer, step.id, _parent(api, where.get("root")), worth | _step_attributes(step), step)


def _emit(tracer: Any, name: str, parent: Any, attributes: Attributes, step: RetrievalStep | None = None) -> None:
    if not attributes:
        return
    started, ended = _times(step)
    tracer.start_span(name, context=parent, attributes=attributes, start_time=started).end(end_time=ended)


def _parent(api: Any, ids: Sequence[str] | None) -> Any:
    if ids is None:
        return None
    trace_id, span_id, flags = (int(each, 16) for each in ids)
    context = api.SpanContext(trace_id, span_id, is_remote=False, trace_flags=api.TraceFlags(flags))
    return api.set_span_in_context(api.NonRecordingSpan(context))


def _times(step: RetrievalStep | None) -> tuple[int | None, int | None]:
    """Return when a step began and ended, in nanoseconds since 1970; None: now."""
    if step is None or not isinstance(step.started_at, datetime) or step.started_at.tzinfo is None:
        return None, None
    ended = step.started_at + timedelta(seconds=step.duration_s or 0.0)
    return int(step.started_at.timestamp() * 1e9), int(ended.timestamp() * 1e9)


def _answer_attributes(result: TraceResult) -> Attributes:
    values, abstained = list(_list_known(result)), result.coverage.abstained if result.coverage else None
    if not values and abstained is None:
        return {}
    attributes: Attributes = {_KIND: "EVALUATOR", "input.value": result.trace.question.text}
    if result.trace.answer is not None:
        attributes["output.value"] = result.trace.answer
    for number, (name, value) in enumerate(values):
        attributes |= _evaluation(number, name, value)
    return attributes if abstained is None else attributes | {ABSTAINED: abstained}


def _worth_attributes(worth: StepUtility | None, utility: TraceUtility | None) -> Attributes:
    if worth is None or utility is None:
        return {}
    marginal = worth.marginal
    said = f"belief {marginal.prior.score:.3f} before the step, {marginal.posterior.score:.3f} after it"
    attributes = _evaluation(0, "delta_seper", marginal.value, explanation=said, identifier=utility.receiver)
    towards = "the gold answer" if utility.references == "gold" else "its own answer"
    attributes |= {"evaluations.0.evaluation.label": f"toward {towards}"}
    return attributes | {"input.value": worth.query}


def _evaluation(number: int, name: str, score: float, *, explanation: str = "", identifier: str = "") -> Attributes:
    start = f"evaluations.{number}.evaluation"
    told = {"explanation": explanation, "identifier": identifier}
    return {
        f"{start}.name": name,
        f"{start}.score": score,
        f"{start}.annotator_kind": "CODE",
        **{f"{start}.{field}": value for field, value in told.items() if value},
    }


def _step_attributes(step: RetrievalStep) -> Attributes:
    replaces = step.replaces
    prefix = "reranker.output_documents" if replaces else "retrieval.documents"
    attributes: Attributes = {_KIND: "RERANKER" if replaces else "RETRIEVER", "input.value": step.query}
    for number, passage in enumerate(step.passages):
        start = f"{prefix}.{number}.document"
        attributes[f"{start}.content"] = passage.text
        if passage.id is not None:
            attributes[f"{start}.id"] = passage.id
        if passage.score is not None:
            attributes[f"{start}.score"] = passage.score
        if passage.metadata:
            attributes[f"{start}.metadata"] = json.dumps(dict(passage.metadata), ensure_ascii=False)
    return attributes


def _list_known(result: TraceResult) -> Iterator[tuple[str, float]]:
    """Yield what is known of an answer as a whole, by name."""
    for measure, measured in result.measured.items():
        for name, value in measured.values.items():
            if value is not None:
                yield measure if name == "value" else name, value
