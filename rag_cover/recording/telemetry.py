"""Results on OpenTelemetry, in a process that uses it; nothing in any other.

Each score, and each measure that failed, is an event ``gen_ai.evaluation.result`` at the span that answered the question: a log
record where the process uses OpenTelemetry's logs, else an event of our own span. `rag_cover.recording.scores.NamedScore` lists
the labels.

OpenInference attributes go on a span of our own: one that has ended cannot be added to, and results are known later than that.
So each step's worth goes on a span of kind EVALUATOR below the span that the step ran in; where it ran in none, a span of kind
RETRIEVER or RERANKER is written for it, with its own times and passages.

https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md
https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from rag_cover.belief import StepUtility, TraceUtility
from rag_cover.measures import TraceResult
from rag_cover.recording.scores import Label, NamedScore, scores_of, toward
from rag_cover.traces import RetrievalStep

__all__ = ["NAME", "emit", "place"]

NAME = "opentelemetry"
"""The key of a trace's metadata under which it says where it stands in a distributed trace."""

ABSTAINED = "rag_cover.coverage.abstained"
"""The attribute that tells whether an answer declines to answer: ``no``, ``partly`` or ``wholly``; absent if unknown."""

_MODULE = "opentelemetry.trace"
_LOGS = "opentelemetry._logs"
_EVENT = "gen_ai.evaluation.result"
_NAME = "gen_ai.evaluation.name"
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
    """Write a result's events and spans, where the process uses OpenTelemetry."""
    api = sys.modules.get(_MODULE)
    if api is None:
        return
    tracer = api.get_tracer("rag_cover")
    where: Mapping[str, Any] = result.trace.metadata.get(NAME, {})
    root = _parent(api, where.get("root"))
    scores = tuple(scores_of(result))
    failures: list[Attributes] = [{_NAME: name, "error.type": each.kind} for name, each in result.failures.items()]
    events = [*map(_event, scores), *failures]
    if _log(events, root):
        events = []
    _emit(tracer, "rag_cover.answer", root, _answer_attributes(result, scores), events=events)
    worths = {step.step: step for step in result.utility.steps} if result.utility else {}
    for step in result.trace.steps:
        parent = _parent(api, where.get("steps", {}).get(step.id))
        worth = _worth_attributes(worths.get(step.id), result.utility, toward(result))
        if parent is not None:
            _emit(tracer, f"rag_cover.{step.kind}", parent, worth | {_KIND: "EVALUATOR"} if worth else {})
        else:
            _emit(tracer, step.id, root, worth | _step_attributes(step), step)


def _log(events: Sequence[Attributes], context: Any) -> bool:
    """Write events as log records at the span of a context; tell whether the process uses OpenTelemetry's logs."""
    logs = sys.modules.get(_LOGS)
    if logs is None or type(logs.get_logger_provider()).__module__.startswith(_LOGS):  # its stand-in for none
        return False
    logger = logs.get_logger("rag_cover")
    severity = logs.SeverityNumber.INFO
    try:
        records = [
            logs.LogRecord(context=context, severity_number=severity, attributes=attributes, event_name=_EVENT)
            for attributes in events
        ]
    except TypeError:  # of a version whose records are no events yet
        return False
    for record in records:
        logger.emit(record)
    return True


def _emit(
    tracer: Any,
    name: str,
    parent: Any,
    attributes: Attributes,
    step: RetrievalStep | None = None,
    events: Sequence[Attributes] = (),
) -> None:
    if not attributes and not events:
        return
    started, ended = _times(step)
    span = tracer.start_span(name, context=parent, attributes=attributes, start_time=started)
    for event in events:
        span.add_event(_EVENT, event)
    span.end(end_time=ended)


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


def _answer_attributes(result: TraceResult, scores: Sequence[NamedScore]) -> Attributes:
    abstained = result.coverage.abstained if result.coverage else None
    if not scores and abstained is None:
        return {}
    attributes: Attributes = {_KIND: "EVALUATOR", "input.value": result.trace.question.text}
    if result.trace.answer is not None:
        attributes["output.value"] = result.trace.answer
    for number, score in enumerate(scores):
        attributes |= _evaluation(number, score)
    return attributes if abstained is None else attributes | {ABSTAINED: abstained}


def _worth_attributes(worth: StepUtility | None, utility: TraceUtility | None, label: Label) -> Attributes:
    if worth is None or utility is None:
        return {}
    marginal = worth.marginal
    said = f"belief {marginal.prior.score:.3f} before the step, {marginal.posterior.score:.3f} after it"
    score = NamedScore("delta_seper", marginal.value, label, said)
    return {**_evaluation(0, score, identifier=utility.receiver), "input.value": worth.query}


def _evaluation(number: int, score: NamedScore, *, identifier: str = "") -> Attributes:
    start = f"evaluations.{number}.evaluation"
    told = {"label": score.label, "explanation": score.explanation, "identifier": identifier}
    return {
        f"{start}.name": score.name,
        f"{start}.score": score.value,
        f"{start}.annotator_kind": "CODE",
        **{f"{start}.{field}": value for field, value in told.items() if value},
    }


def _event(score: NamedScore) -> Attributes:
    told = {"score.label": score.label, "explanation": score.explanation}
    return {
        _NAME: score.name,
        "gen_ai.evaluation.score.value": score.value,
        **{f"gen_ai.evaluation.{field}": value for field, value in told.items() if value},
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
