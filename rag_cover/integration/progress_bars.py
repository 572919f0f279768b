"""How far a pipeline is through its questions, shown where somebody watches: on stderr, or below a notebook's cell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from rag_cover.evaluation.loop import Progress, Watcher
from rag_cover.evaluation.notebook_progress import notebook_watcher

__all__ = ["show_asking_progress"]


@contextmanager
def show_asking_progress() -> Iterator[Watcher]:
    """Show how many questions were asked, how many failed, and how many a store had the answers to."""
    watcher = notebook_watcher("Asking")
    with _terminal_bar() if watcher is None else nullcontext(watcher) as shown:
        yield shown


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


def _besides(so_far: Progress) -> str:
    told = {"failed": so_far.failed, "from the store": so_far.resumed}
    return "".join(f", {number} {what}" for what, number in told.items() if number)
