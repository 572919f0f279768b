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

    folder: Annotated[Path, typer.Option(help="The folder that the server reads. It reads no other files.", metavar="DIR")] = (
        Path()
    )
    write: Annotated[
        bool, typer.Option("--write", help="Allow the server to create stores and reports in this folder.", show_default=False)
    ] = False
    judge: Judge = "embedded"
    max_mb: Annotated[int, typer.Option(help="The largest size of a file to read, in MB.", min=1, metavar="N")] = 64
    max_traces: Annotated[
        int, typer.Option(help="The largest number of traces to evaluate in one call.", min=1, metavar="N")
    ] = 500


@expand_options
def serve_mcp(options: McpOptions) -> None:
    """Serve evaluate, compare, worst questions and route to a coding agent (Model Context Protocol, standard input and output).

    The server reads only files in --folder, writes only with --write, and calls a remote model only if --judge names one.

    [bold]Examples[/bold]

      rag-cover mcp --folder runs/
    """
    folder = OpenFolder(options.folder, options.write, options.max_mb)
    make_server(Toolbox(folder, options.judge, options.max_traces)).run("stdio")
