"""Slices of files: cut without parsing anything, small at first and larger later, so that few traces keep all workers busy.

A slice is bounded in bytes, whatever the number of its lines, and so in tokens: a token is at least one byte of UTF-8. Where
it is cut depends on the file alone, not on the workers, so that a file that grew keeps the slices it had.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from rag_cover.errors import InputError, needs_extra
from rag_cover.importers.formats import format_of, is_parquet
from rag_cover.importers.records import Record
from rag_cover.stores.files import lines_of, open_input
from rag_cover.stores.jsonl import refuse_an_array

__all__ = ["PART_BYTES", "FileCut", "Slice", "changed_file_error", "cut_file"]

PART_BYTES = 4 << 20
"""How many bytes of input the results of one part are of, at most, beyond its first trace."""

_LEAST = 64 << 10
_OF_ONE_SIZE = 16
_ROWS = 256
_SHEETS = frozenset((".csv", ".tsv"))
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Slice:
    """So many bytes of ``source`` from ``start`` on: lines of ``file`` from number ``first`` on, or rows where it is a table.

    ``source`` is the file itself, or what was unpacked of it; ``table`` names the format of its rows.
    """

    file: Path
    file_number: int
    number: int
    first: int
    source: Path
    start: int
    length: int
    digest: str
    table: str | None = None

    @property
    def name(self) -> str:
        """Return its place among all slices: in the order of names it is that of the input."""
        return f"{self.file_number:05d}-{self.number:07d}"


@dataclass(frozen=True, slots=True)
class FileCut:
    """A slice, with its bytes where its source has yet to be written."""

    slice: Slice
    unpacked: bytes | None = None


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Bytes of whole lines or rows, of which the first has this number."""

    first: int
    start: int
    content: bytes


def cut_file(file: Path, file_number: int = 0, *, part_bytes: int = PART_BYTES) -> Iterator[FileCut]:
    """Cut a trace file (JSONL, ``.gz`` too) or a table (Parquet) into slices of at most so many bytes, or one trace.

    Raises:
        InputError: the file cannot be read, is of another kind, or changes while it is cut.
        MissingExtraError: it is a table, and what reads it is not installed.
    """
    before = _state(file)
    if is_parquet(file):
        yield from _cut_table(file, file_number, part_bytes)
    else:
        yield from _cut_lines(file, file_number, part_bytes)
    if _state(file) != before:
        raise changed_file_error(file)


def changed_file_error(file: Path) -> InputError:
    """Return the error for a file that has changed since it was cut."""
    problem = "the file was changed while it was read; leave it alone, or copy it, and run again with --resume"
    return InputError(problem, file=file)


def _state(file: Path) -> tuple[int, int]:
    with open_input(file):
        found = file.stat()
    return found.st_size, found.st_mtime_ns


def _cut_lines(file: Path, file_number: int, part_bytes: int) -> Iterator[FileCut]:
    if _SHEETS & {suffix.lower() for suffix in file.suffixes}:
        problem = "many traces are read as JSONL or Parquet; turn this file into a trace file with 'rag-cover convert'"
        raise InputError(problem, file=file)
    refuse_an_array(file)
    with file.open("rb") as raw:
        packed = raw.read(len(_GZIP)) == _GZIP
    with open_input(file) as opened:
        for number, chunk in enumerate(_lines(opened, file, part_bytes)):
            piece = _slice(file, file_number, number, chunk)
            yield FileCut(piece, chunk.content if packed else None)


def _lines(opened: BinaryIO, file: Path, part_bytes: int) -> Iterator[_Chunk]:
    number, first, start = 0, 1, 0
    while content := opened.read(_size(number, part_bytes)):
        if not content.endswith(b"\n"):
            content += _rest_of_a_line(opened, file, first + content.count(b"\n"))
        yield _Chunk(first, start, content)
        number, first, start = number + 1, first + content.count(b"\n"), start + len(content)


def _rest_of_a_line(opened: BinaryIO, file: Path, number: int) -> bytes:
    try:
        return next(lines_of(opened, file), b"")
    except InputError as endless:
        raise InputError(endless.problem, file=file, line=number) from endless


def _size(number: int, part_bytes: int) -> int:
    """Let slices grow: sixteen of a size, then sixteen of twice that size."""
    return min(part_bytes, _LEAST << min(number // _OF_ONE_SIZE, 20))


def _slice(file: Path, file_number: int, number: int, chunk: _Chunk, table: str | None = None) -> Slice:
    digest = hashlib.blake2b(chunk.content, digest_size=16).hexdigest()
    return Slice(file, file_number, number, chunk.first, file.absolute(), chunk.start, len(chunk.content), digest, table)


def _cut_table(file: Path, file_number: int, part_bytes: int) -> Iterator[FileCut]:
    with needs_extra("parquet", "pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    try:
        with pq.ParquetFile(file) as table:
            rows = _some_rows(table)
            first = next((row for batch in table.iter_batches(batch_size=1) for row in batch.to_pylist()), None)
            name = None if first is None else format_of(Record(first, file, at="row 1"))
            for number, chunk in enumerate(_group(table.iter_batches(batch_size=rows), part_bytes, _pack)):
                yield FileCut(_slice(file, file_number, number, chunk, name), chunk.content)
    except (pa.ArrowException, OSError) as broken:
        problem = f"this is not a Parquet file that can be read: {str(broken).splitlines()[0]}"
        raise InputError(problem, file=file) from broken


def _some_rows(table: Any) -> int:
    """Return how many rows are about one of the smallest slices, so that a batch of them is not large."""
    about = table.metadata
    size = sum(int(about.row_group(group).total_byte_size) for group in range(about.num_row_groups))
    return max(1, min(_ROWS, _LEAST * int(about.num_rows) // max(1, size)))


def _group(batches: Iterator[Any], part_bytes: int, packed: Callable[[list[Any]], bytes]) -> Iterator[_Chunk]:
    number, first, held = 0, 1, list[Any]()
    for batch in chain.from_iterable(_halve(each, min(_LEAST, part_bytes)) for each in batches):
        size = sum(each.nbytes for each in held)
        if held and size + batch.nbytes > _size(number, part_bytes):
            yield _Chunk(first, 0, packed(held))
            number, first, held = number + 1, first + sum(len(each) for each in held), []
        held.append(batch)
    if held:
        yield _Chunk(first, 0, packed(held))


def _halve(batch: Any, most: int) -> Iterator[Any]:
    """Cut rows that are larger than the file's metadata says: repeated values are small there."""
    if len(batch) == 1 or batch.nbytes <= most:
        yield batch
    else:
        middle = len(batch) // 2
        yield from _halve(batch[:middle], most)
        yield from _halve(batch[middle:], most)


def _pack(batches: list[Any]) -> bytes:
    """Write rows as an Arrow stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    return bytes(sink.getvalue())
