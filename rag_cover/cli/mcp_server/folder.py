"""The one folder that a server reads, and writes where that was allowed: no path leads out of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_cover.errors import InputError, InvalidValueError

__all__ = ["OpenFolder"]

_READ = (".jsonl", ".gz", ".json", ".csv", ".tsv", ".parquet", ".sqlite")
_MOST_LISTED = 200


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """A folder, and whether files may be written in it.

    Raises:
        InputError: there is no such folder.
    """

    root: Path
    writable: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no folder."""
        if not self.root.is_dir():
            problem = "there is no such folder; name the one that holds your trace files and results"
            raise InputError(problem, file=self.root)
        object.__setattr__(self, "root", self.root.resolve())

    def files(self) -> Iterator[str]:
        """List the files that may hold traces, passages or results, at most 200, by their paths in the folder."""
        found = sorted(each for each in self.root.rglob("*") if each.suffix.lower() in _READ and self._is_inside(each))
        yield from (each.relative_to(self.root).as_posix() for each in found[:_MOST_LISTED])

    def read(self, name: str) -> Path:
        """Return the path of a file in the folder.

        Raises:
            InvalidValueError: it leads out of the folder, or there is no such file.
        """
        path = self._path(name)
        if not path.is_file():
            message = f"{name!r} is no file in the folder; list_files tells which there are"
            raise InvalidValueError(message)
        return path

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
        path = self.root / name
        if "\0" in name or Path(name).is_absolute() or not self._is_inside(path):
            message = f"{name!r} lies outside of the folder that the server may read; name a path in it, such as 'traces.jsonl'"
            raise InvalidValueError(message)
        return path

    def _is_inside(self, path: Path) -> bool:
        """Return whether a path leads into the folder when all links are followed."""
        return path.resolve().is_relative_to(self.root)
