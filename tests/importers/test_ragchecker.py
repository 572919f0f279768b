from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_cover.errors import InputError
from rag_cover.importers import import_traces

_CHECKED = {
    "results": [
        {
            "query_id": 7,
            "query": "What is RAG?",
            "gt_answer": "Retrieval-augmented generation.",
            "response": "Generation with retrieval.",
            "retrieved_context": [{"doc_id": "d1", "text": "RAG retrieves."}, {"doc_id": "d2", "text": "And generates."}],
            "response_claims": [["RAG", "is", "generation"]],
        }
    ],
    "metrics": {"overall_metrics": {}},
}

_PAIR = {
    "instance_id": 0,
    "dataset": "kiwi",
    "query_id": "41",
    "query": "How are corpora made?",
    "gt_answer": "From the web.",
    "model1": {"model_name": "bm25_small", "response": "By hand.", "critiques": "wrong"},
    "model2": {"model_name": "e5_large", "response": "From the web.", "critiques": ""},
    "overall_label": 2,
}


def _file(folder: Path, data: object, name: str = "checked.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(data), "utf-8")
    return path


def test_a_checked_row_becomes_a_trace(tmp_path: Path) -> None:
    path = _file(tmp_path, _CHECKED)

    (trace,) = import_traces(path)

    assert (trace.question.text, trace.question.id) == ("What is RAG?", "7")
    assert trace.question.references == ("Retrieval-augmented generation.",)
    assert [(passage.id, passage.text) for passage in trace.chunks] == [("d1", "RAG retrieves."), ("d2", "And generates.")]
    assert trace.metadata == {"response_claims": [["RAG", "is", "generation"]]}


def test_a_preference_pair_becomes_one_trace_for_each_system(tmp_path: Path) -> None:
    path = _file(tmp_path, _PAIR, "pairs.jsonl")

    first, second = import_traces(path)

    assert (first.pipeline, first.answer) == ("bm25_small", "By hand.")
    assert (second.pipeline, second.answer) == ("e5_large", "From the web.")
    assert first.question.id == second.question.id == "kiwi/41"
    assert first.metadata["critiques"] == "wrong"
    assert first.metadata["overall_label"] == 2


def test_a_pair_without_its_second_system_is_an_error(tmp_path: Path) -> None:
    path = _file(tmp_path, _PAIR | {"model2": None}, "pairs.jsonl")

    with pytest.raises(InputError, match="expected an object with model_name and response, got null") as caught:
        list(import_traces(path))

    assert caught.value.field == "$.model2"


def test_a_document_without_a_text_is_an_error_with_its_json_path(tmp_path: Path) -> None:
    bad = {"results": [{"query": "q", "retrieved_context": ["fine", {"doc_id": "d"}]}]}
    path = _file(tmp_path, bad)

    with pytest.raises(InputError) as caught:
        list(import_traces(path))

    assert caught.value.field == "$.results[0].retrieved_context[1]"


@pytest.mark.shared
def test_the_published_preferences_become_two_traces_each(shared_folder: Path) -> None:
    path = shared_folder / "data" / "coverage" / "ragchecker_preferences_part.jsonl"

    traces = list(import_traces(path))

    assert len(traces) == 2 * 268
    assert all(trace.pipeline and trace.answer is not None and trace.question.references for trace in traces)
    assert len({trace.question.id for trace in traces}) == 134
