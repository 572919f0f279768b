"""One evaluation as the command runs it: with a progress bar, a store, and a word on what was kept when it is interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from rag_cover.cli.exits import ExitCode
from rag_cover.cli.inputs import TraceFile, name_of, opened
from rag_cover.cli.screens import progress_bar, warn
from rag_cover.coverage import CoverageMeasure
from rag_cover.evaluation import Evaluation, evaluate
from rag_cover.measuring import MEASURES
from rag_cover.registry import Models
from rag_cover.results import Measure
from rag_cover.stores import Store

__all__ = ["Run", "measures_of", "report_for", "store_for", "tell_skipped"]


@dataclass(frozen=True, slots=True)
class Run:
    """What to evaluate, and how; ``store=None`` keeps the results in memory."""

    file: TraceFile
    store: Path | None
    models: Models = field(default_factory=Models)
    measures: Sequence[str | Measure] | None = None
    resume: bool = False
    workers: int | None = None
    quiet: bool = False
    cache: bool = True
    deadline_s: float | None = None

    def evaluated(self) -> Evaluation:
        """Evaluate; skipped traces are told on stderr, an interrupt says how to go on.

        Raises:
            RagCoverError: what `evaluate` and the file raise.
        """
        traces = opened(self.file)
        try:
            with progress_bar(quiet=self.quiet) as show:
                evaluation = evaluate(
                    traces,
                    measures=self.measures,
                    models=self.models,
                    store=self.store,
                    resume=self.resume,
                    workers=self.workers,
                    progress=show,
                    cache=self.cache,
                    deadline_s=self.deadline_s,
                )
        except KeyboardInterrupt:
            warn(_interrupted(self.store), style="red")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        tell_skipped(self.file)
        return evaluation


def measures_of(names: Sequence[str] | None, threshold: float | None) -> Sequence[str | Measure] | None:
    """Choose the measures; a threshold is for coverage.

    >>> measures_of(["groundedness"], None), measures_of(None, None)
    (['groundedness'], None)
    """
    if threshold is None:
        return list(names) if names else None
    chosen = list(names or MEASURES)
    if "coverage" not in chosen:
        message = "a threshold is for the measure 'coverage', which is not among those asked for"
        raise typer.BadParameter(message, param_hint="--threshold")
    return [CoverageMeasure(threshold=threshold) if name == "coverage" else name for name in chosen]


def tell_skipped(file: TraceFile) -> None:
    """Say on stderr how many traces could not be read, and why the first could not."""
    if skipped := file.skipped:
        count = "1 trace was" if len(skipped) == 1 else f"{len(skipped):,} traces were"
        line = f"{count} left out, the first because: {skipped[0]}"
        warn(line)


def store_for(traces: Path) -> Path:
    """Name the store that an evaluation of this file is kept in, in the current directory.

    >>> store_for(Path("runs/traces.jsonl")).as_posix()
    'traces-coverage.sqlite'
    """
    return Path(f"{name_of(traces)}-coverage.sqlite")


def report_for(traces: Path) -> Path:
    """Name the report of an evaluation of this file, in the current directory."""
    return Path(f"{name_of(traces)}-coverage.html")


def _interrupted(path: Path | None) -> str:
    if path is None or not path.exists():
        return "Interrupted. Nothing was kept."
    with Store.open(path, create=False) as store:
        kept = "1 trace is" if len(store) == 1 else f"{len(store):,} traces are"
    return f"Interrupted. {kept} kept in {path}; run the same command with --resume to go on."
