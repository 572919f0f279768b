"""``rag-cover convert``: other tools' files into trace files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.console import say
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.options import INPUT, Columns, Format, Limit, OnBadLine, Quiet, columns_of
from rag_cover.cli.run import warn_skipped_traces
from rag_cover.stores import write_traces

__all__ = ["convert_traces"]


def convert_traces(
    source: Annotated[Path, typer.Argument(help="A file in any format known here.", metavar="IN", show_default=False)],
    target: Annotated[
        Path, typer.Argument(help="The trace file to write (.jsonl, .jsonl.gz).", metavar="OUT", show_default=False)
    ],
    *,
    format_: Format = None,
    column: Columns = None,
    on_bad_line: OnBadLine = "raise",
    limit: Limit = None,
    user_ids: Annotated[
        bool, typer.Option("--user-ids", help="Keep who asked each question, where the file says so.", rich_help_panel=INPUT)
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Convert a file of another tool, or a table, into a trace file: JSON Lines, one trace a line.

    [bold]Examples[/bold]

      rag-cover convert ragas.json traces.jsonl

      rag-cover convert fragen.csv traces.jsonl --column question=Frage --column answer=Antwort
    """
    file = TraceFile(source, format_, columns_of(column), on_bad_line, limit, user_ids)
    count = write_traces(target, file)
    warn_skipped_traces(file)
    traces = "1 trace" if count == 1 else f"{count:,} traces"
    say(f"{traces} written to {target}. Next: rag-cover evaluate {target}", quiet=quiet)
