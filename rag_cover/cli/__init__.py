"""The command ``rag-cover``: reads arguments, calls the library, prints its results and errors."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_cover.cli.application import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command; its version is told without loading what commands need."""
    if sys.argv[1:] == ["--version"]:
        from rag_cover.cli.versions import version_line

        with suppress(OSError):  # which the command reports, with its exit code
            sys.stdout.write(f"{version_line()}\n")
            sys.stdout.flush()
            return
    from rag_cover.cli.application import run_application

    run_application()


def __getattr__(name: str) -> Any:
    """Load the application when it is first asked for."""
    if name == "app":
        return import_module("rag_cover.cli.application").app
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
