"""How far an evaluation is, shown below a notebook's cell; nothing is shown in any other program."""

from __future__ import annotations

import sys
from typing import Any

from rag_cover.evaluation.loop import Progress, Watcher

__all__ = ["notebook_watcher"]

_WIDTH = 30


def notebook_watcher(doing: str = "Measuring") -> Watcher | None:
    """Show a bar below the cell of a notebook that runs, and return what moves it; None in any other program."""
    display = _find_display()
    return None if display is None else _make_bar(display, doing)


def _make_bar(display: Any, doing: str) -> Watcher:
    """Show a line of text and change it: rich's own bar needs ipywidgets in a notebook."""
    shown = display({"text/plain": doing}, raw=True, display_id=True)

    def show(so_far: Progress) -> None:
        shown.update({"text/plain": _line(so_far, doing)}, raw=True)

    return show


def _find_display() -> Any:
    """Return what shows something below a notebook's cell; None in any other program."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return sys.modules["IPython.display"].display if shell is not None and hasattr(shell, "kernel") else None


def _line(so_far: Progress, doing: str) -> str:
    filled = _WIDTH * so_far.done // so_far.total if so_far.total else 0
    told = {"failed": so_far.failed, "from the store": so_far.resumed}
    besides = "".join(f", {number} {what}" for what, number in told.items() if number)
    count = f"{so_far.done}" if so_far.total is None else f"{so_far.done}/{so_far.total}"
    return f"{doing} {'━' * filled}{'─' * (_WIDTH - filled)} {count}{besides}"
