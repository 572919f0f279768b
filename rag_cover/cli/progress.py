"""How far an evaluation is, as a bar on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from rag_cover.cli.console import stderr_console
from rag_cover.evaluation import Progress

__all__ = ["progress_bar"]


class _Rate(ProgressColumn):
    """Traces per second, of those that this run measures."""

    def render(self, task: Task) -> Text:
        """Show the rate once there is one."""
        measured = task.fields.get("measured")
        shown = f"{measured / task.elapsed:,.1f} traces/s" if measured and task.elapsed else ""
        return Text(shown, style="progress.data.speed")


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show traces done, their rate and the time left on stderr; nothing where nobody watches."""
    stderr = stderr_console()
    if quiet or not stderr.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Bar(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task("EvaluationPlan", total=None)

        def show(progress: Progress) -> None:
            failed = f" ({progress.failed} failed)" if progress.failed else ""
            measured = progress.done - progress.resumed
            words = f"Measuring{failed}"
            bar.update(task, description=words, completed=progress.done, total=progress.total, measured=measured)

        yield show
