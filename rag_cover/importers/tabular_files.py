"""CSV, TSV and Parquet files read row by row."""

from __future__ import annotations

import codecs
import csv
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from rag_cover.errors import InputError, needs_extra
from rag_cover.importers.records import Record
from rag_cover.stores.files import lines_of, open_input, require_file

__all__ = ["TABLE_ENDINGS", "TableKind", "csv_records", "escape_formula", "parquet_records", "table_kind", "unescape_formula"]

TableKind = Literal["csv", "json", "parquet"]
TABLE_ENDINGS: Mapping[TableKind, tuple[str, ...]] = {
    "csv": (".csv", ".tsv"),
    "json": (".jsonl", ".ndjson", ".json"),
    "parquet": (".parquet",),
}
"""The endings of files' names, before or without that of a compression."""

_DELIMITERS = (",", ";", "\t", "|")
_BATCH = 256
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def table_kind(path: Path) -> TableKind | None:
    """Tell what a file holds by the endings of its name; None where they say nothing.

    >>> table_kind(Path("outcomes.CSV.gz")), table_kind(Path("outcomes.txt"))
    ('csv', None)
    """
    endings = {suffix.lower() for suffix in path.suffixes}
    return next((kind for kind, known in TABLE_ENDINGS.items() if endings.intersection(known)), None)


def csv_records(path: Path) -> Iterator[Record | InputError]:
    """Read a CSV or TSV file; the delimiter is the one that cuts the header into most columns."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # a cell can hold all contexts of a question, and 128 KiB is the default
    with open_input(path) as file:
        lines = _decode(file, path)
        header = next(lines, None)
        if header is None:
            return
        columns, delimiter = _header(header, path)
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        yield from _rows(rows, columns, path)


def escape_formula(cell: str) -> str:
    """Put an apostrophe before what a spreadsheet would run as a formula, or would be without its apostrophes.

    >>> escape_formula("=1+1"), escape_formula("12 euros")
    ("'=1+1", '12 euros')
    """
    return f"'{cell}" if cell.lstrip("'").startswith(_FORMULAS) else cell


def unescape_formula(cell: str) -> str:
    """Take away the apostrophe that `escape_formula` put there.

    >>> unescape_formula("'=1+1"), unescape_formula("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULAS) else cell


def parquet_records(path: Path) -> Iterator[Record | InputError]:
    """Read a Parquet file in batches of rows."""
    require_file(path)
    with needs_extra("parquet", "pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    try:
        with pq.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield Record(row, path, at=f"row {number}")
    except (pa.ArrowException, OSError) as broken:
        problem = f"this is not a Parquet file that can be read: {str(broken).splitlines()[0]}"
        raise InputError(problem, file=path) from broken


def _decode(file: Any, path: Path) -> Iterator[str]:
    for number, line in enumerate(lines_of(file, path), 1):
        try:
            yield (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).decode()
        except UnicodeDecodeError as broken:
            problem = f"byte {broken.start} of the line is not UTF-8; save the file as UTF-8"
            raise InputError(problem, file=path, line=number) from broken


def _header(line: str, path: Path) -> tuple[Sequence[str], str]:
    try:
        cut = {delimiter: next(csv.reader([line], delimiter=delimiter), []) for delimiter in _DELIMITERS}
    except csv.Error as broken:
        raise InputError(_explain_csv(broken), file=path, line=1) from broken
    delimiter = max(_DELIMITERS, key=lambda delimiter: len(cut[delimiter]))
    try:
        next(csv.reader([line], delimiter=delimiter, strict=True), None)
    except csv.Error as broken:
        raise InputError(_explain_csv(broken), file=path, line=1) from broken
    columns = [name.strip() for name in cut[delimiter]]
    if duplicates := [name for name, count in Counter(columns).items() if name and count > 1]:
        problem = f"two columns are called {min(duplicates)!r}; rename one"
        raise InputError(problem, file=path, line=1)
    return columns, delimiter


def _rows(rows: Any, columns: Sequence[str], path: Path) -> Iterator[Record | InputError]:
    """Pair cells with columns; an empty cell is a missing value, and a column without a name an index."""
    number, line = 0, 2
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as broken:
            raise InputError(_explain_csv(broken), file=path, line=line) from broken
        if cells is None:
            return
        if any(cells):
            number += 1
            yield _row(cells, columns, Record({}, path, line, f"row {number}"))
        line = rows.line_num + 2  # the reader has not seen the header


def _explain_csv(broken: csv.Error) -> str:
    if "unexpected end" in str(broken):
        return 'a quote that is opened in this row is never closed; close it, or double it ("") where it belongs to the text'
    if "expected after" in str(broken):
        return 'a closing quote is followed by text; double quotes ("") that belong to the text of a cell'
    return f"not CSV that can be read: {broken}"


def _row(cells: Sequence[str], columns: Sequence[str], place: Record) -> Record | InputError:
    if len(cells) > len(columns):
        problem = (
            f"the row has {len(cells)} cells and the header {len(columns)} columns; quote the cells that hold the delimiter"
        )
        return place.locate(InputError(problem))
    data = {name: cell or None for name, cell in zip(columns, cells, strict=False) if name}
    return Record(data, place.file, place.line, place.at)
