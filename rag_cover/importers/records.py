"""Records read from files, each knowing where it stands, so that whatever is wrong with it can be said with its place."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag_cover.errors import InputError
from rag_cover.stores.files import open_input, read_whole_file
from rag_cover.stores.jsonl import json_of, number_lines
from rag_cover.stores.validation import describe_value

__all__ = ["Record", "Row", "json_records"]

Row = Mapping[str, Any]

_CONTAINERS = (
    "results",
    "testCases",
    "test_cases",
    "goldens",
    "samples",
    "runs",
    "spans",
    "traces",
    "data",
    "rows",
    "examples",
)
_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a file: its data, its line where the format has lines, its JSON path or row."""

    data: Row
    file: Path | None
    line: int | None = None
    at: str = "$"

    def locate(self, error: InputError) -> InputError:
        """Add the record's place to an error that only knows the field."""
        field = error.field or ""
        path = self.at + field.removeprefix("$") if self.at.startswith("$") else ", ".join(filter(None, (self.at, field)))
        return InputError(error.problem, file=self.file, line=self.line, field=path)


def json_records(path: Path) -> Iterator[Record | InputError]:
    """Read JSON: one value a line, one array, or one object that holds the rows; errors are yielded among the records."""
    if _is_lines(path):
        for number, line in number_lines(path):
            try:
                value = json_of(line, file=path, number=number)
            except InputError as bad:
                yield bad
            else:
                yield from _records(value, path, number)
    else:
        yield from _records(_document(path), path, None)


def _is_lines(path: Path) -> bool:
    """Return whether a file is JSON Lines: its first line is a complete object, which it rarely is in a single document."""
    first = next((line for _, line in number_lines(path)), b"").strip()
    if first.startswith(b"[") or first == b"{":
        return False
    if _LINES[0] in path.suffixes or _LINES[1] in path.suffixes:
        return True
    try:
        return isinstance(json_of(first), dict)
    except InputError:
        return False


def _document(path: Path) -> object:
    with open_input(path) as file:
        content = read_whole_file(file, path).removeprefix(codecs.BOM_UTF8)
    if not content.strip():
        return []
    try:
        return json.loads(content.decode(), strict=False)
    except json.JSONDecodeError as broken:
        problem = f"not JSON at column {broken.colno}: {broken.msg[:1].lower()}{broken.msg[1:]}"
        raise InputError(problem, file=path, line=broken.lineno) from broken
    except (ValueError, RecursionError):
        return json_of(content, file=path)  # says it as for a line


def _records(value: object, path: Path, line: int | None) -> Iterator[Record | InputError]:
    for record in _unpack(value, Record({}, path, line)):
        if isinstance(record.data, Mapping):
            yield record
        else:
            yield record.locate(InputError(f"expected a JSON object, got {describe_value(record.data)}"))


def _unpack(value: Any, place: Record) -> Iterator[Record]:
    match value:
        case list():
            for index, item in enumerate(value):
                yield replace(place, data=item, at=f"{place.at}[{index}]")
        case {"testRunData": dict() as inner} if not place.at.endswith(".testRunData"):
            yield from _unpack(inner, replace(place, at=f"{place.at}.testRunData"))
        case dict() if name := _container(value):
            yield from _unpack(value[name], replace(place, at=f"{place.at}.{name}"))
        case dict() if _is_columns(value):
            yield from _transpose(value, place)
        case _:
            yield replace(place, data=value)


def _container(value: Row) -> str | None:
    """Name what holds the rows; a trace holds lists too, such as its samples, and is known by its question."""
    if "question" in value:
        return None
    found = (name for name in _CONTAINERS if isinstance(value.get(name), list))
    return next((name for name in found if all(isinstance(item, dict) for item in value[name])), None)


def _is_columns(value: Row) -> bool:
    """Recognise what pandas' ``to_json`` writes by default: columns of {index: cell}."""
    columns = list(value.values())
    return len(columns) > 1 and all(
        isinstance(column, dict) and column.keys() == columns[0].keys() != set() for column in columns
    )


def _transpose(columns: Row, place: Record) -> Iterator[Record]:
    for number, index in enumerate(next(iter(columns.values())), 1):
        yield replace(place, data={name: column[index] for name, column in columns.items()}, at=f"row {number}")
