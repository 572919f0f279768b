"""The files that commands are given: traces in any known format, or the store of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

from rag_cover.cli.console import warn
from rag_cover.errors import InputError
from rag_cover.importers import import_traces
from rag_cover.questions import Passage
from rag_cover.stores.files import open_input, require_file
from rag_cover.testsets.documents import load_documents
from rag_cover.traces import Trace

__all__ = ["TraceFile", "in_blocks", "is_store", "open_traces", "output_name", "read_document_folder"]

T = TypeVar("T")

_READ_WHOLE = 64_000_000
_NAMED = 3
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A file of traces, read while they are measured; ``skipped`` fills with what could not be read."""

    path: Path
    format: str | None = None
    columns: dict[str, str] | None = None
    on_bad_line: Literal["raise", "skip"] = "raise"
    limit: int | None = None
    user_ids: bool = False
    skipped: list[InputError] = field(default_factory=list)

    def __iter__(self) -> Iterator[Trace]:
        """Read the traces, up to the limit."""
        self.skipped.clear()
        traces = import_traces(
            self.path,
            format=self.format,
            columns=self.columns,
            user_ids=self.user_ids,
            on_error=self.on_bad_line,
            skipped=self.skipped.append,
        )
        return islice(self._explain(traces), self.limit)

    def _explain(self, traces: Iterable[Trace]) -> Iterator[Trace]:
        """Yield traces; where a line is no JSON, say that such lines can be left out."""
        try:
            yield from traces
        except InputError as wrong:
            if wrong.line is None or not wrong.problem.startswith("not JSON") or self.on_bad_line == "skip":
                raise
            problem = f"{wrong.problem}; --on-bad-line skip leaves such lines out"
            raise InputError(problem, file=wrong.file, line=wrong.line, field=wrong.field) from wrong


def read_document_folder(folder: Path) -> tuple[tuple[Passage, ...], list[InputError]]:
    """Read a folder of documents; count and name those that cannot be read, and return their errors, too.

    Raises:
        InputError: none of them can be.
    """
    unread: list[InputError] = []
    passages = tuple(load_documents(folder, skipped=unread.append))
    if unread:
        more = f"; and {len(unread) - _NAMED:,} more" if len(unread) > _NAMED else ""
        them = "1 document was" if len(unread) == 1 else f"{len(unread):,} documents were"
        warn(f"{them} left out: {'; '.join(map(str, unread[:_NAMED]))}{more}")
    return passages, unread


def open_traces(file: TraceFile) -> Iterable[Trace]:
    """Read a file of ordinary size whole, so that a bad line shows before any model runs; stream a larger one.

    Raises:
        InputError: the file or one of its lines cannot be read.
    """
    require_file(file.path)
    if is_store(file.path):
        problem = f"this is a store of results, not a file of traces; 'rag-cover report {file.path}' shows it"
        raise InputError(problem, file=file.path)
    return list(file) if file.path.stat().st_size <= _READ_WHOLE else file


def in_blocks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut what a model is asked about into blocks, so that what is done when somebody interrupts is not lost.

    >>> list(in_blocks("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while block := list(islice(rest, size)):
        yield block


def is_store(path: Path) -> bool:
    """Return whether a file is a store (SQLite) and no file of traces.

    Raises:
        InputError: the file cannot be read.
    """
    with open_input(path) as file:
        return file.read(len(_SQLITE)) == _SQLITE


def output_name(path: Path) -> str:
    """Name what is made from a file: its own name without the endings.

    >>> output_name(Path("runs/traces.jsonl.gz")), output_name(Path("v1.2.csv"))
    ('traces', 'v1.2')
    """
    stem = path.name.removesuffix(".gz")
    return Path(stem).stem or stem
