"""Where the command writes: results to stdout, all else to stderr; a reader that goes away (``| head``) is no error.

Texts from outside are shown, never interpreted: no markup, no emoji names, no escape sequences.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

__all__ = ["busy", "print_json", "say", "screen", "stderr_console", "warn"]


class _PatientConsole(Console):
    """A console whose reader may leave: the work goes on, and ends with the exit code of the work."""

    def on_broken_pipe(self) -> None:
        """Write into the void from now on; rich would exit with 1, which means that a gate failed."""
        self.quiet = True
        discard_output()


def screen(*, quiet: bool = False) -> Console:
    """Open stdout, for results."""
    return _PatientConsole(quiet=quiet, highlight=False, markup=False, emoji=False)


def say(line: str, *, quiet: bool = False) -> None:
    """Print a line to stdout, as it is: not wrapped, so that paths can be copied."""
    screen(quiet=quiet).print(_visible(line), soft_wrap=True)


def warn(line: str, *, style: str = "yellow") -> None:
    """Print a line to stderr."""
    stderr_console().print(_visible(line), style=style, soft_wrap=True)


def print_json(document: object) -> None:
    """Print one JSON document to stdout; where the encoding cannot carry all of Unicode, in ASCII."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    try:
        sys.stdout.write(json.dumps(document, ensure_ascii=not is_unicode, indent=2) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


@contextmanager
def busy(what: str, *, quiet: bool) -> Iterator[None]:
    """Show on stderr what is being done while it lasts; nothing where stderr is no terminal."""
    stderr = stderr_console()
    if quiet or not stderr.is_terminal:
        yield
        return
    with stderr.status(Text(f"{what} …")):
        yield


def stderr_console() -> Console:
    """Open stderr, for all but results."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def _visible(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line  # without loading the reports, which takes longer than most of what is said here
    from rag_cover.reports.sanitise import visible

    return visible(line)


def discard_output() -> None:
    """Throw away whatever is printed from now on, so that the interpreter does not try to write it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
