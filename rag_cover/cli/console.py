"""Where the command writes: results to stdout, all else to stderr; a reader that goes away (``| head``) is no error.

Texts from outside are shown, never interpreted: no markup, no emoji names, no escape sequences.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from rag_cover.evaluation import Progress
from rag_cover.reports.sanitise import visible

__all__ = ["busy", "print_json", "progress_bar", "say", "screen", "warn"]


class _PatientConsole(Console):
    """A console whose reader may leave: the work goes on, and ends with the exit code of the work."""

    def on_broken_pipe(self) -> None:
        """Write into the void from now on; rich would exit with 1, which means that a gate failed."""
        self.quiet = True
        _write_into_the_void()


class _Rate(ProgressColumn):
    """Traces per second, of those that this run measures."""

    def render(self, task: Task) -> Text:
        """Show the rate once there is one."""
        measured = task.fields.get("measured")
        shown = f"{measured / task.elapsed:,.1f} traces/s" if measured and task.elapsed else ""
        return Text(shown, style="progress.data.speed")


def screen(*, quiet: bool = False) -> Console:
    """Open stdout, for results."""
    return _PatientConsole(quiet=quiet, highlight=False, markup=False, emoji=False)


def say(line: str, *, quiet: bool = False) -> None:
    """Print a line to stdout, as it is: not wrapped, so that paths can be copied."""
    screen(quiet=quiet).print(visible(line), soft_wrap=True)


def warn(line: str, *, style: str = "yellow") -> None:
    """Print a line to stderr."""
    _stderr().print(visible(line), style=style, soft_wrap=True)


def print_json(document: object) -> None:
    """Print one JSON document to stdout; where the encoding cannot carry all of Unicode, in ASCII."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    try:
        sys.stdout.write(json.dumps(document, ensure_ascii=not is_unicode, indent=2) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _write_into_the_void()


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show traces done, their rate and the time left on stderr; nothing where nobody watches."""
    stderr = _stderr()
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


@contextmanager
def busy(what: str, *, quiet: bool) -> Iterator[None]:
    """Show on stderr what is being done while it lasts; nothing where stderr is no terminal."""
    stderr = _stderr()
    if quiet or not stderr.is_terminal:
        yield
        return
    with stderr.status(Text(f"{what} …")):
        yield


def _stderr() -> Console:
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def _write_into_the_void() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
