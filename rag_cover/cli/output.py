"""How a command that measured ends: its report, its screen or its JSON document, its gates, its exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

import typer
from rich.console import Console

from rag_cover.cli.console import print_json, screen
from rag_cover.cli.gates import Gate, exit_code_for, print_failed_gates, print_failures, read_gates
from rag_cover.cli.json_output import spending_document, write_page
from rag_cover.cli.option_groups import GateOptions, ScreenOptions
from rag_cover.cli.options import prices_of
from rag_cover.cli.run import EvaluationRun, print_output_paths, run_document
from rag_cover.evaluation import Evaluation
from rag_cover.llm.usage import Price
from rag_cover.reports import spending_table
from rag_cover.summaries import Summary

__all__ = ["Ending"]


@dataclass(frozen=True, slots=True)
class Ending:
    """What is wanted at the end, read before anything is measured; ``page=None`` writes no report."""

    page: Path | None
    as_json: bool
    gates: Sequence[Gate]
    strict: bool
    prices: Mapping[str, Price]

    @classmethod
    def read(cls, page: Path | None, *, screen: ScreenOptions, gates: GateOptions, prices: Path | None) -> Self:
        """Read the options.

        Raises:
            BadParameter: a gate that is none.
            InputError: a table of prices that cannot be read.
        """
        return cls(page, screen.as_json, read_gates(gates), gates.strict, prices_of(prices))

    def come(
        self,
        run: EvaluationRun,
        evaluation: Evaluation,
        summary: Summary,
        *,
        write: Callable[[Path], None],
        show: Callable[[Console], None],
        document: Callable[[], Mapping[str, Any]] = dict,
    ) -> NoReturn:
        """Write the report, show the figures (or print the document, with what it adds), tell the gates, and exit."""
        if (page := self.page) is not None:
            write_page(page, lambda: write(page))
        results = [gate.check(summary) for gate in self.gates]
        spending = evaluation.spending
        if self.as_json:
            spent = {"spending": spending_document(spending, self.prices)} if spending else {}
            print_json(run_document(run, summary, page, results) | dict(document()) | spent)
        else:
            out = screen(quiet=run.quiet)
            show(out)
            if spending:
                out.print(spending_table(spending, self.prices))
            print_output_paths(run, summary, page)
        print_failed_gates(results)
        print_failures(summary, strict=self.strict)
        raise typer.Exit(exit_code_for(summary, results, strict=self.strict))
