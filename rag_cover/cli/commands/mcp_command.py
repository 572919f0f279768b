"""``rag-cover mcp``: a server for coding agents, over standard input and output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.mcp_server import OpenFolder, Toolbox, make_server
from rag_cover.cli.options import Judge
from rag_cover.cli.parameters import expand_options

__all__ = ["McpOptions", "serve_mcp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpOptions:
    """The options of ``rag-cover mcp``."""

    folder: Annotated[
        Path, typer.Option(help="The folder that the server reads; nothing outside of it is read.", metavar="DIR")
    ] = Path()
    write: Annotated[
        bool, typer.Option("--write", help="Let it make new files there: stores and reports.", show_default=False)
    ] = False
    judge: Judge = "embedded"
    max_mb: Annotated[int, typer.Option(help="How many megabytes a file that is read may have.", min=1, metavar="N")] = 64
    max_traces: Annotated[int, typer.Option(help="How many traces are evaluated at once.", min=1, metavar="N")] = 500


@expand_options
def serve_mcp(options: McpOptions) -> None:
    """Serve evaluate, compare, worst questions and route to a coding agent (Model Context Protocol, standard input and output).

    It reads only below --folder, writes only with --write, and asks no remote model unless --judge names one.

    [bold]Examples[/bold]

      rag-cover mcp --folder runs/
    """
    folder = OpenFolder(options.folder, options.write, options.max_mb)
    make_server(Toolbox(folder, options.judge, options.max_traces)).run("stdio")
