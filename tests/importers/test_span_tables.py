"""Spans as Phoenix hands them over in dataframes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_cover.importers import import_traces

_DOCUMENTS = [{"document.content": "A", "document.score": 0.5}, {"document.content": "it's B"}]
_COLUMNS: dict[str, list[Any]] = {
    "name": ["root", "r"],
    "span_kind": ["CHAIN", "RETRIEVER"],
    "parent_id": [None, "root"],
    "start_time": ["2026-03-01 10:00:00+00:00", "2026-03-01 10:00:00+00:00"],
    "end_time": ["2026-03-01 10:00:02+00:00", "2026-03-01 10:00:01+00:00"],
    "context.span_id": ["root", "r"],
    "context.trace_id": ["t1", "t1"],
    "attributes.input.value": ["Which city?", "Which city?"],
    "attributes.output.value": ["Paris.", None],
    "attributes.retrieval.documents": [None, _DOCUMENTS],
}
_IN_MILLISECONDS = {"start_time": [1_772_359_200_000] * 2, "end_time": [1_772_359_202_000, 1_772_359_201_000]}


def _check(path: Path) -> None:
    (trace,) = import_traces(path)

    assert (trace.id, trace.question.text, trace.answer) == ("t1", "Which city?", "Paris.")
    (step,) = trace.steps
    assert [passage.text for passage in step.passages] == ["A", "it's B"]
    assert (step.duration_s, step.started_at and step.started_at.isoformat()) == (1.0, "2026-03-01T10:00:00+00:00")


@pytest.mark.parametrize("orient", ["records", "columns"])
def test_a_dataframe_of_spans_is_read_from_json(tmp_path: Path, orient: str) -> None:
    pd = pytest.importorskip("pandas")
    path = tmp_path / "spans.json"

    pd.DataFrame(_COLUMNS | _IN_MILLISECONDS).to_json(path, orient=orient)

    _check(path)


def test_a_dataframe_of_spans_is_read_from_csv(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    path = tmp_path / "spans.csv"

    pd.DataFrame(_COLUMNS).to_csv(path, index=False)

    _check(path)


def test_a_dataframe_of_spans_is_read_from_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "spans.parquet"

    pq.write_table(pa.table(_COLUMNS), path)

    _check(path)
