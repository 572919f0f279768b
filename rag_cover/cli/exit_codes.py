"""How the command ends: its exit codes, and every error as one sentence on stderr."""

from __future__ import annotations

from contextlib import suppress
from enum import IntEnum
from typing import Any

import typer

from rag_cover.cli.console import discard_output, warn
from rag_cover.errors import (
    BackendNotFoundError,
    CorruptFileError,
    IncomparableError,
    InputError,
    InvalidValueError,
    MissingExtraError,
    NothingLearnedError,
    NotOfferedError,
    PluginError,
    RagCoverError,
    StoreError,
    UnfitModelError,
    UnknownOptionError,
)

__all__ = ["ExitCode", "exit_code_of", "report_error", "report_lost_output", "report_usage_error"]


class ExitCode(IntEnum):
    """The exit codes of ``rag-cover``, which a script reads from ``$?``."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    BAD_INPUT = 3
    FAILURES = 4
    INTERRUPTED = 130


def exit_code_of(error: RagCoverError) -> ExitCode:
    """Return the exit code of an error, by its cause: the command line, a file, or a model."""
    match error:
        case InputError() | StoreError() | IncomparableError() | CorruptFileError():
            return ExitCode.BAD_INPUT
        case UnfitModelError() | NothingLearnedError():
            return ExitCode.BAD_INPUT
        case BackendNotFoundError() | NotOfferedError() | UnknownOptionError() | MissingExtraError() | InvalidValueError():
            return ExitCode.USAGE
        case PluginError():
            return ExitCode.USAGE
        case _:
            return ExitCode.FAILURES


def report_error(error: RagCoverError) -> ExitCode:
    """Print what went wrong, without a traceback, and return the exit code for it."""
    warn(f"Error: {error}", style="red")
    return exit_code_of(error)


def report_lost_output(error: OSError) -> ExitCode:
    """Print that what the command prints could not be written, such as to a full disk, and return the exit code for it.

    What is left of it is thrown away, so that the interpreter does not try again at its end.
    """
    with suppress(OSError):
        discard_output()
    warn(f"Error: the output cannot be written ({error.strerror or error}); check where it goes.", style="red")
    return ExitCode.BAD_INPUT


def report_usage_error(error: Any) -> ExitCode:
    """Print, in the same style, which argument is wrong, and which command lists the valid ones.

    ``error`` is one of typer's usage errors. A group called without a command has shown its help already, and says nothing.
    """
    if problem := _usage_problem(error):
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "rag-cover"
        end = "" if problem.endswith((".", "?", "!")) else "."
        warn(f"Error: {problem}{end} See '{command} --help'.", style="red")
    return ExitCode.USAGE


_MEANT = {"--html": "--report", "--output": "--out", "--model": "--judge", "--llm": "--generator", "--overwrite": "--force"}
"""What users of other tools write, and what it is called here."""

_OF_COMMANDS = ("--config", "--no-config")
"""Options that every command has, so that one that is unknown stands before the command."""


def _usage_problem(error: Any) -> str:
    """Return the problem, after the option or argument that it is about, as problems of files come after the file's name."""
    option = getattr(error, "option_name", None) or ""
    known = (
        {name for parameter in error.ctx.command.params for name in parameter.opts} if getattr(error, "ctx", None) else set()
    )
    meant = "--out" if option == "--html" and "--report" not in known else _MEANT.get(option)
    if meant is not None and (not known or meant in known):
        return f"there is no option {option}; did you mean {meant}?"
    if option in _OF_COMMANDS:
        return f"{option} stands after the command, such as 'rag-cover evaluate traces.jsonl {option}'"
    if not isinstance(error, typer.BadParameter):
        return str(error.format_message()).strip()
    problem = str(error.message).strip().removeprefix("Input ").removeprefix("Value error, ")
    place = error.param_hint or (_name_of(error.param) if error.param else "")
    name = place if isinstance(place, str) else " / ".join(place)
    if not problem:
        return f"{name or 'an argument'} is missing; it has to be given"
    return f"{name}: {problem}" if name else problem


def _name_of(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return str(max(parameter.opts, key=len))
