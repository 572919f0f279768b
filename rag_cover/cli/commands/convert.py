"""``rag-cover convert``: other tools' files into trace files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.console import say
from rag_cover.cli.option_groups import FileOptions
from rag_cover.cli.options import INPUT, Force, Limit, Quiet
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.cli.run import warn_skipped_traces
from rag_cover.reports.sanitise import one_line
from rag_cover.stores import write_traces
from rag_cover.traces import Trace

__all__ = ["ConvertOptions", "convert_traces"]

_TABLES = (".csv", ".tsv", ".parquet", ".xlsx")
"""Endings of tables: a trace file that is called so would be read as one."""
_LISTED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions:
    """The options of ``rag-cover convert``."""

    source: Annotated[Path, typer.Argument(help="A file in any format known here.", metavar="IN", show_default=False)]
    target: Annotated[
        Path, typer.Argument(help="The trace file to write (.jsonl, .jsonl.gz).", metavar="OUT", show_default=False)
    ]
    file: FileOptions
    limit: Limit = None
    user_ids: Annotated[
        bool, typer.Option("--user-ids", help="Import the ids of users, if the file has them.", rich_help_panel=INPUT)
    ] = False
    force: Force = False
    quiet: Quiet = False


@expand_options
def convert_traces(options: ConvertOptions) -> None:
    """Convert a file of another tool, or a table, into a trace file (JSON Lines, one trace per line).

    [bold]Examples[/bold]

      rag-cover convert ragas.json traces.jsonl

      rag-cover convert fragen.csv traces.jsonl --column question=Frage --column answer=Antwort
    """
    if options.target.suffix.lower() in _TABLES:
        message = f"traces are written as JSON Lines; name the file {options.target.stem}.jsonl"
        raise typer.BadParameter(message)
    refuse_existing(options.target, force=options.force, inputs=[options.source])
    file, target = options.file.trace_file(options.source, options.limit, user_ids=options.user_ids), options.target
    others: dict[str, None] = {}
    count = write_traces(target, _noting_metadata(file, others))
    warn_skipped_traces(file)
    traces = "1 trace" if count == 1 else f"{count:,} traces"
    say(f"{traces} written to {target}. Next: rag-cover evaluate {target}", quiet=options.quiet)
    if others:
        more = f" and {len(others) - _LISTED} more" if len(others) > _LISTED else ""
        names = ", ".join(one_line(name, limit=40) for name in islice(others, _LISTED))
        say(f"Kept as metadata, which no measure reads: {names}{more}.", quiet=options.quiet)


def _noting_metadata(traces: Iterable[Trace], names: dict[str, None]) -> Iterator[Trace]:
    """Pass on traces, and note what their metadata is called."""
    for trace in traces:
        names.update(dict.fromkeys(trace.metadata))
        yield trace
