"""Files made to break importers: every one gives traces that can be written, or InputErrors."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_cover.errors import InputError
from rag_cover.importers import FORMATS, import_traces
from rag_cover.traces import Trace

_KEYS = re.findall(
    r"\S+",
    """
    question user_input query input contexts retrieved_contexts retrieved_context retrieval_context response
    answer reference run_type inputs outputs id trace_id parent_run_id child_runs documents page_content metadata
    extra tags start_time end_time resourceSpans scopeSpans spans attributes key value stringValue arrayValue
    values traceId spanId parentSpanId context span_id span_kind status retrieval.documents.0.document.content
    openinference.span.kind model1 model_name turns kwargs lc type messages role content columns results text
    score
    """,
)
_LEAVES: list[Any] = [
    *(None, True, 0, -1, 1.5, 1e300, float("nan"), float("inf"), 10**30, "", " ", "a", "é\x00", "\ud800", "[", "['a' 'b']"),
    *('{"query": "q"}', '["x"]', "RETRIEVER", "RERANKER", "retriever", "tool", "chain", "ERROR", "1700000000000", "2026-01-01"),
]


def _any(source: random.Random, depth: int) -> Any:
    kind = source.random()
    if depth == 0 or kind < 0.5:
        return source.choice(_LEAVES)
    if kind < 0.7:
        return [_any(source, depth - 1) for _ in range(source.randrange(4))]
    return _row(source, depth - 1)


def _row(source: random.Random, depth: int) -> dict[str, Any]:
    return {source.choice(_KEYS): _any(source, depth) for _ in range(source.randrange(8))}


def _count(path: Path, name: str | None) -> int:
    """Count the traces and skipped records of a file; an InputError of the whole file counts as one."""
    skipped: list[InputError] = []
    try:
        traces = list(import_traces(path, format=name, on_error="skip", skipped=skipped.append))
    except InputError:
        return 1
    assert all(Trace.model_validate(json.loads(trace.to_json())) == trace for trace in traces)
    return len(traces) + len(skipped)


@given(st.integers(0, 1 << 64), st.sampled_from([None, *FORMATS]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
def test_any_json_gives_traces_that_can_be_written_or_input_errors(tmp_path: Path, seed: int, name: str | None) -> None:
    source = random.Random(seed)
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps(_row(source, 4)) for _ in range(4)), "utf-8")

    count = _count(path, name)

    assert count >= 1


@given(st.binary(max_size=200), st.sampled_from(["x.csv", "x.json", "x.jsonl", "x.tsv"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_bytes_give_traces_or_input_errors(tmp_path: Path, content: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    count = _count(path, None)

    assert count >= 1


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl"])
@pytest.mark.parametrize("depth", [500, 3000, 100_000])
def test_deeply_nested_json_is_an_input_error(tmp_path: Path, name: str, depth: int) -> None:
    nested = '{"inputs":' * depth + "1" + "}" * depth
    path = tmp_path / name
    path.write_text('{"run_type": "chain", "id": "1", "inputs": ' + nested + "}" + os.linesep, "utf-8")

    with pytest.raises(InputError):
        list(import_traces(path))
