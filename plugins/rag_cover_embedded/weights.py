"""The judge's files: where they are, and the check that they are the ones they should be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_cover.errors import CorruptFileError

__all__ = ["Weights", "sha256_of"]

FOLDER = Path(__file__).parent / "weights"


@dataclass(frozen=True, slots=True)
class Weights:
    """A folder with ``judge.onnx``, ``tokenizer.json`` and ``judge.json``: their sha256 and the fitted numbers."""

    folder: Path
    about: Mapping[str, Any]

    @classmethod
    def open(cls, folder: Path | None = None) -> Weights:
        """Open and check a folder of weights; None is the judge that ships with rag_cover.

        Raises:
            CorruptFileError: a file is missing, truncated or changed.
        """
        folder = folder or FOLDER
        try:
            about = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
            for name, wanted in about["sha256"].items():
                if (found := sha256_of(folder / name)) != wanted:
                    message = f"{folder / name} is damaged: its sha256 is {found}, not {wanted}. Reinstall rag-cover."
                    raise CorruptFileError(message)
        except (OSError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, CorruptFileError):
                raise
            message = f"The judge's files in {folder} cannot be read ({error}). Reinstall rag-cover."
            raise CorruptFileError(message) from error
        return cls(folder, about)

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
        return f"embedded:{self.about['sha256']['judge.onnx'][:16]}"


def sha256_of(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
