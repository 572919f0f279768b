"""``rag-cover schema``: the JSON Schema of a line of a trace file."""

from __future__ import annotations

from dataclasses import dataclass

from rag_cover.cli.console import print_json
from rag_cover.cli.parameters import expand_options
from rag_cover.traces import trace_schema

__all__ = ["SchemaOptions", "print_schema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaOptions:
    """The options of ``rag-cover schema``: none."""


@expand_options
def print_schema(options: SchemaOptions) -> None:
    """Print the JSON Schema of a trace: a line of the files that [bold]rag-cover evaluate[/bold] reads.

    [bold]Example[/bold]

      rag-cover schema > trace.schema.json
    """
    del options
    print_json(trace_schema())
