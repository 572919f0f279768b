"""The application: what `rag-cover` says of itself; its commands stand in `rag_cover.cli.command_table`."""

from __future__ import annotations

import signal
import sys
import threading
from io import TextIOWrapper
from typing import Annotated

import typer

from rag_cover.cli.command_group import CommandGroup
from rag_cover.cli.console import say
from rag_cover.cli.versions import version_line

__all__ = ["app", "run_application"]

app = typer.Typer(
    name="rag-cover",
    cls=CommandGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(*, asked: bool) -> None:
    if asked:
        say(version_line())
        raise typer.Exit


@app.callback()
def _start(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=lambda asked: _show_version(asked=asked), is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """See what RAG answers leave out, and where it was lost. Works offline, with a small judge model in the package.

    Start with [bold]rag-cover demo[/bold], then [bold]rag-cover evaluate traces.jsonl[/bold].

    A trace is one line of JSON. The smallest trace is {"question": "…", "answer": "…"}.

    Exit codes: 0 success, 1 a gate or check failed, 2 wrong usage, 3 bad input or output that cannot be written, 4 a model
    failed (evaluate: on every trace, or with --strict on any), 130 interrupted.
    """


def run_application() -> None:
    """Run the command; a character that the terminal cannot show becomes a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)
    app()


def _interrupt(number: int, frame: object) -> None:
    """End a command that is told to end as one that is interrupted: it says what is kept."""
    del number, frame
    raise KeyboardInterrupt
