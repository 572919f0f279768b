"""OpenInference spans: OTLP JSON as collectors write it, and Phoenix's exports, dotted or nested.

https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rag_cover.errors import InputError
from rag_cover.importers.documents import documents_under, flatten_attributes
from rag_cover.importers.records import Row
from rag_cover.importers.timestamps import moment_of
from rag_cover.llm_calls import read_finish_reason
from rag_cover.questions import json_value
from rag_cover.spans.calls import call_data, whole_number
from rag_cover.spans.model import CallSpan, SpanKind
from rag_cover.spans.passages import passages_from
from rag_cover.spans.payloads import decode_value, documents_of

__all__ = ["recognises", "spans_of"]

_KINDS: Mapping[str, SpanKind] = {"RETRIEVER": "retriever", "RERANKER": "reranker", "TOOL": "tool", "LLM": "llm"}
_TREE = (("resourceSpans", "resource_spans"), ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"), ("spans",))
_CONSUMED = (
    "input.",
    "output.",
    "retrieval.",
    "reranker.",
    "openinference.span.kind",
    "llm.output_messages",
    "llm.input_messages",
    "session.id",
    "tag.tags",
    "user.id",
)
_PROJECT = ("openinference.project.name", "service.name")


def recognises(row: Row) -> bool:
    """Return whether this is an OTLP export or a Phoenix span, by its fields."""
    if any(name in row for name in (*_TREE[0], "span_kind", "context.span_id")) or {"traceId", "spanId"} <= row.keys():
        return True
    context = row.get("context")
    return isinstance(context, Mapping) and "span_id" in context


def spans_of(row: Row) -> Iterator[CallSpan]:
    """Read the spans of one exported object: many of an OTLP one, else one."""
    if any(name in row for name in _TREE[0]):
        for resource in _make_list(row, _TREE[0]):
            project = _attributes(_mapping(resource.get("resource")).get("attributes"))
            for scope in _make_list(resource, _TREE[1]):
                yield from (_span(span, project) for span in _make_list(scope, _TREE[2]))
    else:
        yield _span(row, {})


def _span(row: Row, project: Row) -> CallSpan:
    attributes = _attributes(row.get("attributes")) | _expand_dotted(row)
    context = _mapping(row.get("context"))
    kind = _KINDS.get(str(attributes.get("openinference.span.kind") or row.get("span_kind") or "").upper(), "other")
    span_id = _first(row.get("spanId"), row.get("span_id"), row.get("context.span_id"), context.get("span_id"))
    trace_id = _first(row.get("traceId"), row.get("trace_id"), row.get("context.trace_id"), context.get("trace_id"))
    parent = _first(row.get("parentSpanId"), row.get("parent_span_id"), row.get("parent_id"))
    if span_id is None:
        problem = "this span has no id (spanId, or context.span_id)"
        raise InputError(problem)
    output = _payload(attributes, "output")
    return CallSpan(
        id=span_id,
        trace_id=trace_id or span_id,
        parent_id=parent,
        kind=kind,
        name=str(row.get("name") or ""),
        input=_payload(attributes, "input"),
        output=output,
        query=_first(attributes.get("reranker.query")),
        passages=_passages(kind, attributes),
        consumed=documents_under(attributes, "reranker.input_documents"),
        started_at=moment_of(_any(row, "startTimeUnixNano", "start_time_unix_nano", "start_time")),
        ended_at=moment_of(_any(row, "endTimeUnixNano", "end_time_unix_nano", "end_time")),
        error=_error(row, attributes),
        pipeline=_first(*(source.get(name) for source in (project, attributes) for name in _PROJECT)),
        call=_call(attributes, output) if kind == "llm" else None,
        tags=_tags(attributes),
        thread_id=_first(attributes.get("session.id")),
        user_id=_first(attributes.get("user.id"), _mapping(attributes.get("metadata")).get("user_id")),
        metadata=_metadata(attributes),
    )


def _passages(kind: SpanKind, attributes: Row) -> list[dict[str, Any]]:
    """Return what a span brought: what it declares as documents, else the documents in its output."""
    prefix = "reranker.output_documents" if kind == "reranker" else "retrieval.documents"
    if kind not in ("retriever", "reranker", "tool"):
        return []
    return documents_under(attributes, prefix) or passages_from(
        documents_of(attributes.get("output.value")), field="$.output.value"
    )


def _payload(attributes: Row, side: str) -> Any:
    """Return what went in or came out: its value, else the messages of a model's call."""
    value = attributes.get(f"{side}.value")
    if value is not None:
        return decode_value(value)
    found = documents_under(attributes, f"llm.{side}_messages", inner="message")
    return [{"role": message.get("role"), "content": _content(message)} for message in found] or None


def _call(attributes: Row, output: Any) -> dict[str, Any]:
    told = {
        "model": _first(attributes.get("llm.model_name")),
        "prompt_tokens": whole_number(attributes.get("llm.token_count.prompt")),
        "completion_tokens": whole_number(attributes.get("llm.token_count.completion")),
        "finish_reason": read_finish_reason(_first(attributes.get("llm.finish_reason"))),
    }
    return call_data(output, told)


def _tags(attributes: Row) -> tuple[str, ...]:
    tags = decode_value(attributes.get("tag.tags"))
    listed = tags if isinstance(tags, list | tuple) else [tags]
    return tuple(str(tag) for tag in listed if isinstance(tag, str) and tag.strip())


def _content(message: Row) -> str:
    """Return a message's content, or its text parts joined, dotted or nested."""
    listed = message.get("contents")
    parts = (
        [flatten_attributes(part) for part in listed if isinstance(part, Mapping)] if isinstance(listed, list) else [message]
    )
    texts = [text for part in parts for name, text in part.items() if name.endswith("message_content.text")]
    return str(message.get("content") or "".join(map(str, texts)))


def _attributes(value: Any) -> dict[str, Any]:
    """Read attributes: OTLP's list of keys and values, or an object, dotted or nested, or JSON text of one."""
    value = decode_value(value)
    if isinstance(value, list):
        pairs = (item for item in value if isinstance(item, Mapping) and "key" in item)
        value = {str(item["key"]): _any_value(item.get("value")) for item in pairs}
    return flatten_attributes(value) if isinstance(value, Mapping) else {}


def _any_value(value: Any) -> Any:
    """Read OTLP's AnyValue."""
    match value:
        case {"arrayValue": {"values": list() as values}}:
            return [_any_value(item) for item in values]
        case {"kvlistValue": {"values": list() as values}}:
            return _attributes(values)
        case {"intValue": str() as number} if number.lstrip("-").isdecimal():
            return number
        case Mapping() if len(value) == 1:
            return next(iter(value.values()))
        case _:
            return None


def _expand_dotted(row: Row) -> dict[str, Any]:
    """Read the ``attributes.…`` columns of a dataframe of spans."""
    start = "attributes."
    columns = {name.removeprefix(start): value for name, value in row.items() if name.startswith(start)}
    return flatten_attributes({name: value for name, value in columns.items() if value is not None and value == value})  # noqa: PLR0124 -- NaN


def _error(row: Row, attributes: Row) -> str | None:
    status = _mapping(row.get("status"))
    code = str(_first(status.get("code"), row.get("status_code"), row.get("statusCode")) or "").upper()
    if code not in ("2", "ERROR", "STATUS_CODE_ERROR", "STATUSCODE.ERROR"):
        return None
    message = _first(status.get("message"), row.get("status_message"), attributes.get("exception.message"))
    return message or "the span ended with an error"


def _metadata(attributes: Row) -> dict[str, Any]:
    kept = {name: value for name, value in attributes.items() if not name.startswith(_CONSUMED)}
    own = _mapping(kept.get("metadata"))
    if "user_id" in own:
        kept["metadata"] = {name: value for name, value in own.items() if name != "user_id"}
    return {name: json_value(decode_value(value) if name == "metadata" else value) for name, value in kept.items()}


def _first(*values: Any) -> str | None:
    """Return the first value that says something, as text; ids may be numbers, and pandas writes NaN for none."""
    said = (str(value) for value in values if value is not None and value == value and not isinstance(value, Mapping | list))  # noqa: PLR0124
    return next((text for text in said if text.strip()), None)


def _any(row: Row, *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _make_list(row: Row, names: tuple[str, ...]) -> list[Row]:
    found = _any(row, *names)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(item, Mapping) for item in found):
        problem = f"{names[0]} is not a list of objects, so this is not OTLP JSON"
        raise InputError(problem)
    return found


def _mapping(value: Any) -> Row:
    value = decode_value(value)
    return value if isinstance(value, Mapping) else {}
