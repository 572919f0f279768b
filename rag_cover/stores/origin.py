"""What a store says of where its results come from: the command that wrote them, and the file whose traces it measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

__all__ = ["Origin"]

_NAME = "origin"


@dataclass(frozen=True, slots=True)
class Origin:
    """The command that wrote the results of a store, and the name of the file whose traces it measured.

    >>> str(Origin("rag-cover compare", "mine.csv"))
    "of mine.csv, written by 'rag-cover compare'"
    """

    command: str
    file: str

    @classmethod
    def read(cls, about: Mapping[str, Any] | None) -> Self | None:
        """Return what the description of an evaluation says of its origin; None where it says nothing."""
        found = (about or {}).get(_NAME)
        return cls(str(found["command"]), str(found["file"])) if found else None

    def entry(self) -> dict[str, dict[str, str]]:
        """Return what the description of an evaluation says of this origin."""
        return {_NAME: asdict(self)}

    def is_of(self, path: Path) -> bool:
        """Tell whether a file has the name of the file that was measured, compressed or not.

        >>> Origin("rag-cover evaluate", "mine.csv").is_of(Path("runs/mine.csv.gz"))
        True
        """
        return self.file.removesuffix(".gz") == path.name.removesuffix(".gz")

    def __str__(self) -> str:
        return f"of {self.file}, written by '{self.command}'"
