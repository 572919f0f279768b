"""RAGChecker files: inputs and results of its checker, and its pairs of answers with human preferences.

https://github.com/amazon-science/RAGChecker
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rag_cover.errors import InputError
from rag_cover.importers.records import Row
from rag_cover.importers.row_values import identifier_in, items_in, metadata_of, row_question, row_texts, text_in
from rag_cover.spans.passages import retrieval
from rag_cover.stores.validation import describe_value, trace_from
from rag_cover.traces import Trace

__all__ = ["recognises", "traces_of"]

_QUESTION = ("query",)
_REFERENCES = ("gt_answer",)
_CONTEXTS = ("retrieved_context",)
_ID = ("query_id",)
_PAIR = ("model1", "model2")


def recognises(row: Row) -> bool:
    """Return whether this is a RAGChecker row, by its columns."""
    return "query" in row and any(name in row for name in (*_REFERENCES, *_CONTEXTS, *_PAIR))


def traces_of(row: Row) -> tuple[Trace, ...]:
    """Make one trace of a checked row, and two, named after their systems, of a pair that people compared."""
    if any(name in row for name in _PAIR):
        return tuple(_of_pair(row, side) for side in _PAIR)
    question = row_question(row, _QUESTION)
    used = (*_QUESTION, *_REFERENCES, *_CONTEXTS, *_ID, "response")
    data = {
        "question": _question(row, question, identifier_in(row, _ID)),
        "answer": text_in(row, ("response",)),
        "steps": retrieval(question, items_in(row, _CONTEXTS), field="$.retrieved_context"),
        "metadata": metadata_of(row, used),
    }
    return (trace_from(data),)


def _of_pair(row: Row, side: str) -> Trace:
    system = row.get(side)
    if not isinstance(system, Mapping):
        problem = f"expected an object with model_name and response, got {describe_value(system)}"
        raise InputError(problem, field=f"$.{side}")
    dataset, number = text_in(row, ("dataset",)), identifier_in(row, _ID)
    name = "/".join(filter(None, (dataset, number))) or None
    shared = metadata_of(row, (*_QUESTION, *_REFERENCES, *_PAIR))
    data = {
        "question": _question(row, row_question(row, _QUESTION), name),
        "answer": text_in(system, ("response",)),
        "pipeline": text_in(system, ("model_name",)) or side,
        "metadata": shared | {"side": side} | metadata_of(system, ("response", "model_name")),
    }
    return trace_from(data)


def _question(row: Row, text: str, name: str | None) -> dict[str, Any]:
    return {"text": text, "id": name, "references": row_texts(row, _REFERENCES) or ()}
