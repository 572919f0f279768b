"""Results in parts: files of a folder, Parquet or JSONL, each written whole or not at all, and read part by part.

A row is one trace's result: where its trace stood, what it depends on, and the result itself as JSON.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, Literal, overload

from rag_cover.errors import CorruptFileError, needs_extra
from rag_cover.known_measures import result_type_of
from rag_cover.measures import ResultType, TraceResult
from rag_cover.stores.files import replacing
from rag_cover.stores.packing import result_from

__all__ = ["PartFormat", "PartResults", "PartRow", "failures_in", "read_part", "rows_in", "write_part"]

PartFormat = Literal["parquet", "jsonl"]

_BATCH = 64
_ABOUT = ("ordinal", "number", "key", "trace_id", "given", "failed")


@dataclass(frozen=True, slots=True)
class PartRow:
    """One result on its way to a part. ``number`` is the line or row of its trace.

    ``given`` is the name that a trace without an id was given, before it was numbered; empty where it brought its id.
    ``ordinal`` counts the results of a run from 0, ``key`` names what the result depends on; ``result`` is JSON, empty where
    only the rest was read.
    """

    ordinal: int
    number: int
    key: str
    trace_id: str
    given: str
    failed: bool
    result: str = ""

    @classmethod
    def of(cls, result: TraceResult, key: str, *, number: int, own_id: bool) -> PartRow:
        """Pack a result; its ordinal is set later."""
        trace_id = result.trace.id or ""
        return cls(-1, number, key, trace_id, "" if own_id else trace_id, result.is_to_repeat, _json(result.to_dict()))

    def unpack(self, result_type: ResultType = result_type_of) -> TraceResult:
        """Read the result."""
        return TraceResult.from_dict(json.loads(self.result), result_type)

    def at(self, ordinal: int, trace_id: str) -> PartRow:
        """Return the row with another ordinal, and as one of a trace of another id, where it is another."""
        if trace_id == self.trace_id:
            return replace(self, ordinal=ordinal)
        data = json.loads(self.result)
        data["trace"]["id"] = trace_id
        return replace(self, ordinal=ordinal, trace_id=trace_id, result=_json(data))


class PartResults(Sequence[TraceResult]):
    """The results of several parts, one after the other, read whenever they are iterated, never all held."""

    def __init__(self, parts: Sequence[Path], result_type: ResultType = result_type_of) -> None:
        self._parts = tuple(parts)
        self._result_type = result_type
        self._ends = list(accumulate(rows_in(part) for part in parts))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[TraceResult]:
        for part in self._parts:
            yield from (_result(row, part, self._result_type) for row in read_part(part))

    @overload
    def __getitem__(self, index: int) -> TraceResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[TraceResult]: ...
    def __getitem__(self, index: int | slice) -> TraceResult | list[TraceResult]:
        positions = range(len(self))[index]
        return self._at(positions) if isinstance(positions, range) else self._at([positions])[0]

    def _at(self, positions: Sequence[int]) -> list[TraceResult]:
        """Read each part once, whatever is wanted of it."""
        found: dict[int, TraceResult] = {}
        for part, several in groupby(sorted(positions), partial(bisect_right, self._ends)):
            before = self._ends[part - 1] if part else 0
            wanted = {position - before for position in several}
            rows = enumerate(read_part(self._parts[part]))
            found |= {
                before + number: _result(row, self._parts[part], self._result_type) for number, row in rows if number in wanted
            }
        return [found[position] for position in positions]


def write_part(path: Path, rows: Sequence[PartRow]) -> None:
    """Write a part in the format that its name ends with.

    Raises:
        StoreError: it cannot be written.
        MissingExtraError: Parquet, without the package that writes it.
    """
    content = _parquet(rows) if path.suffix == ".parquet" else b"".join(map(_line, rows))
    with replacing(path) as file:
        file.write(content)


def read_part(path: Path, *, results: bool = True) -> Iterator[PartRow]:
    """Read the rows of a part, without ``results`` all but those.

    Raises:
        CorruptFileError: it cannot be read.
    """
    reading = _rows_of_parquet if path.suffix == ".parquet" else _rows_of_lines
    try:
        yield from reading(path, results=results)
    except (ValueError, KeyError, TypeError, OSError) as damaged:  # Arrow's errors are ValueErrors and OSErrors
        raise _damage_error(path, damaged) from damaged


def rows_in(path: Path) -> int:
    """Count the rows of a part.

    Raises:
        CorruptFileError: it cannot be read.
    """
    try:
        return _count(path)
    except (ValueError, OSError) as damaged:
        raise _damage_error(path, damaged) from damaged


def failures_in(path: Path) -> int:
    """Count the failures among the results of a part, all of which is read, in search of damage.

    Raises:
        CorruptFileError: it is damaged.
    """
    return sum(row.failed for row in read_part(path))


def _result(row: PartRow, path: Path, result_type: ResultType) -> TraceResult:
    try:
        data = json.loads(row.result)
    except ValueError as damaged:
        raise _damage_error(path, damaged) from damaged
    return result_from(data, path, result_type)


def _damage_error(path: Path, damaged: Exception) -> CorruptFileError:
    problem = (
        f"{path} cannot be read ({str(damaged).partition(chr(10))[0]}); run the same command with --resume to measure it again"
    )
    return CorruptFileError(problem)


def _json(data: object) -> str:
    """Write as JSON that UTF-8 can carry: half characters, which models may write, as escapes."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))
    return text


def _count(path: Path) -> int:
    if path.suffix != ".parquet":
        with path.open("rb") as file:
            return sum(1 for _ in file)
    with needs_extra("parquet", "pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    try:
        return int(pq.read_metadata(path).num_rows)
    except pa.ArrowException as damaged:
        raise ValueError(str(damaged)) from damaged


def _line(row: PartRow) -> bytes:
    about = json.dumps({name: getattr(row, name) for name in _ABOUT}, separators=(",", ":"))
    return f'{about[:-1]},"result":{row.result}}}\n'.encode()


def _rows_of_lines(path: Path, *, results: bool) -> Iterator[PartRow]:
    with path.open("rb") as file:
        for line in file:
            fields = json.loads(line)
            result = fields.pop("result")
            yield PartRow(**fields, result=json.dumps(result, separators=(",", ":")) if results else "")


def _parquet(rows: Sequence[PartRow]) -> Any:
    with needs_extra("parquet", "pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    texts = {"key": pa.string(), "trace_id": pa.string(), "given": pa.string(), "result": pa.large_string()}
    numbers = {"ordinal": pa.int64(), "number": pa.int64(), "failed": pa.bool_()}
    kinds = {**numbers, **texts}
    columns = {name: pa.array([getattr(row, name) for row in rows], kinds[name]) for name in (*_ABOUT, "result")}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue()


def _rows_of_parquet(path: Path, *, results: bool) -> Iterator[PartRow]:
    with needs_extra("parquet", "pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    columns = [*_ABOUT, "result"] if results else list(_ABOUT)
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(batch_size=_BATCH, columns=columns):
                yield from (PartRow(**fields) for fields in batch.to_pylist())
    except pa.ArrowException as damaged:  # some of which are RuntimeErrors
        raise ValueError(str(damaged)) from damaged
