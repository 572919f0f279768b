"""Files of other tools turned into traces: the format is known by the first record, or named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from rag_cover.errors import InputError, InvalidValueError, nearest
from rag_cover.importers import deepeval, langsmith, nuggetizer, openinference, ragas, ragchecker, tables
from rag_cover.importers.conversion import Found, from_rows, from_spans
from rag_cover.importers.records import Record, Row, json_records
from rag_cover.importers.tabular_files import csv_records, parquet_records, table_kind
from rag_cover.spans.model import CallSpan
from rag_cover.spill import SpillingDict
from rag_cover.stores.files import open_input, require_file
from rag_cover.stores.jsonl import OnBadLine, Skipped
from rag_cover.stores.validation import trace_from
from rag_cover.traces import Trace

__all__ = ["FORMATS", "UNKNOWN_FORMAT_HINT", "format_of", "from_format", "from_records", "import_traces", "is_parquet"]

_Records = Iterable[Record | InputError]

_FIELDS = ("question", "answer", "steps", "sub_questions")
_PARQUET = b"PAR1"
_OWN = "rag-cover"


@dataclass(frozen=True, slots=True)
class _Format:
    """How one format is known and read: row by row, or as spans that have to be put together."""

    summary: str
    recognises: Callable[[Row], bool]
    traces_of: Callable[[Row], tuple[Trace, ...]] = lambda _: ()
    spans_of: Callable[[Row], Iterator[CallSpan]] | None = None


def _is_own(row: Row) -> bool:
    """Return whether this is a trace: it has a question. One with a misspelt field is a trace, too: its error names the field.

    A question with gold answers or passages beside it, where a trace has them inside, is a row of a table.
    """
    return "question" in row and ("schema" in row or not (ragas.recognises(row) or tables.is_flat(row)))


_FORMATS: Mapping[str, _Format] = {
    "openinference": _Format(
        "OpenInference spans: OTLP JSON, or Phoenix exports (JSON, JSONL, CSV, Parquet)",
        openinference.recognises,
        spans_of=openinference.spans_of,
    ),
    "langsmith": _Format("LangSmith runs (JSON, JSONL, CSV, Parquet)", langsmith.recognises, spans_of=langsmith.spans_of),
    "ragchecker": _Format(
        "RAGChecker inputs, results and preference pairs (JSON, JSONL)", ragchecker.recognises, ragchecker.traces_of
    ),
    "nuggetizer": _Format(
        "nuggetizer's and TREC's nuggets and assignments (JSONL)", nuggetizer.recognises, nuggetizer.traces_of
    ),
    _OWN: _Format("rag_cover traces (JSONL, or a JSON array)", _is_own, lambda row: (trace_from(row),)),
    "ragas": _Format(
        "Ragas single-turn samples, old and new column names (JSONL, JSON, CSV, Parquet)", ragas.recognises, ragas.traces_of
    ),
    "deepeval": _Format("DeepEval test cases and goldens (JSON, JSONL, CSV)", deepeval.recognises, deepeval.traces_of),
    "table": _Format(
        "any table with a question column (CSV, TSV, Parquet, JSONL), with a column map", tables.recognises, tables.traces_of
    ),
}

FORMATS: Mapping[str, str] = {name: known.summary for name, known in _FORMATS.items()}
"""The formats that can be imported, with what each one is."""


def import_traces(
    path: Path | str,
    *,
    format: str | None = None,  # noqa: A002 -- the word users know
    columns: Mapping[str, str] | None = None,
    user_ids: bool = False,
    on_error: OnBadLine = "raise",
    skipped: Skipped | None = None,
) -> Iterator[Trace]:
    """Read the traces of a file of another tool, one by one where the format allows it.

    ``format`` is one of `FORMATS`; without it, the first record tells. ``columns`` maps what a table's columns hold to their
    names, such as ``{"question": "Frage"}``. Who asked is left out, unless ``user_ids`` says otherwise, ``columns`` names the
    column, or the file is one of traces already. With ``on_error="skip"`` every record that is no trace goes to ``skipped``.

    Raises:
        InputError: the file, its format or one of its records cannot be read.
        InvalidValueError: an unknown format, a map that does not fit, or records skipped with nobody told.
    """
    if format is not None and format not in FORMATS:
        problem = f"there is no format {format!r}.{nearest(format, FORMATS)} The formats: {', '.join(FORMATS)}"
        raise InvalidValueError(problem)
    if columns and format not in (None, "table"):
        problem = f"columns name what a table holds; the format {format!r} has its own names"
        raise InvalidValueError(problem)
    if on_error == "skip" and skipped is None:
        problem = "on_error='skip' needs skipped=…, a callable that is given every error, such as a list's append"
        raise InvalidValueError(problem)
    require_file(Path(path))
    found = _read_found(_records(Path(path)), "table" if columns else format, columns or {}, user_ids=user_ids)
    return _traces(Path(path), found, skipped if on_error == "skip" else None)


def format_of(row: Record) -> str:
    """Name the format of a table by its first row.

    Raises:
        InputError: it is none of those known by sight, or one whose rows make a trace only together.
    """
    if _FORMATS[name := _detect(row)].spans_of is not None:
        problem = f"rows of {name} make a trace only together; put them together with 'rag-cover convert' first"
        raise InputError(problem, file=row.file)
    return name


def from_records(records: Iterable[Record]) -> Iterator[Trace]:
    """Convert the records that a program has at hand, all by the format of the first; who asked is left out but of traces.

    Raises:
        InputError: a record cannot be read, or two traces have the same id.
    """
    yield from _traces(None, _read_found(records, None, {}, user_ids=False), None)


def from_format(name: str, records: Iterable[Record]) -> Found:
    """Convert rows of a table, each by itself."""
    return _without_users(from_rows(_FORMATS[name].traces_of, records))


def is_parquet(path: Path) -> bool:
    """Return whether this is a Parquet file, by its first bytes or its name.

    Raises:
        InputError: it cannot be read.
    """
    with open_input(path) as file:
        magic = file.read(len(_PARQUET))
    return magic == _PARQUET or ".parquet" in {suffix.lower() for suffix in path.suffixes}


def _traces(path: Path | None, all_found: Found, skipped: Skipped | None) -> Iterator[Trace]:
    places: SpillingDict[str] = SpillingDict()
    found: tuple[Record, Trace] | InputError | None = None
    for found in all_found:
        try:
            if isinstance(found, InputError):
                raise found
            record, trace = found
            _refuse_a_duplicate(record, trace, places)
        except InputError as bad:
            if skipped is None:
                raise
            skipped(bad)
        else:
            yield trace
    if found is None:
        problem = "the file holds no traces"
        raise InputError(problem, file=path)


def _without_users(found: Found) -> Found:
    for each in found:
        yield each if isinstance(each, InputError) else (each[0], each[1].model_copy(update={"user_id": None}))


def _read_found(some: _Records, name: str | None, columns: Mapping[str, str], *, user_ids: bool) -> Found:
    """Read the records, choose the format by the first of them, and convert them all."""
    records = iter(some)
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        try:
            chosen = name or _detect(record)
        except InputError as unknown:  # where bad lines are skipped, a later one may tell
            yield unknown
            continue
        converted = _convert(_FORMATS[chosen], chain([record], records), _check_columns(columns, record))
        yield from converted if user_ids or chosen == _OWN or "user_id" in columns else _without_users(converted)


def _check_columns(columns: Mapping[str, str], first: Record) -> Mapping[str, str]:
    try:
        tables.check_columns(columns, first.data)
    except InputError as bad:
        raise first.locate(bad) from bad
    return columns


def _records(path: Path) -> _Records:
    if is_parquet(path):
        return parquet_records(path)
    return csv_records(path) if table_kind(path) == "csv" else json_records(path)


UNKNOWN_FORMAT_HINT = "Name the format (--format), or map its columns (--column question=…)"
"""What to do with a file of no known format, on a command line."""


def _detect(first: Record) -> str:
    tabular = first.at.startswith("row")  # a table of questions and answers is a table, though its columns be a trace's
    found = (name for name, known in _FORMATS.items() if known.recognises(first.data) and not (tabular and name == _OWN))
    if (name := next(found, None)) is not None:
        return name
    has = ", ".join(repr(str(key)) for key in list(first.data)[:12]) or "nothing"
    others = [str(key) for key in list(first.data)[:12] if key not in _FIELDS]
    close = next((hint for key in others if (hint := nearest(key, _FIELDS))), "")
    lacking = "" if "question" in first.data or close else " A trace needs a 'question'."
    known = ", ".join(FORMATS)
    problem = f"this is none of the formats known by sight ({known}): it has {has}.{close}{lacking}"
    problem += f" {UNKNOWN_FORMAT_HINT}"
    raise first.locate(InputError(problem))


def _convert(chosen: _Format, records: _Records, columns: Mapping[str, str]) -> Found:
    if chosen.spans_of is not None:
        return from_spans(chosen.spans_of, records)
    traces_of = partial(tables.traces_of, columns=columns) if columns else chosen.traces_of
    return from_rows(traces_of, records)


def _refuse_a_duplicate(record: Record, trace: Trace, places: SpillingDict[str]) -> None:
    """Refuse an id of another record's trace; a record may hold several traces of one id."""
    if trace.id is None:
        return
    here = f"{record.line or ''}:{record.at}"
    if (earlier := places.setdefault(trace.id, here)) != here:
        line, _, at = earlier.partition(":")
        where = f"line {line}" if line else at
        problem = f"trace id {trace.id!r} was given at {where} already; ids must be unique, or left out"
        raise record.locate(InputError(problem, field="$.id"))
