"""A folder of results: what it holds the results of, the parts, and whose turn it is to write there.

Beside the parts lie ``evaluation.json``, which says what they are of, and while a run lasts a lock and what was unpacked for
the workers. Files of other names are nobody's business here: they are neither read nor removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_cover.errors import CorruptFileError, StoreError
from rag_cover.known_measures import result_types
from rag_cover.measures import Measure
from rag_cover.stores.files import replacing
from rag_cover.stores.locks import hold
from rag_cover.stores.parts import PartResults, failures_in

__all__ = ["ResultFolder"]

LAYOUT = 1
"""The version of the folder's layout, written into its ``evaluation.json``."""

_ABOUT, _LOCK = "evaluation.json", "evaluation.lock"
_HALF = r"\.[0-9a-f]{8}\.part"  # ends what a killed run was writing
_NAME = r"part-\d{5}-\d{7}-[0-9a-f]{16}"
_PART = re.compile(rf"{_NAME}\.(?:parquet|jsonl)")
_UNPACKED = re.compile(rf"unpacked-\d{{5}}-\d{{7}}(?:{_HALF})?")
_OURS = re.compile(rf"(?:{_PART.pattern}|{_NAME}\.skipped\.json)(?:{_HALF})?|{_UNPACKED.pattern}|{_ABOUT}{_HALF}")
_FIRST = re.compile(rf"{_LOCK}(?:\.json)?|{_ABOUT}{_HALF}")
"""What a run that was killed at its very beginning may leave behind."""


@dataclass(frozen=True, slots=True)
class ResultFolder:
    """The folder that one evaluation's results are written into, part by part."""

    path: Path

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep every other run out of the folder, which is made where it is not there; a killed process holds nothing.

        Raises:
            StoreInUseError: another run holds it.
            StoreError: it cannot be made or written.
        """
        try:
            self.path.mkdir(exist_ok=True)
            self._refuse_a_foreign_one()
        except OSError as denied:
            if isinstance(denied, StoreError):
                raise
            problem = f"{self.path} cannot be written into ({denied.strerror or denied}); name a folder that can"
            raise StoreError(problem) from denied
        with hold(self.path, self.path / _LOCK):
            yield

    @property
    def about(self) -> dict[str, Any] | None:
        """Return what the results are of; None where nothing was begun.

        Raises:
            CorruptFileError: what says it is damaged.
            StoreError: a newer version wrote the folder.
        """
        try:
            about = json.loads((self.path / _ABOUT).read_text(encoding="utf-8"))
            layout = about["rag_cover_results"]
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, OSError) as damaged:
            problem = f"{self.path / _ABOUT} does not say what the results are of ({damaged}); measure again into a new folder"
            raise CorruptFileError(problem) from damaged
        if layout > LAYOUT:
            problem = f"The folder {self.path} has layout {layout}, and this version reads up to {LAYOUT}; upgrade rag-cover"
            raise StoreError(problem)
        return dict(about)

    def tell(self, about: Mapping[str, Any]) -> None:
        """Write down what the results are of.

        Raises:
            StoreError: it cannot be written.
        """
        with replacing(self.path / _ABOUT) as file:
            file.write(json.dumps({"rag_cover_results": LAYOUT, **about}, indent=1).encode())

    def parts(self) -> list[Path]:
        """List the parts, in the order of the input."""
        return sorted(path for path in self.path.iterdir() if _PART.fullmatch(path.name))

    def holds(self, part: str) -> bool:
        """Return whether a part is there, can be read, and holds no failure: a resumed run measures those again."""
        path = self.path / part
        try:
            return path.exists() and not failures_in(path)
        except CorruptFileError:
            return False

    def results(self, measures: Iterable[Measure] = ()) -> PartResults:
        """Return the results of a run that has ended, in the order of the input.

        Those of ``measures`` are read by their types, beside those of the installed measures; others are `UnknownResult`.

        Raises:
            StoreError: no evaluation is kept here, or one that has not come to its end.
        """
        about = self.about
        if about is None:
            problem = f"{self.path} holds no results; make them with 'rag-cover evaluate-files … --into {self.path}'"
            raise StoreError(problem)
        if not about["finished"]:
            problem = f"{self.path} holds an unfinished evaluation; run the same command with --resume to finish it"
            raise StoreError(problem)
        return PartResults(self.parts(), result_types(measures))

    def remove_all_but(self, parts: Collection[str]) -> None:
        """Remove the parts of no further use, what was left out of them, and what was unpacked.

        Raises:
            StoreError: one of them cannot be removed.
        """
        self._remove(_OURS, but={*parts, *(path_of_skipped(part) for part in parts)})

    def keep_skipped(self, part: str, refusals: Sequence[Mapping[str, Any]]) -> None:
        """Write down what was left out of a part, before the part itself is written.

        Raises:
            StoreError: it cannot be written.
        """
        path = self.path / path_of_skipped(part)
        if not refusals:
            with suppress(FileNotFoundError):
                path.unlink()
            return
        with replacing(path) as file:
            file.write(json.dumps(list(refusals)).encode())

    def read_skipped(self, part: str) -> list[dict[str, Any]]:
        """Return what was left out of a part."""
        path = self.path / path_of_skipped(part)
        return list(json.loads(path.read_bytes())) if path.exists() else []

    def unpack(self, name: str, content: bytes) -> Path:
        """Lay a slice of a packed file down for the workers.

        Raises:
            StoreError: it cannot be written.
        """
        path = self.path.absolute() / f"unpacked-{name}"
        with replacing(path) as file:
            file.write(content)
        return path

    def remove_unpacked(self) -> None:
        """Remove what was unpacked for the workers of a run that is over.

        Raises:
            StoreError: one of them cannot be removed.
        """
        self._remove(_UNPACKED)

    def _refuse_a_foreign_one(self) -> None:
        if self.about is not None:
            return
        names = {path.name for path in self.path.iterdir() if not path.name.startswith(".")}
        if foreign := sorted(name for name in names if not _FIRST.fullmatch(name)):
            problem = f"{self.path} holds other files, such as {foreign[0]}; name a new or an empty folder"
            raise StoreError(problem)

    def _remove(self, names: re.Pattern[str], but: Collection[str] = ()) -> None:
        for path in [path for path in self.path.iterdir() if names.fullmatch(path.name) and path.name not in but]:
            try:
                path.unlink(missing_ok=True)
            except OSError as denied:
                problem = (
                    f"{path} is of no further use and cannot be removed ({denied.strerror}); check the folder's permissions"
                )
                raise StoreError(problem) from denied


def path_of_skipped(part: str) -> str:
    """Name the file that tells what was left out of a part.

    >>> path_of_skipped("part-00000-0000003-0123456789abcdef.parquet")
    'part-00000-0000003-0123456789abcdef.skipped.json'
    """
    return f"{part.rpartition('.')[0]}.skipped.json"
