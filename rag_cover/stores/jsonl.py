"""Trace files: JSONL, one trace a line, read line by line and written whole or not at all."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from rag_cover.errors import InputError, InvalidValueError
from rag_cover.spill import SpillingDict
from rag_cover.stores.files import lines_of, open_input, replacing, require_file
from rag_cover.stores.validation import describe_value, refuse_unwritable, trace_from
from rag_cover.traces import Trace

__all__ = [
    "OnBadLine",
    "Skipped",
    "duplicate_on",
    "enumerate_lines",
    "json_of",
    "no_traces_in",
    "number_lines",
    "read_traces",
    "refuse_an_array",
    "trace_on",
    "write_traces",
]

OnBadLine = Literal["raise", "skip"]
Skipped = Callable[[InputError], object]

_PEEK = 1 << 16


def read_traces(path: Path | str, *, on_error: OnBadLine = "raise", skipped: Skipped | None = None) -> Iterator[Trace]:
    """Read a trace file (``.gz`` too) one line at a time; a bad line is an InputError with file, line and JSON path.

    With ``on_error="skip"`` reading goes on after a bad line, and its error is handed to ``skipped``, such as a list's
    ``append``: nothing is left out unseen. A file that holds no traces at all is an error either way.

    Raises:
        InputError: the file or one of its lines cannot be read.
        InvalidValueError: lines are to be skipped, and nobody to be told of it.
    """
    if on_error == "skip" and skipped is None:
        problem = "on_error='skip' needs skipped=…, a callable that is given every error, such as a list's append"
        raise InvalidValueError(problem)
    require_file(Path(path))
    return _traces(Path(path), skipped if on_error == "skip" else None)


def write_traces(path: Path | str, traces: Iterable[Trace]) -> int:
    """Write a trace file (gzipped where its name ends in ``.gz``) and return how many traces it holds.

    The file appears whole at the end: after an error, the file that was there before is untouched.
    """
    count = 0
    with replacing(Path(path)) as file:
        for count, trace in enumerate(traces, 1):
            file.write(_line(trace, Path(path), count))
    return count


def number_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers from 1 and without a byte order mark."""
    with open_input(path) as file:
        yield from enumerate_lines(lines_of(file, path))


def enumerate_lines(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Number lines of which the first has this number; leave out the blank ones, and the mark at the start of a file."""
    for number, line in enumerate(lines, first):
        content = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if content.strip():
            yield number, content.rstrip(b"\r\n")


def json_of(line: bytes, *, file: Path | str | None = None, number: int | None = None) -> object:
    """Parse one line of JSON, or raise the InputError that says at which byte or column it breaks."""
    try:
        return json.loads(line.decode(), strict=False)  # control characters inside strings are kept as they are
    except UnicodeDecodeError as broken:
        hint = " (this looks like UTF-16)" if line[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ""
        problem = f"byte {broken.start} of the line is not UTF-8{hint}; save the file as UTF-8"
    except json.JSONDecodeError as broken:
        problem = f"not JSON at column {broken.pos + 1}: {broken.msg[:1].lower()}{broken.msg[1:]}{_hint(line)}"
    except RecursionError:
        problem = "the JSON is nested too deeply"
    except ValueError as broken:  # an integer of more than 4,300 digits
        problem = f"not JSON that can be read: {broken}"
    raise InputError(problem, file=file, line=number)


def _line(trace: Trace, path: Path, number: int) -> bytes:
    try:
        return trace.to_json().encode() + b"\n"
    except ValueError as unwritable:  # pydantic and str.encode both refuse lone surrogates with one
        refuse_unwritable(trace.model_dump(), file=path, line=number)
        raise InputError(str(unwritable), file=path, line=number) from unwritable


def _hint(line: bytes) -> str:
    spread = line.strip() in (b"{", b"[")
    return "; one trace is one line here, 'rag-cover convert' reads JSON spread over lines" if spread else ""


def _traces(path: Path, skipped: Skipped | None) -> Iterator[Trace]:
    refuse_an_array(path)
    lines_of_ids: SpillingDict[int] = SpillingDict()
    number = 0
    for number, line in number_lines(path):
        try:
            trace = trace_on(line, path, number)
            if trace.id is not None and (earlier := lines_of_ids.setdefault(trace.id, number)) != number:
                raise duplicate_on(trace.id, path, number, earlier)
        except InputError as bad:
            if skipped is None:
                raise
            skipped(bad)
        else:
            yield trace
    if not number:
        raise no_traces_in(path)


def trace_on(line: bytes, path: Path, number: int) -> Trace:
    """Make a line of a trace file a Trace.

    Raises:
        InputError: it is none.
    """
    data = json_of(line, file=path, number=number)
    if not isinstance(data, dict):
        problem = f"expected a JSON object, one trace a line, got {describe_value(data)}"
        raise InputError(problem, file=path, line=number, field="$")
    return trace_from(data, file=path, line=number)


def duplicate_on(trace_id: str, path: Path, number: int, earlier: int) -> InputError:
    """Return the error for two lines with the same id."""
    problem = f"trace id {trace_id!r} was given on line {earlier} already; ids must be unique, or left out"
    return InputError(problem, file=path, line=number, field="$.id")


def no_traces_in(path: Path) -> InputError:
    """Return the error for a trace file without traces."""
    problem = 'the file holds no traces; a line such as {"question": "…", "answer": "…"} is one'
    return InputError(problem, file=path)


def refuse_an_array(path: Path) -> None:
    """Recognise a file that is one JSON array without reading it: its first line can be all of it.

    Raises:
        InputError: it is one, or cannot be read.
    """
    with open_input(path) as file:
        start = file.read(_PEEK).removeprefix(codecs.BOM_UTF8).lstrip()
    first, _, rest = start.partition(b"\n")
    only_a_line = first.rstrip().endswith(b"]") and rest.strip()
    if start.startswith(b"[") and not only_a_line:
        problem = "the file is one JSON array, not one trace a line; turn it into a trace file with 'rag-cover convert'"
        raise InputError(problem, file=path, line=1, field="$")
