"""LangSmith runs, exported as JSON, JSONL, CSV or Parquet, flat or with their ``child_runs`` inside.

https://docs.langchain.com/langsmith/run-data-format
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rag_cover.errors import InputError
from rag_cover.importers.records import Row
from rag_cover.importers.timestamps import moment_of
from rag_cover.questions import json_value
from rag_cover.spans.calls import call_data, first_of, whole_number
from rag_cover.spans.model import CallSpan, SpanKind
from rag_cover.spans.passages import passages_from
from rag_cover.spans.payloads import answer_of, decode_value, documents_of

__all__ = ["recognises", "spans_of"]

_THREADS = ("thread_id", "session_id", "conversation_id")
"""The keys of a run's metadata by which LangSmith puts runs into threads."""
_USERS = ("user_id",)

_KINDS: Mapping[str, SpanKind] = {"retriever": "retriever", "tool": "tool", "llm": "llm"}


def recognises(row: Row) -> bool:
    """Return whether this is a run, by its fields."""
    return "run_type" in row and ("inputs" in row or "outputs" in row)


def spans_of(run: Row) -> Iterator[CallSpan]:
    """Read a run and the runs inside it."""
    waiting: list[tuple[Row, str | None, str | None]] = [(run, None, None)]
    while waiting:
        row, trace_id, parent_id = waiting.pop()
        span = _span(row, trace_id, parent_id)
        yield span
        inner = decode_value(row.get("child_runs"))
        children = [child for child in inner if isinstance(child, Mapping)] if isinstance(inner, list) else []
        waiting.extend((child, span.trace_id, span.id) for child in reversed(children))


def _span(row: Row, trace_id: str | None, parent_id: str | None) -> CallSpan:
    outputs = decode_value(row.get("outputs"))
    kind = _kind(row, outputs)
    span_id = _find_text(row, "id", "run_id")
    given = _find_given(row)
    if span_id is None:
        problem = "this run has no id"
        raise InputError(problem)
    return CallSpan(
        id=span_id,
        trace_id=_find_text(row, "trace_id") or trace_id or span_id,
        parent_id=_find_text(row, "parent_run_id") or parent_id,
        kind=kind,
        name=_find_text(row, "name") or "",
        input=decode_value(row.get("inputs")),
        output=outputs,
        passages=_passages(kind, outputs),
        consumed=_consume(kind, row),
        started_at=moment_of(row.get("start_time")),
        ended_at=moment_of(row.get("end_time")),
        error=_find_text(row, "error"),
        pipeline=_find_text(row, "session_name", "project_name"),
        references=_references(row),
        call=_call(row, outputs, given) if kind == "llm" else None,
        tags=_tags(row),
        thread_id=_find_text(given, *_THREADS),
        user_id=_find_text(given, *_USERS),
        metadata=dict(json_value({name: value for name, value in given.items() if name not in (*_THREADS, *_USERS)})),
    )


def _kind(row: Row, outputs: Any) -> SpanKind:
    """Name a run's kind; LangSmith has none for rerankers, so one is known by its name and the documents it returns."""
    kind = str(row.get("run_type") or "").lower()
    if "rerank" in str(row.get("name") or "").lower() and documents_of(outputs):
        return "reranker"
    return _KINDS.get(kind, "other")


def _passages(kind: SpanKind, outputs: Any) -> list[dict[str, Any]]:
    if kind not in ("retriever", "reranker", "tool"):
        return []
    documents = documents_of(outputs)
    if not documents and kind == "retriever" and isinstance(outputs, Mapping):
        lists = (value for value in outputs.values() if isinstance(value, list))
        documents = next((texts for texts in lists if texts and all(isinstance(text, str) for text in texts)), [])
    return passages_from(documents, field="$.outputs")


def _consume(kind: SpanKind, row: Row) -> list[dict[str, Any]]:
    return passages_from(documents_of(row.get("inputs")), field="$.inputs") if kind == "reranker" else []


def _references(row: Row) -> tuple[str, ...]:
    """Return the dataset's answer, where the run was one of an experiment."""
    found = answer_of(row.get("reference_outputs"))
    return () if found is None else (found,)


def _find_given(row: Row) -> dict[str, Any]:
    """Read the metadata that was given with a run."""
    extra = decode_value(row.get("extra"))
    given = extra.get("metadata") if isinstance(extra, Mapping) else None
    return dict(given) if isinstance(given, Mapping) else {}


def _tags(row: Row) -> tuple[str, ...]:
    tags = decode_value(row.get("tags"))
    return tuple(str(tag) for tag in tags if str(tag).strip()) if isinstance(tags, list) else ()


def _call(row: Row, outputs: Any, given: Row) -> dict[str, Any]:
    """Read what is known of a model's call, from the run, its metadata, its invocation parameters and its output."""
    extra = decode_value(row.get("extra"))
    asked = extra.get("invocation_params") if isinstance(extra, Mapping) else None
    invoked = {"model": first_of(asked, ("model", "model_name"))}
    counted = {name: whole_number(row.get(name)) for name in ("prompt_tokens", "completion_tokens")}
    return call_data(outputs, counted, {"model": _find_text(given, "ls_model_name")}, invoked)


def _find_text(row: Row, *names: str) -> str | None:
    values = (row.get(name) for name in names)
    said = (str(value) for value in values if value is not None and value == value)  # noqa: PLR0124 -- NaN
    return next((text for text in said if text.strip()), None)
