"""Files opened and replaced with typed errors: nothing is half read or half written without a sentence that says so."""

from __future__ import annotations

import gzip
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from rag_cover.errors import InputError, StoreError
from rag_cover.private_files import open_private

__all__ = ["lines_of", "open_input", "read_whole_file", "replacing", "require_corpus", "require_file"]

_GZIP = b"\x1f\x8b"
_LONGEST_LINE = 256 << 20
_LONGEST_CONTENT = 2 << 30
_PIECE = 1 << 20


def require_corpus(path: Path) -> None:
    """Refuse a path that is missing, before anything is read; a corpus is a file of passages or a folder of documents."""
    if not path.is_dir():
        require_file(path)


def require_file(path: Path) -> None:
    """Refuse a path that is missing or a folder, before anything is read."""
    if path.is_dir():
        problem = "this is a folder; name a file in it"
        raise InputError(problem, file=path)
    if not path.exists():
        problem = "there is no such file; check the path"
        raise InputError(problem, file=path)


@contextmanager
def open_input(path: Path) -> Iterator[BinaryIO]:
    """Open a file's bytes, unpacked where they are gzipped; errors of the file system and of gzip become InputErrors."""
    require_file(path)
    try:
        with path.open("rb") as raw:
            magic = raw.read(len(_GZIP))
            raw.seek(0)
            if magic == _GZIP:
                with gzip.open(raw) as unpacked:
                    yield cast("BinaryIO", unpacked)
            else:
                yield raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as broken:
        problem = f"the gzip data is cut off or damaged ({broken}); fetch or write the file again"
        raise InputError(problem, file=path) from broken
    except OSError as denied:
        problem = f"the file cannot be read ({denied.strerror or denied}); check its permissions"
        raise InputError(problem, file=path) from denied


def lines_of(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield a file's lines, none of which a few bytes of gzip can make longer than memory is.

    Raises:
        InputError: a line has more than 256 MB, or as much is blank in a row.
    """
    blank = number = 0
    while line := file.readline(_LONGEST_LINE + 1):
        number += 1
        blank = 0 if line.strip() else blank + len(line)
        if max(blank, len(line)) > _LONGEST_LINE:
            problem = (
                f"the line is longer than {_LONGEST_LINE >> 20:,} MB, or blank lines are; this is no file of one record a line"
            )
            raise InputError(problem, file=path, line=number)
        yield line


def read_whole_file(file: BinaryIO, path: Path) -> bytes:
    """Read all of a file that has to be read whole.

    Raises:
        InputError: it holds more than 2 GB.
    """
    content = bytearray()
    while piece := file.read(_PIECE):
        content += piece
        if len(content) > _LONGEST_CONTENT:
            problem = (
                f"the file holds more than {_LONGEST_CONTENT >> 20:,} MB, too many to be read at once; write one record a line"
            )
            raise InputError(problem, file=path)
    return bytes(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write to a ``.part`` of one's own and put it in the file's place at the end; after an error the file is as it was before.

    A link stays one: the file that it leads to is replaced. The file's mode stays; a new one is its owner's alone.

    The bytes are on the disk before the name is theirs: a machine that stops in between leaves the old file.
    """
    path = path.resolve() if path.is_symlink() else path
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb", opener=open_private) as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:  # no time stamp: equal traces, equal bytes
                    yield cast("BinaryIO", packed)
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        if path.exists():
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        part.replace(path)
    except OSError as denied:
        if isinstance(denied, StoreError):
            raise
        problem = f"{path} cannot be written ({denied.strerror or denied}); check the folder, its permissions and the disk"
        raise StoreError(problem) from denied
    finally:
        _discard(part)


def _discard(part: Path) -> None:
    with suppress(OSError):  # already in its file's place, or never made
        part.unlink()
