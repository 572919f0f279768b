"""Files that hold the texts of questions, passages and answers: others on the machine may not read them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["PRIVATE", "create_private", "open_private"]

PRIVATE = 0o600
"""The mode of a file that is made: its owner reads and writes it. A file that is there keeps the mode that it has."""


def open_private(path: str, flags: int) -> int:
    """Open a file as ``open(…, opener=open_private)`` does: one that is made is its owner's alone."""
    return os.open(path, flags, PRIVATE)


def create_private(path: Path | str) -> None:
    """Make an empty file that is its owner's alone, where there is none and the folder lets one be made."""
    with suppress(OSError):  # what opens it next tells why
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
