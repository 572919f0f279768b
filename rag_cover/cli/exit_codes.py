"""How the command ends: its exit codes, and every error as one sentence on stderr."""

from __future__ import annotations

from enum import IntEnum

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

__all__ = ["ExitCode", "exit_code_of", "report_error"]


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
