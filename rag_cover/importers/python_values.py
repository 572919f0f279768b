"""Traces of whatever a program has at hand: paths, dicts, data frames, datasets, test cases, responses, runs.

Nothing is imported for it: a data frame, a dataset or a response is known by what it can do.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sized
from itertools import chain
from pathlib import Path
from typing import Any

from rag_cover.errors import InputError
from rag_cover.importers.formats import from_records, import_traces
from rag_cover.importers.records import Record, Row
from rag_cover.traces import Trace

__all__ = ["read_any", "trace_count"]

ACCEPTED = (
    "the path of a file, traces, dicts with a question each, a pandas or polars data frame, a Hugging Face dataset, ragas's "
    "EvaluationDataset, DeepEval's test cases, LangChain runs, or pairs of a question and LlamaIndex's response"
)
"""What `read_any` takes, in words."""


def read_any(source: object) -> Iterable[Trace]:
    """Return the traces that a value holds, which are read as they are needed.

    Args:
        source: one of `ACCEPTED`. Rows, samples, cases and runs are read as the importer of their format reads files of them.

    Raises:
        InputError: the file or a row cannot be read, or the value is none of these; it names the place and what is accepted.
    """
    match source:
        case str() | Path():
            return import_traces(source)
        case Trace():
            return [source]
    return _from_items(iter(_items(source)))


def trace_count(source: object) -> int | None:
    """Return how many traces there will be, where that is known before they are read."""
    rows = getattr(source, "test_cases", source)
    return len(rows) if isinstance(rows, Sized) and not isinstance(rows, str | Mapping) else None


def _items(source: Any) -> Iterable[object]:
    """Yield the rows of a table, the members of a dataset, or what can be iterated over."""
    if callable(rows := getattr(source, "iter_rows", None)):  # polars
        return ({name: _cell(cell) for name, cell in row.items()} for row in rows(named=True))
    if callable(rows := getattr(source, "to_dict", None)) and hasattr(source, "columns"):  # pandas
        return ({name: _cell(cell) for name, cell in row.items()} for row in rows(orient="records"))
    for name in ("samples", "test_cases"):  # ragas, DeepEval
        if isinstance(members := getattr(source, name, None), list):
            return members
    if isinstance(source, Mapping):
        return [_row_of(source)]
    is_model = hasattr(source, "model_dump")  # which can be iterated over, by its fields
    if isinstance(source, Iterable) and not is_model and not isinstance(source, bytes | bytearray):
        return source
    if _as_row(source) is not None:
        return [source]
    problem = f"traces are not read from a value of type {type(source).__name__!r}; give {ACCEPTED}"
    raise InputError(problem)


def _cell(value: Any) -> object:
    """Turn arrays into lists, and what stands for a missing value into None."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    return None if isinstance(plain, float) and math.isnan(plain) else plain


def _row_of(source: Mapping[str, object]) -> Row:
    if source and all(hasattr(member, "column_names") for member in source.values()):
        names = ", ".join(map(str, source))
        problem = f"this is a dataset of several splits ({names}); give one of them"
        raise InputError(problem)
    return source


def _from_items(items: Iterator[object]) -> Iterator[Trace]:
    """Yield traces as they are; convert rows by the format of the first."""
    for number, first in enumerate(items):
        if not isinstance(first, Trace):
            yield from from_records(_record(each, at) for at, each in enumerate(chain([first], items), number))
            return
        yield first


def _record(value: object, number: int) -> Record:
    place = f"[{number}]"
    if (row := _as_row(value)) is not None:
        return Record(row, None, at=place)
    problem = f"a value of type {type(value).__name__!r} is no trace, and none is made of it; give {ACCEPTED}"
    if hasattr(value, "source_nodes"):
        problem = "a response does not say what was asked; give pairs of the question and the response"
    raise InputError(problem, field=place)


def _as_row(value: Any) -> Row | None:
    """Return the row that a value is, or holds the fields of; None where it is neither."""
    match value:
        case Trace():
            return value.model_dump(mode="json", by_alias=True)
        case Mapping():
            return value
        case (str() as question, response) if hasattr(response, "source_nodes"):
            return _row_of_response(question, response)
    return None if hasattr(value, "source_nodes") else _fields_of(value)


def _fields_of(value: Any) -> Row | None:
    if callable(dump := getattr(value, "model_dump", None)):
        return dict(dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if hasattr(value, "run_type") and hasattr(value, "inputs"):  # runs that are no pydantic models
        return {name: each for name, each in vars(value).items() if not name.startswith("_")}
    return None


def _row_of_response(question: str, response: Any) -> Row:
    """Read LlamaIndex's ``Response``: its text, and the nodes it was written from."""
    nodes = [getattr(each, "node", each) for each in response.source_nodes]
    contexts = [{"text": node.get_content(), "id": getattr(node, "node_id", None)} for node in nodes]
    return {"question": question, "response": str(response), "retrieved_contexts": contexts}
