"""How the help of a command reads: flags without a type, paragraphs that the terminal wraps, not the source."""

from __future__ import annotations

from typing import Any

__all__ = ["join_lines", "tidy_help"]


def tidy_help(command: Any) -> Any:
    """Tidy the help of a command and of the commands in it, and return it."""
    for member in getattr(command, "commands", {}).values():
        tidy_help(member)
    if command.help:
        command.help = join_lines(command.help)
    list_parameters = command.get_params
    command.get_params = lambda ctx: [_without_flag_type(each) for each in list_parameters(ctx)]
    return command


def join_lines(text: str) -> str:
    r"""Join the lines of each paragraph; one that is indented stays as it is.

    >>> join_lines("A trace is\none line.\n\n  rag-cover demo")
    'A trace is one line.\n\n  rag-cover demo'
    """
    paragraphs = text.split("\n\n")
    return "\n\n".join(each if each.startswith((" ", "\b")) else " ".join(each.split("\n")) for each in paragraphs)


def _without_flag_type(parameter: Any) -> Any:
    if getattr(parameter, "is_flag", False) and parameter.metavar is None:
        parameter.metavar = ""
    return parameter
