"""The application: every command under its name, and the version."""

from __future__ import annotations

import signal
import sys
import threading
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated

import typer

from rag_cover.cli.command_group import CommandGroup
from rag_cover.cli.commands.augment_command import augment_questions
from rag_cover.cli.commands.backend_list import list_backends
from rag_cover.cli.commands.compare_command import compare_pipelines
from rag_cover.cli.commands.complexity import describe_questions
from rag_cover.cli.commands.convert import convert_traces
from rag_cover.cli.commands.decompose_command import decompose_questions
from rag_cover.cli.commands.demo import show_demo
from rag_cover.cli.commands.evaluate_command import evaluate_traces
from rag_cover.cli.commands.evaluate_files_command import evaluate_many
from rag_cover.cli.commands.judge_check import judge_app
from rag_cover.cli.commands.label import label_verdicts
from rag_cover.cli.commands.nugget_assignments import nuggets_app
from rag_cover.cli.commands.nugget_extraction import extract_nuggets
from rag_cover.cli.commands.report import report_results
from rag_cover.cli.commands.route import route_questions
from rag_cover.cli.commands.schema import print_schema
from rag_cover.cli.commands.set_query import run_set_query
from rag_cover.cli.commands.skills import skills_app
from rag_cover.cli.commands.study import study_traces
from rag_cover.cli.commands.utility import measure_utilities
from rag_cover.cli.console import say

__all__ = ["app", "main"]

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
        say(f"rag-cover {version('rag-cover')}")
        raise typer.Exit


@app.callback()
def _start(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=lambda asked: _show_version(asked=asked), is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """See what RAG answers leave out, and where it was lost: offline, with a small judge of its own.

    Start with [bold]rag-cover demo[/bold], then [bold]rag-cover evaluate traces.jsonl[/bold].

    A trace is one line of JSON, the smallest {"question": "…", "answer": "…"}.

    Exit codes: 0 well, 1 a gate or check failed, 2 wrong usage, 3 bad input, or output that cannot be written, 4 a model
    failed (evaluate: with --strict), 130 interrupted.
    """


app.command("demo", rich_help_panel="Start here")(show_demo)
app.command("evaluate", rich_help_panel="Measure")(evaluate_traces)
app.command("evaluate-files", rich_help_panel="Measure")(evaluate_many)
app.command("utility", rich_help_panel="Measure")(measure_utilities)
app.command("complexity", rich_help_panel="Measure")(describe_questions)
app.command("compare", rich_help_panel="Measure")(compare_pipelines)
app.command("study", rich_help_panel="Measure")(study_traces)
app.command("report", rich_help_panel="Measure")(report_results)
app.command("label", rich_help_panel="Measure")(label_verdicts)
app.add_typer(judge_app, name="judge", rich_help_panel="Measure")
app.command("route", rich_help_panel="Route")(route_questions)
app.add_typer(skills_app, name="skills", rich_help_panel="Route")
app.command("augment", rich_help_panel="Retrieve")(augment_questions)
app.command("set-query", rich_help_panel="Retrieve")(run_set_query)
app.command("convert", rich_help_panel="Prepare")(convert_traces)
app.command("schema", rich_help_panel="Prepare")(print_schema)
app.command("decompose", rich_help_panel="Prepare")(decompose_questions)
nuggets_app.command("extract")(extract_nuggets)
app.add_typer(nuggets_app, name="nuggets", rich_help_panel="Prepare")
app.command("backends", rich_help_panel="Prepare")(list_backends)


def main() -> None:
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
