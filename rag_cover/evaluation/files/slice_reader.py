"""Slices read into traces, each with its place in its file; what is no trace is a refusal in its place."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from rag_cover.errors import InputError, needs_extra
from rag_cover.evaluation.files.slices import Slice, changed_file_error
from rag_cover.importers.formats import from_format
from rag_cover.importers.records import Record
from rag_cover.redaction import redact_problem
from rag_cover.stores.jsonl import duplicate_on, enumerate_lines, trace_on
from rag_cover.traces import Trace

__all__ = ["Refusal", "SliceRows", "read_slice"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is wrong at a line or row of a file; a ``repeated`` id is wrong only beside an earlier one."""

    number: int
    line: int | None
    field: str | None
    problem: str
    repeated: bool = False

    @classmethod
    def of(cls, bad: InputError, number: int, *, repeated: bool = False) -> Self:
        """Keep what an error says."""
        return cls(number, bad.line, bad.field, bad.problem, repeated)

    @classmethod
    def of_repeated(cls, trace_id: str, piece: Slice, number: int, earlier: int) -> Self:
        """Refuse an id that an earlier line or row gives."""
        if piece.table is None:
            return cls.of(duplicate_on(trace_id, piece.file, number, earlier), number, repeated=True)
        problem = f"trace id {trace_id!r} was given at row {earlier} already; ids must be unique, or left out"
        return cls(number, None, f"row {number}, $.id", problem, repeated=True)

    def error(self, file: Path) -> InputError:
        """Return it as an error of a file."""
        return InputError(self.problem, file=file, line=self.line, field=self.field)

    def redact(self, file: Path) -> Self:
        """Keep where it is wrong alone."""
        return self.of(redact_problem(self.error(file)), self.number, repeated=self.repeated)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(**data)


SliceRows = Iterator[tuple[int, Trace] | Refusal]
"""Traces with their line or row, and refusals in the place of what is none."""


def read_slice(piece: Slice) -> SliceRows:
    """Read the traces of a slice, one by one.

    Raises:
        InputError: the file is not what it was when it was cut, or cannot be read.
    """
    content = _content(piece)
    return _lines(piece, content) if piece.table is None else _rows(piece, content, piece.table)


def _content(piece: Slice) -> bytes:
    try:
        with piece.source.open("rb") as file:
            file.seek(piece.start)
            content = file.read(piece.length)
    except OSError as denied:
        problem = f"the file cannot be read where it is measured ({denied.strerror}); every worker must see it by this path"
        raise InputError(problem, file=piece.source) from denied
    if hashlib.blake2b(content, digest_size=16).hexdigest() != piece.digest:
        raise changed_file_error(piece.file)
    return content


def _lines(piece: Slice, content: bytes) -> SliceRows:
    for number, line in enumerate_lines(io.BytesIO(content), piece.first):
        try:
            yield number, trace_on(line, piece.file, number)
        except InputError as bad:
            yield Refusal.of(bad, number)


def _rows(piece: Slice, content: bytes, table: str) -> SliceRows:
    with needs_extra("parquet", "pyarrow"):
        import pyarrow as pa
    with pa.ipc.open_stream(content) as stream:
        rows = (row for batch in stream for row in batch.to_pylist())
        for number, row in enumerate(rows, piece.first):
            for found in from_format(table, [Record(row, piece.file, at=f"row {number}")]):
                yield Refusal.of(found, number) if isinstance(found, InputError) else (number, found[1])
