"""The judge's files: where they are, and the check that they are the ones they should be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from rag_cover.errors import CorruptFileError
from rag_cover_embedded.answers import Mixing, Proposing
from rag_cover_embedded.session import Session

__all__ = ["Fitted", "Weights", "sha256_of"]

FOLDER = Path(__file__).parent / "weights"

_lock = Lock()
_in_use: WeakValueDictionary[tuple[Path, str, int | None], Session] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Fitted:
    """The numbers fitted after training: the cut for coverage, the other heads' temperatures, the two stages' settings."""

    threshold: float
    correct_temperature: float
    entailment_temperature: float
    mixing: Mixing
    proposing: Proposing


@dataclass(frozen=True, slots=True)
class Weights:
    """A folder with ``judge.onnx``, ``tokenizer.json`` and ``judge.json``: their sha256 and the fitted numbers."""

    folder: Path
    sha256: str
    fitted: Fitted

    @classmethod
    def open(cls, folder: Path | None = None) -> Weights:
        """Open and check a folder of weights; None is the judge that ships with rag_cover.

        Raises:
            CorruptFileError: a file is missing, truncated or changed.
        """
        folder = folder or FOLDER
        try:
            about = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
            for name in ("judge.onnx", "tokenizer.json"):
                _refuse_changed(folder / name, about["sha256"][name])
            return cls(folder, about["sha256"]["judge.onnx"], _fitted(about["fitted"]))
        except FileNotFoundError as missing:
            message = f"The judge's file {missing.filename} is missing. Reinstall rag-cover."
            raise CorruptFileError(message) from missing
        except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
            message = f"The judge's file {folder / 'judge.json'} cannot be read ({error!r}). Reinstall rag-cover."
            raise CorruptFileError(message) from error

    def session(self, threads: int | None = None) -> Session:
        """Open the network; all that ask for the same weights and threads share one for as long as somebody uses it."""
        key = (self.network, self.sha256, threads)
        with _lock:
            if (found := _in_use.get(key)) is None:
                found = _in_use[key] = Session(self.network, threads=threads)
            return found

    @property
    def network(self) -> Path:
        """Return the path of the ONNX file."""
        return self.folder / "judge.onnx"

    @property
    def tokenizer(self) -> Path:
        """Return the path of the tokenizer."""
        return self.folder / "tokenizer.json"

    @property
    def fingerprint(self) -> str:
        """Name the judge by its network's sha256."""
        return f"embedded:{self.sha256[:16]}"


def _refuse_changed(path: Path, wanted: str) -> None:
    if (found := sha256_of(path)) != wanted:
        message = f"{path} is damaged: its sha256 is {found}, not {wanted}. Reinstall rag-cover."
        raise CorruptFileError(message)


def _fitted(numbers: Mapping[str, Any]) -> Fitted:
    return Fitted(
        threshold=float(numbers["threshold"]),
        correct_temperature=float(numbers["temperatures"]["correct"]),
        entailment_temperature=float(numbers["temperatures"]["entailment"]),
        mixing=Mixing(**numbers["mixing"]),
        proposing=Proposing(**numbers["proposing"]),
    )


def sha256_of(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
