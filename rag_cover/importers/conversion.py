"""Records converted one by one, or gathered as spans and put together; what fails is an error among the traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rag_cover.errors import InputError
from rag_cover.importers.records import Record, Row
from rag_cover.spans.model import CallSpan, trees
from rag_cover.spans.traces import trace_of_tree
from rag_cover.traces import Trace

__all__ = ["Found", "from_rows", "from_spans"]

Found = Iterator[tuple[Record, Trace] | InputError]
"""Traces with the records they come from, and errors in the place of those that failed."""

_Source = TypeVar("_Source")
_Made = TypeVar("_Made")


def from_rows(traces_of: Callable[[Row], tuple[Trace, ...]], records: Iterable[Record | InputError]) -> Found:
    """Convert each record by itself."""
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        traces = _attempt(traces_of, record.data, record)
        if isinstance(traces, InputError):
            yield traces
        else:
            yield from ((record, trace) for trace in traces)


def from_spans(spans_of: Callable[[Row], Iterator[CallSpan]], records: Iterable[Record | InputError]) -> Found:
    """Gather all spans, since those of one trace can be far apart, then make each tree a trace."""
    gathered: list[CallSpan] = []
    places: dict[str, Record] = {}
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        spans = _attempt(lambda row: tuple(spans_of(row)), record.data, record)
        if isinstance(spans, InputError):
            yield spans
        else:
            gathered += spans
            places |= {span.trace_id: record for span in spans if span.trace_id not in places}
    for tree in trees(gathered):
        record = places[tree.root.trace_id]
        trace = _attempt(trace_of_tree, tree, record)
        yield trace if isinstance(trace, InputError) else (record, trace)


def _attempt(make: Callable[[_Source], _Made], source: _Source, record: Record) -> _Made | InputError:
    try:
        return make(source)
    except InputError as bad:
        return record.locate(bad)
    except RecursionError:
        return record.locate(InputError("this is nested too deeply"))
