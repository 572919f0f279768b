"""How far a pipeline is through its questions, shown where somebody watches: on stderr, or below a notebook's cell."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rag_cover.evaluation.loop import Progress, Watcher

__all__ = ["show_asking_progress"]

_WIDTH = 30


@contextmanager
def show_asking_progress() -> Iterator[Watcher]:
    """Show how many questions were asked, how many failed, and how many a store had the answers to."""
    display = _notebook_display()
    with _terminal_bar() if display is None else _notebook_bar(display) as watcher:
        yield watcher


@contextmanager
def _terminal_bar() -> Iterator[Watcher]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("Asking", total=None)

        def show(so_far: Progress) -> None:
            bar.update(task, description=f"Asking{_besides(so_far)}", completed=so_far.done, total=so_far.total)

        yield show


@contextmanager
def _notebook_bar(display: Any) -> Iterator[Watcher]:
    """Show a line of text and change it: rich's own bar needs ipywidgets in a notebook."""
    shown = display({"text/plain": "Asking"}, raw=True, display_id=True)

    def show(so_far: Progress) -> None:
        filled = _WIDTH * so_far.done // so_far.total if so_far.total else 0
        line = f"Asking {'━' * filled}{'─' * (_WIDTH - filled)} {so_far.done}/{so_far.total}{_besides(so_far)}"
        shown.update({"text/plain": line}, raw=True)

    yield show


def _notebook_display() -> Any:
    """Return what shows something below a notebook's cell; None in any other program."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return sys.modules["IPython.display"].display if shell is not None and hasattr(shell, "kernel") else None


def _besides(so_far: Progress) -> str:
    told = {"failed": so_far.failed, "from the store": so_far.resumed}
    return "".join(f", {number} {what}" for what, number in told.items() if number)
