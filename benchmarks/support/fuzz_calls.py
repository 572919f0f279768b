"""Calls that fuzz cases make of more than one reader: tools of the server for coding agents, and frames of a program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rag_cover.backends import Backend
from rag_cover.cli.mcp_server import OpenFolder, Toolbox
from rag_cover.errors import InvalidValueError
from rag_cover.hooks import hook
from rag_cover.importers import read_any
from rag_cover.plugin_manager import plugins
from rag_cover.testing import KeywordScorer
from rag_cover.traces import Trace

__all__ = ["call_tool", "traces_of_frame"]

_JUDGE = "by-words"
_TOOLS = ("list_files", "evaluate", "worst_questions", "compare")


@dataclass(frozen=True)
class _Plugin:
    @hook
    def backends(self) -> list[Backend]:
        return [Backend(_JUDGE, "judges by words", scorer=lambda _model: KeywordScorer())]


@contextmanager
def _judging_by_words() -> Iterator[None]:
    plugin = _Plugin()
    plugins().register(plugin)
    try:
        yield
    finally:
        plugins().unregister(plugin)


def call_tool(text: str, folder: Path) -> bool:
    """Call a tool as an agent may: ``{"tool": …, "arguments": {…}}``, by the types that the protocol holds arguments to.

    The folder holds the lines below the call, as ``case.jsonl``; nothing that comes back may tell where it lies.

    Raises:
        InvalidValueError: this is no call.
    """
    call, _, lines = text.partition("\n")
    tool, arguments = _call_in(call)
    with _judging_by_words(), TemporaryDirectory(dir=folder) as place:
        (Path(place) / "case.jsonl").write_text(lines, encoding="utf-8", errors="replace")
        toolbox = Toolbox(OpenFolder(Path(place), writable=True, max_mb=4), judge=_JUDGE, max_traces=20)
        answer = getattr(toolbox, tool)(**arguments)
    if any(mark in json.dumps(answer, ensure_ascii=False) for mark in ("\x1b", "\u202e", place)):
        message = "an answer holds a control character, or a path of this machine"
        raise AssertionError(message)
    return True


def _call_in(text: str) -> tuple[str, dict[str, Any]]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    named: dict[str, type] = {"file": str, "baseline": str, "candidate": str, "store": str, "report": str, "n": int}
    match data:
        case {"tool": str(tool), "arguments": dict(arguments)} if tool in _TOOLS:
            wanted = {
                "evaluate": ("file", "store", "report"),
                "worst_questions": ("file", "n"),
                "compare": ("baseline", "candidate"),
            }
            names = wanted.get(tool, ())
            given = {name: value for name, value in arguments.items() if name in names and type(value) is named[name]}
            if all(name in given for name in names[: 2 if tool == "compare" else 1]):
                return tool, given
    message = "this is no call of a tool"
    raise InvalidValueError(message)


def traces_of_frame(text: str) -> list[Trace]:
    """Make a frame of the rows that a text lists, and read its traces.

    Raises:
        InvalidValueError: no frame can be made of it.
        InputError: a row of the frame is no trace.
    """
    import pandas as pd

    try:
        frame = pd.DataFrame([row for row in map(json.loads, text.splitlines()) if isinstance(row, dict)])
    except (ValueError, TypeError, OverflowError, RecursionError, AttributeError) as unfit:
        message = "no frame can be made of it"
        raise InvalidValueError(message) from unfit
    return list(read_any(frame))
