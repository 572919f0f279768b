"""``rag-cover demo``: two pipelines whose losses are known, evaluated and compared offline."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.documents import write_page
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.options import OUTPUT, Judge, Quiet
from rag_cover.cli.runs import Run
from rag_cover.cli.screens import screen
from rag_cover.comparison import compare
from rag_cover.demo import trace_paths
from rag_cover.errors import StoreError
from rag_cover.evaluation import Evaluation
from rag_cover.registry import Models
from rag_cover.reports import write_report
from rag_cover.reports.comparing import comparison_headline
from rag_cover.reports.wording import headline, loss_advice, losses_sentence
from rag_cover.summaries import Comparison

__all__ = ["show_demo"]


def show_demo(
    *,
    out: Annotated[
        Path, typer.Option(help="The folder for results and reports.", metavar="DIR", rich_help_panel=OUTPUT)
    ] = Path("rag-cover-demo"),
    judge: Judge = "embedded",
    quiet: Quiet = False,
) -> None:
    """Evaluate and compare two demo pipelines that answer the same twenty questions, each losing something else.

    [bold]Example[/bold]

      rag-cover demo
    """
    _make(out)
    paths = trace_paths()
    evaluations = [
        Run(TraceFile(path), out / f"{path.stem}.sqlite", Models(judge=judge), resume=True, quiet=quiet).evaluated()
        for path in paths
    ]
    comparison = compare(*evaluations)
    pages = [out / f"{path.stem}.html" for path in paths]
    for evaluation, page in zip(evaluations, pages, strict=True):
        write = partial(write_report, page, evaluation.results, evaluation.summary(), comparison=comparison)
        write_page(page, write)
    _tell(evaluations, comparison, pages, quiet=quiet)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as denied:
        message = f"The folder {folder} cannot be made ({denied.strerror}); name another one with --out."
        raise StoreError(message) from denied


def _tell(evaluations: list[Evaluation], comparison: Comparison, pages: list[Path], *, quiet: bool) -> None:
    out = screen(quiet=quiet)
    out.print("Two pipelines answered the same questions about heat pumps and insulation.\n")
    for evaluation, name in zip(evaluations, (comparison.name_a, comparison.name_b), strict=True):
        summary = evaluation.summary()
        story = [headline(summary).text + ".", losses_sentence(summary.losses), loss_advice(summary.losses)]
        out.print(f"{name}: {' '.join(part for part in story if part)}\n")
    out.print(f"{comparison_headline(comparison)}.\n")
    first, second = pages
    out.print(
        f"""\
Open a report in your browser:
  {first}
  {second}

The figures side by side, with the questions that changed:
  rag-cover compare {first.with_suffix(".sqlite")} {second.with_suffix(".sqlite")}

Next, with your own answers, one a line such as {{"question": "…", "answer": "…"}}:
  rag-cover evaluate traces.jsonl
  rag-cover compare before.jsonl after.jsonl
  rag-cover --help"""
    )
