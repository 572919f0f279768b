"""Calibrations as JSON: fitted numbers read back, and the files of them that ship with the package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from rag_cover.errors import InputError, InvalidValueError

__all__ = ["read_calibration", "read_shipped_numbers"]

T = TypeVar("T")


def read_calibration(kind: type[T], data: Mapping[str, Any], *, name: str) -> T:
    """Make a calibration of the JSON data that its ``to_dict`` wrote.

    Args:
        kind: the dataclass, one field of which is called ``weights``.
        data: what ``to_dict`` wrote.
        name: what the message calls such a calibration.

    Raises:
        InputError: it is nothing that ``to_dict`` writes.
    """
    try:
        return kind(**{**data, "weights": tuple(data["weights"])})
    except (KeyError, TypeError, InvalidValueError) as error:
        message = f"this is no {name} ({error}); write one with {kind.__name__}.to_dict"
        raise InputError(message) from error


def read_shipped_numbers(path: Path) -> Mapping[str, Any]:
    """Read a file of numbers that ship, by the fingerprint of the judge they hold for; empty where there is no such file."""
    numbers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return numbers
