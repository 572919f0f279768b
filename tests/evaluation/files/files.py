"""Trace files, and judges that need no weights, for the tests of many traces."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag_cover import Models
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer

__all__ = ["MODELS", "contents", "line", "write"]

MODELS = Models(judge=KeywordScorer(), locator=KeywordLocator(), entailer=KeywordEntailer())


def line(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "question": f"Why is item {number % 7} blue?",
        "answer": f"Item {number} is blue.",
        "steps": [{"passages": [f"Item {number} is blue because of light.", "Grass is green."]}],
        "sub_questions": [{"text": f"Is item {number} blue?", "role": "core"}],
        **fields,
    }


def write(path: Path, lines: Sequence[dict[str, Any] | str]) -> Path:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("part-*")}
