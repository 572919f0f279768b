"""How the command ends: its exit codes, and every error as one sentence on stderr."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import typer

from rag_cover.cli.console import warn
from rag_cover.errors import (
    BackendNotFoundError,
    CorruptFileError,
    IncomparableError,
    InputError,
    InvalidValueError,
    MissingExtraError,
    NotOfferedError,
    PluginError,
    RagCoverError,
    StoreError,
    UnfitModelError,
    UnknownOptionError,
)

__all__ = ["ExitCode", "exit_code_of", "report_error", "report_usage_error"]


class ExitCode(IntEnum):
    """What a script can tell from ``$?``."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    BAD_INPUT = 3
    FAILURES = 4
    INTERRUPTED = 130


def exit_code_of(error: RagCoverError) -> ExitCode:
    """Tell whose fault an error is: the command's words, the files it names, or a model that failed."""
    match error:
        case InputError() | StoreError() | IncomparableError() | CorruptFileError() | UnfitModelError():
            return ExitCode.BAD_INPUT
        case BackendNotFoundError() | NotOfferedError() | UnknownOptionError() | MissingExtraError() | InvalidValueError():
            return ExitCode.USAGE
        case PluginError():
            return ExitCode.USAGE
        case _:
            return ExitCode.FAILURES


def report_error(error: RagCoverError) -> ExitCode:
    """Say what went wrong, without a traceback, and return the exit code for it."""
    warn(f"Error: {error}", style="red")
    return exit_code_of(error)


def report_usage_error(error: Any) -> ExitCode:
    """Say in the same style which word of the command line is wrong, and what tells the right ones.

    ``error`` is one of typer's usage errors. A group called without a command has shown its help already, and says nothing.
    """
    if problem := _usage_problem(error):
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "rag-cover"
        end = "" if problem.endswith((".", "?", "!")) else "."
        warn(f"Error: {problem}{end} See '{command} --help'.", style="red")
    return ExitCode.USAGE


def _usage_problem(error: Any) -> str:
    """Return the problem, after the option or argument that it is about, as problems of files come after the file's name."""
    if not isinstance(error, typer.BadParameter):
        return str(error.format_message()).strip()
    problem = str(error.message).strip().removeprefix("Input ").removeprefix("Value error, ") or "is required"
    place = error.param_hint or (_name_of(error.param) if error.param else "")
    name = place if isinstance(place, str) else " / ".join(place)
    return f"{name}: {problem}" if name else problem


def _name_of(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return str(max(parameter.opts, key=len))
