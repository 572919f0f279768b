"""Test sets in the formats of other tools: what each reads as a question, its reference and its contexts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from rag_cover.stores import write_traces
from rag_cover.stores.files import replacing
from rag_cover.testsets.questions import TestsetQuestion

__all__ = ["TestsetFormat", "write_testset"]

TestsetFormat = Literal["traces", "ragas", "deepeval", "llama-index", "langsmith"]


def write_testset(path: Path, questions: Sequence[TestsetQuestion], form: TestsetFormat = "traces") -> None:
    """Write a test set.

    ``traces`` are traces without answers, one a line; ``ragas`` rows of its ``EvaluationDataset``, one a line; ``deepeval`` a
    JSON array of goldens; ``llama-index`` the JSON of a ``LabelledRagDataset``; ``langsmith`` dataset rows, one a line.

    Raises:
        StoreError: it cannot be written.
    """
    if form == "traces":
        write_traces(path, [question.to_trace() for question in questions])
        return
    rows = [_ROWS[form](question) for question in questions]
    with replacing(path) as file:
        if form in {"ragas", "langsmith"}:
            file.writelines(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
        else:
            whole = rows if form == "deepeval" else {"examples": rows}
            file.write(json.dumps(whole, ensure_ascii=False, indent=2).encode() + b"\n")


def _contexts(question: TestsetQuestion) -> list[str]:
    return [passage.text for passage in question.passages]


def _ragas(question: TestsetQuestion) -> Mapping[str, Any]:
    return {
        "user_input": question.text,
        "reference": question.reference,
        "reference_contexts": _contexts(question),
    }


def _deepeval(question: TestsetQuestion) -> Mapping[str, Any]:
    return {
        "input": question.text,
        "expected_output": question.reference,
        "context": _contexts(question),
        "additional_metadata": {"id": question.id, "kind": question.kind},
    }


def _llama_index(question: TestsetQuestion) -> Mapping[str, Any]:
    by = {"model_name": f"rag_cover {question.made_by}", "type": "ai"}
    return {
        "query": question.text,
        "query_by": by,
        "reference_contexts": _contexts(question),
        "reference_answer": question.reference or "",
        "reference_answer_by": by,
    }


def _langsmith(question: TestsetQuestion) -> Mapping[str, Any]:
    return {
        "inputs": {"question": question.text},
        "outputs": {"answer": question.reference, "contexts": _contexts(question)},
        "metadata": {"id": question.id, "kind": question.kind},
    }


_ROWS: Mapping[str, Callable[[TestsetQuestion], Mapping[str, Any]]] = {
    "ragas": _ragas,
    "deepeval": _deepeval,
    "llama-index": _llama_index,
    "langsmith": _langsmith,
}
