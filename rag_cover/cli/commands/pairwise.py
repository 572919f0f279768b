"""``rag-cover compare --pairwise``: the answers of two or more pipelines, judged pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

import typer

from rag_cover.backends import Generator
from rag_cover.cli.console import busy, print_json, say, screen, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.json_output import spending_document, write_page
from rag_cover.cli.options import prices_of
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.comparison import compare_pairwise
from rag_cover.llm.cache import cache_for
from rag_cover.llm.session import LLMSession, bind_models
from rag_cover.llm.usage import Price
from rag_cover.pairwise import PairwiseComparison
from rag_cover.registry import open_generator
from rag_cover.reports import spending_table, winning_table, write_pairwise

__all__ = ["Contest"]

_KEPT = Path("pairwise.sqlite")
"""What a generator says is kept beside this, whichever files are compared: keys go by what it was asked."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Who judges the answers: a generator, None for the coverage rating."""

    generator: Generator | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    run: LLMSession = field(default_factory=LLMSession)

    @classmethod
    def read(cls, generator: str | None, prices: Path | None, *, cache: bool) -> Self:
        """Read the options and open the generator, before anything is measured.

        Raises:
            InputError: a table of prices that cannot be read.
            BackendNotFoundError: no backend opens the generator.
        """
        run = LLMSession(cache_for(cache, _KEPT))
        opened = bind_models({"generator": open_generator(generator)}, run)["generator"] if generator else None
        return cls(opened, prices_of(prices), run)

    def hold(
        self,
        sides: Sequence[Evaluation],
        names: Sequence[str],
        sub_questions: Literal["same", "any"],
        *,
        report: Path | None,
        as_json: bool,
        quiet: bool,
    ) -> None:
        """Compare, write the report, and show who wins, or print it as JSON."""
        try:
            with busy("Comparing answers", quiet=quiet or as_json or self.generator is None):
                comparison = compare_pairwise(sides, judge=self.generator or "rating", names=names, sub_questions=sub_questions)
        except KeyboardInterrupt:
            kept = " What was answered is kept; the same command goes on." if self.generator and self.run.cache else ""
            warn(f"Interrupted.{kept}", style="red")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        if report:
            write_page(report, partial(write_pairwise, report, comparison))
        if as_json:
            print_json(self._document(comparison) | {"report": str(report) if report else None})
            return
        screen(quiet=quiet).print(winning_table(comparison))
        if spending := self.run.ledger.spending:
            screen(quiet=quiet).print(spending_table(spending, self.prices))
        if report:
            say(f"Report: {report}", quiet=quiet)

    def _document(self, comparison: PairwiseComparison) -> dict[str, Any]:
        spending = self.run.ledger.spending
        return comparison.to_dict() | ({"spending": spending_document(spending, self.prices)} if spending else {})
