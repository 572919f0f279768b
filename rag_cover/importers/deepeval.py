"""DeepEval test cases and goldens, saved as JSON, JSONL or CSV, in snake_case or camelCase.

``retrieval_context`` is what was retrieved; ``context`` is the ideal and stays in the metadata.
https://deepeval.com/docs/evaluation-datasets
"""

from __future__ import annotations

import re
from typing import Any

from rag_cover.errors import InputError
from rag_cover.importers.records import Row
from rag_cover.importers.row_values import list_of_cell, metadata_of, present, row_question, row_texts, tags_in, text_in
from rag_cover.spans.passages import retrieval
from rag_cover.stores.validation import trace_from
from rag_cover.traces import Trace

__all__ = ["recognises", "traces_of"]

_USED = ("input", "actual_output", "expected_output", "retrieval_context", "tags")
_CONVERSATION = ("turns", "scenario")


def recognises(row: Row) -> bool:
    """Return whether this is a test case or a golden, by its columns."""
    names = {_snake(name) for name in row}
    return bool(names & {"turns", "scenario"}) or ("input" in names and bool(names & {*_USED[1:4], "context"}))


def traces_of(row: Row) -> tuple[Trace]:
    """Make one trace of one test case or golden."""
    case = {_snake(name): value for name, value in row.items()}
    if "input" not in case and any(name in case for name in _CONVERSATION):
        problem = "this is a conversation of several turns; rag_cover reads single-turn test cases and goldens"
        raise InputError(problem)
    question = row_question(case, ("input",))
    data = {
        "question": {"text": question, "references": row_texts(case, ("expected_output",)) or ()},
        "answer": text_in(case, ("actual_output",)),
        "steps": retrieval(question, _contexts(case), field="$.retrieval_context"),
        "tags": tags_in(case, ("tags",)),
        "metadata": metadata_of(case, _USED),
    }
    return (trace_from(data),)


def _contexts(case: Row) -> list[Any] | None:
    """Read the retrieved texts; DeepEval joins them with ``|`` in CSV files."""
    if present(case, ("retrieval_context",)) is None:
        return None
    items = list_of_cell(case["retrieval_context"], "retrieval_context")
    match items:
        case [str() as joined] if isinstance(case["retrieval_context"], str):
            return joined.split("|")
        case _:
            return items


def _snake(name: object) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found.group().lower(), str(name))
