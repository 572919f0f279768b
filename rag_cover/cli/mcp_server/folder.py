"""The one folder that a server reads, and writes where that was allowed: no path leads out of it."""

from __future__ import annotations

import glob
import gzip
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rag_cover.errors import InputError, InvalidValueError
from rag_cover.stores.files import open_input

__all__ = ["OpenFolder"]

_READ = (".jsonl", ".gz", ".json", ".csv", ".tsv", ".parquet", ".sqlite")
_MOST_LISTED = 200
_LONGEST_NAME = 500
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """A folder, whether files may be written in it, and how many megabytes a file that is read may have.

    Files and folders whose names begin with a dot are not there for those who ask.

    Raises:
        InputError: there is no such folder.
    """

    root: Path
    writable: bool = False
    max_mb: int = 64

    def __post_init__(self) -> None:
        """Refuse what is no folder."""
        if not self.root.is_dir():
            problem = "there is no such folder; name the one that holds your trace files and results"
            raise InputError(problem, file=self.root)
        object.__setattr__(self, "root", self.root.resolve())

    def files(self) -> Iterator[str]:
        """List the files that may hold traces, passages or results, at most 200, by their paths in the folder."""
        found = sorted(each for each in self.root.rglob("*") if each.suffix.lower() in _READ and self._is_open(each))
        yield from (each.relative_to(self.root).as_posix() for each in found[:_MOST_LISTED])

    def read(self, name: str) -> Path:
        """Return the path of a file in the folder.

        Raises:
            InvalidValueError: it leads out of the folder, there is no such file, or it is too large, packed or unpacked.
            InputError: it is gzipped, and damaged.
        """
        path = self._path(name)
        if not path.is_file():
            message = f"{name!r} is no file in the folder; list_files tells which there are"
            raise InvalidValueError(message)
        size = sum(each.stat().st_size for each in self._with_companions(path))
        if size > self.max_mb * _MB:
            message = f"{name!r} has {size / _MB:,.0f} MB, more than {self.max_mb}; start the server with a larger --max-mb"
            raise InvalidValueError(message)
        if _unpacks_to_more_than(self.max_mb * _MB, path):
            message = f"{name!r} has more than {self.max_mb} MB when it is unpacked; start the server with a larger --max-mb"
            raise InvalidValueError(message)
        return path

    @contextmanager
    def copy(self, name: str) -> Iterator[Path]:
        """Copy a store with what lies beside it to a private folder while it is read: opening a store may change it.

        Raises:
            InvalidValueError: as for `read`.
        """
        path = self.read(name)
        with TemporaryDirectory(prefix="rag-cover-mcp-") as folder:
            for each in self._with_companions(path):
                copied = Path(folder) / each.relative_to(path.parent)
                copied.parent.mkdir(exist_ok=True)
                shutil.copyfile(each, copied)
            yield Path(folder) / path.name

    def hide(self, text: str) -> str:
        """Write a message without the folder's own place on this machine."""
        return text.replace(f"{self.root}/", "").replace(str(self.root), "the folder")

    def write(self, name: str) -> Path:
        """Return the path of a file that may be made in the folder.

        Raises:
            InvalidValueError: nothing may be written, it leads out of the folder, its folder is not there, or it is there.
        """
        if not self.writable:
            message = "nothing may be written: the server was started without --write"
            raise InvalidValueError(message)
        path = self._path(name)
        if path.exists() or not path.parent.is_dir():
            message = f"{name!r} exists already, or its folder does not; name another file"
            raise InvalidValueError(message)
        return path

    def _path(self, name: str) -> Path:
        if len(name) > _LONGEST_NAME:
            message = f"a path of {len(name):,} characters is too long; {_LONGEST_NAME} are the most"
            raise InvalidValueError(message)
        path = self.root / name
        if not _is_a_name(name) or Path(name).is_absolute() or not self._is_open(path):
            message = (
                f"{name!r} lies outside of the folder that the server may read, or is hidden; name a path that list_files gives"
            )
            raise InvalidValueError(message)
        return path

    def _is_open(self, path: Path) -> bool:
        """Return whether a path leads into the folder when all links are followed, and through nothing hidden."""
        led_to = path.resolve()
        if not led_to.is_relative_to(self.root):
            return False
        parts = (*path.relative_to(self.root).parts, *led_to.relative_to(self.root).parts)
        return not any(part.startswith(".") for part in parts)

    def _with_companions(self, path: Path) -> list[Path]:
        """List a file, and of a store its log and the parts that recordings have put in a folder beside it."""
        if path.suffix != ".sqlite":
            return [path]
        name = glob.escape(path.name)
        beside = (each for pattern in (f"{name}-wal", f"{name}.parts/*") for each in path.parent.glob(pattern))
        return [path, *(each for each in beside if each.is_file() and each.resolve().is_relative_to(self.root))]


def _is_a_name(name: str) -> bool:
    """Return whether a file system can be asked for it: without NUL and lone surrogates."""
    return not any(mark == "\0" or "\ud800" <= mark <= "\udfff" for mark in name)


def _unpacks_to_more_than(most: int, path: Path) -> bool:
    """Return whether a gzipped file holds more than so many bytes, unpacked piece by piece and no further."""
    held = 0
    with open_input(path) as file:
        if not isinstance(file, gzip.GzipFile):
            return False  # its size is known
        while held <= most and (piece := file.read(_MB)):
            held += len(piece)
    return held > most
