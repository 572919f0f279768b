from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_cover.errors import InputError
from rag_cover.importers import import_traces
from rag_cover.traces import Trace

_QUESTION = "What is the capital of France?"


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(item) for item in value]}}
        case _:
            return {"stringValue": value}


def _otlp(
    span_id: str, kind: str, attributes: dict[str, Any], *, parent: str = "root", start: int = 0, **fields: Any
) -> dict[str, Any]:
    declared = {"openinference.span.kind": kind, **attributes}
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": span_id,
        "parentSpanId": parent,
        "name": span_id,
        "kind": 1,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + start),
        "endTimeUnixNano": str(1_700_000_000_250_000_000 + start),
        "attributes": [{"key": key, "value": _value(value)} for key, value in declared.items()],
        "status": {},
        **fields,
    }


def _export(*spans: dict[str, Any]) -> dict[str, Any]:
    resource = {"attributes": [{"key": "openinference.project.name", "value": {"stringValue": "geography"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


_ROOT = _otlp(
    "root",
    "CHAIN",
    {
        "input.value": json.dumps({"query": _QUESTION}),
        "input.mime_type": "application/json",
        "output.value": "Paris.",
        "session.id": "s1",
    },
    parent="",
)
_RETRIEVER = _otlp(
    "retriever",
    "RETRIEVER",
    {
        "input.value": _QUESTION,
        "retrieval.documents.0.document.id": "a",
        "retrieval.documents.0.document.content": "Paris is the capital.",
        "retrieval.documents.0.document.score": 0.9,
        "retrieval.documents.0.document.metadata": '{"source": "atlas"}',
        "retrieval.documents.1.document.id": "b",
        "retrieval.documents.1.document.content": "Lyon is a city.",
    },
)
_RERANKER = _otlp(
    "reranker",
    "RERANKER",
    {
        "reranker.query": _QUESTION,
        "reranker.input_documents.0.document.id": "a",
        "reranker.input_documents.1.document.id": "b",
        "reranker.output_documents.0.document.id": "a",
        "reranker.output_documents.0.document.score": 0.98,
    },
    start=1_000_000_000,
)


def _traces(folder: Path, *rows: object, name: str = "spans.jsonl") -> list[Trace]:
    path = folder / name
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return list(import_traces(path))


def test_an_otlp_export_becomes_a_trace(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _export(_RETRIEVER, _ROOT), name="spans.json")

    assert (trace.id, trace.pipeline) == ("5b8efff798038103d269b633813fc60c", "geography")
    assert (trace.question.text, trace.answer) == (_QUESTION, "Paris.")
    assert trace.metadata == {"name": "root"}
    assert (trace.thread_id, trace.user_id, trace.tags) == ("s1", None, ())
    (step,) = trace.steps
    assert (step.id, step.kind, step.query, step.duration_s) == ("retriever", "retrieve", _QUESTION, 0.25)
    assert step.started_at is not None
    assert step.started_at.isoformat() == "2023-11-14T22:13:20+00:00"


def test_documents_keep_their_ids_scores_and_metadata(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _export(_ROOT, _RETRIEVER))

    first, second = trace.chunks

    assert (first.id, first.text, first.score, first.metadata) == ("a", "Paris is the capital.", 0.9, {"source": "atlas"})
    assert (second.id, second.score) == ("b", None)


def test_a_reranker_names_the_steps_it_took_its_documents_from(tmp_path: Path) -> None:
    other = _otlp("other", "RETRIEVER", {"input.value": "x", "retrieval.documents.0.document.content": "Unrelated."}, start=1)

    (trace,) = _traces(tmp_path, _export(_RERANKER, other, _RETRIEVER, _ROOT))

    assert [(step.id, step.kind, step.input_ids) for step in trace.steps] == [
        ("retriever", "retrieve", ()),
        ("other", "retrieve", ()),
        ("reranker", "rerank", ("retriever",)),
    ]
    assert {passage.text for passage in trace.contexts()[-1]} == {"Paris is the capital.", "Unrelated."}


def test_a_reranked_document_recorded_by_its_id_gets_its_text_back(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _export(_ROOT, _RETRIEVER, _RERANKER))

    (passage,) = trace.steps[1].passages

    assert (passage.text, passage.score) == ("Paris is the capital.", 0.98)


def test_an_export_may_be_spread_over_many_lines(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _export(_RETRIEVER), _export(_RERANKER), _export(_ROOT))

    assert [step.kind for step in trace.steps] == ["retrieve", "rerank"]


def test_a_failed_span_is_the_error_of_its_step(tmp_path: Path) -> None:
    failed = _RETRIEVER | {"attributes": [], "status": {"code": "STATUS_CODE_ERROR", "message": "index offline"}}
    failed["attributes"] = [{"key": "openinference.span.kind", "value": {"stringValue": "RETRIEVER"}}]

    (trace,) = _traces(tmp_path, _export(_ROOT, failed))

    assert (trace.steps[0].error, trace.steps[0].passages) == ("index offline", ())


def test_a_tool_with_documents_in_its_output_is_a_step(tmp_path: Path) -> None:
    found = json.dumps({"results": [{"content": "Paris.", "url": "https://example.org"}]})
    tool = _otlp("search", "TOOL", {"tool.name": "web", "input.value": '{"query": "capital"}', "output.value": found})
    plain = _otlp("clock", "TOOL", {"output.value": "12:00"})

    (trace,) = _traces(tmp_path, _export(_ROOT, tool, plain))

    assert [(step.id, step.kind, step.query) for step in trace.steps] == [("search", "tool", "capital")]
    assert trace.chunks[0].metadata == {"url": "https://example.org"}


def test_the_answer_is_the_models_where_the_root_has_none(tmp_path: Path) -> None:
    root = _otlp("root", "AGENT", {"input.value": _QUESTION}, parent="")
    llm = _otlp(
        "llm", "LLM", {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Paris!"}
    )

    (trace,) = _traces(tmp_path, _export(root, llm))

    assert trace.answer == "Paris!"


def test_a_models_span_is_a_call_with_its_tokens_and_the_passages_it_was_shown(tmp_path: Path) -> None:
    asked = {"user.id": "u1", "tag.tags": ["prod", " "], "metadata": '{"user_id": "u1", "page": 3}'}
    root = _otlp("root", "CHAIN", {"input.value": _QUESTION, "output.value": "Paris.", **asked}, parent="")
    shown = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": f"Paris is the capital.\n\n{_QUESTION}",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Paris.",
    }
    counts = {"llm.model_name": "gpt-4.1", "llm.token_count.prompt": 20, "llm.token_count.completion": 2}
    llm = _otlp("llm", "LLM", {**shown, **counts, "llm.finish_reason": "end_turn"}, start=2_000_000_000)
    (tmp_path / "spans.json").write_text(json.dumps(_export(root, _RETRIEVER, llm)), "utf-8")

    (trace,) = import_traces(tmp_path / "spans.json")
    (told,) = import_traces(tmp_path / "spans.json", user_ids=True)

    assert trace.calls is not None
    (call,) = trace.calls
    assert (call.model, call.prompt_tokens, call.completion_tokens, call.finish_reason) == ("gpt-4.1", 20, 2, "stop")
    assert (call.purpose, call.passages, call.latency_s, call.engine) == ("answer", ("a",), 0.25, "root")
    assert (trace.tags, trace.user_id, told.user_id) == (("prod",), None, "u1")
    assert "u1" not in trace.to_json()


def test_hidden_inputs_tell_nothing_of_the_passages(tmp_path: Path) -> None:
    llm = _otlp("llm", "LLM", {"input.value": "__REDACTED__"})

    (trace,) = _traces(tmp_path, _export(_ROOT, _RETRIEVER, llm))

    assert trace.calls is not None
    assert trace.calls[0].passages is None


def test_an_answer_that_is_an_object_of_its_own_is_kept_as_it_is(tmp_path: Path) -> None:
    root = _otlp("root", "CHAIN", {"input.value": _QUESTION, "output.value": '{"city": "Paris", "sure": true}'}, parent="")

    (trace,) = _traces(tmp_path, _export(root))

    assert trace.answer == '{"city": "Paris", "sure": true}'


def _phoenix(span_id: str, kind: str, parent: str | None, attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": span_id,
        "context": {"trace_id": "t1", "span_id": span_id},
        "span_kind": kind,
        "parent_id": parent,
        "start_time": "2026-03-01T10:00:00.123456+00:00",
        "end_time": "2026-03-01T10:00:01.123456+00:00",
        "status_code": "OK",
        "status_message": "",
        "attributes": attributes,
    }


_DOTTED = {
    "input.value": _QUESTION,
    "retrieval.documents.0.document.content": "A",
    "retrieval.documents.1.document.content": "B",
}
_HALF = {"input": {"value": _QUESTION}, "retrieval.documents": [{"document.content": "A"}, {"document.content": "B"}]}
_NESTED = {
    "input": {"value": _QUESTION},
    "retrieval": {"documents": [{"document": {"content": "A"}}, {"document": {"content": "B"}}]},
}
_TEXT = {"input.value": _QUESTION, "retrieval.documents": json.dumps([{"document.content": "A"}, {"document.content": "B"}])}
_COLUMNS = {"input.value": _QUESTION, "retrieval.documents.contents": ["A", "B"], "retrieval.documents.ids": ["1", "2"]}


@pytest.mark.parametrize("attributes", [_DOTTED, _HALF, _NESTED, _TEXT, _COLUMNS])
def test_attributes_are_read_dotted_nested_and_as_text(tmp_path: Path, attributes: dict[str, Any]) -> None:
    root = _phoenix("root", "CHAIN", None, {"input": {"value": _QUESTION}, "output": {"value": "Paris."}})

    (trace,) = _traces(tmp_path, _phoenix("r", "RETRIEVER", "root", attributes), root)

    assert [passage.text for passage in trace.chunks] == ["A", "B"]
    assert (trace.steps[0].query, trace.steps[0].duration_s, trace.answer) == (_QUESTION, 1.0, "Paris.")


def test_documents_printed_as_no_literal_are_refused_and_not_lost(tmp_path: Path) -> None:
    row = _phoenix("r", "RETRIEVER", None, {"input.value": "q", "retrieval.documents": "[{'document.content': 'A'} {'x': 1}]"})

    with pytest.raises(InputError, match="neither as JSON nor as a Python literal"):
        _traces(tmp_path, row)


def test_a_span_delivered_twice_counts_once(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _export(_ROOT, _RETRIEVER, _RETRIEVER, _ROOT))

    assert len(trace.steps) == 1


def test_a_skipped_trace_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    silent = _otlp("embed", "EMBEDDING", {}, parent="", traceId="ingest")
    path.write_text(json.dumps(_export(silent)) + "\n" + json.dumps(_export(_ROOT, _RETRIEVER)), "utf-8")
    skipped: list[InputError] = []

    (trace,) = import_traces(path, on_error="skip", skipped=skipped.append)

    assert trace.answer == "Paris."
    assert [(error.line, "no question was recorded" in error.problem) for error in skipped] == [(1, True)]


def test_spans_that_are_no_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not OTLP JSON"):
        _traces(tmp_path, {"resourceSpans": [{"scopeSpans": [{"spans": ["text"]}]}]})


def test_a_very_long_chain_of_spans_is_read(tmp_path: Path) -> None:
    spans = [_otlp(f"s{n}", "CHAIN", {}, parent=f"s{n - 1}" if n else "root") for n in range(3000)]

    (trace,) = _traces(tmp_path, _export(_ROOT, *spans, _RETRIEVER | {"parentSpanId": "s2999"}))

    assert [step.id for step in trace.steps] == ["retriever"]
