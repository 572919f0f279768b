"""One evaluation as the command runs it: with a progress bar, a store, and a word on what was kept when it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from rag_cover.cli.console import say, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.gates import GateResult
from rag_cover.cli.inputs import TraceFile, is_store, open_traces, output_name
from rag_cover.cli.json_output import summary_document
from rag_cover.cli.progress import progress_bar
from rag_cover.coverage import CoverageMeasure
from rag_cover.engines import Engine
from rag_cover.errors import InputError, StoreError
from rag_cover.evaluation import Evaluation, evaluate
from rag_cover.evaluation.blocks import LONGEST_TEXT, select_measures
from rag_cover.measures import Measure
from rag_cover.redaction import Redaction, redact_problem
from rag_cover.registry import Models
from rag_cover.stores import Origin, Store
from rag_cover.summaries import Summary
from rag_cover.traces import Trace

__all__ = [
    "EvaluationRun",
    "measures_of",
    "open_or_evaluate",
    "print_output_paths",
    "report_for",
    "run_document",
    "store_for",
    "warn_skipped_traces",
    "writer_of",
]

_REUSING = {"rag-cover compare": "rag-cover evaluate", "rag-cover study": "rag-cover utility"}
"""Commands that measure trace files as they need them, and go on with the stores that they left; and what measures one file."""


@dataclass(frozen=True, slots=True)
class EvaluationRun:
    """What to evaluate, and how; ``store=None`` keeps the results in memory. ``prepare`` makes the traces that are measured.

    ``command`` is the one that evaluates; ``is_store_named`` tells whether the user named the store.
    """

    file: TraceFile
    store: Path | None
    models: Models = field(default_factory=Models)
    measures: Sequence[str | Measure] | None = None
    resume: bool = False
    workers: int | None = None
    quiet: bool = False
    cache: bool = True
    deadline_s: float | None = None
    prepare: Callable[[Iterable[Trace]], Iterable[Trace]] = lambda traces: traces  # as they are
    redaction: Redaction | None = None
    engine: str | Engine = "local"
    overwrite: bool = False
    longest_text: int = LONGEST_TEXT
    command: str = "rag-cover evaluate"
    is_store_named: bool = True

    @property
    def may_replace_report(self) -> bool:
        """Return whether a report that is there may be written over: by --force, by --resume, or after the store was asked."""
        return self.overwrite or self.resume or (self.store is not None and self.store.exists())

    def evaluate(self) -> Evaluation:
        """Evaluate; print skipped traces on stderr; an interrupt prints how to go on.

        Raises:
            RagCoverError: what `evaluate` and the file raise; with a redaction it quotes nothing of the file. The store that
                nobody named holds the results of another file.
        """
        if self.redaction is None:
            return self._evaluate()
        try:
            return self._evaluate()
        except InputError as wrong:
            raise redact_problem(wrong) from None

    def _evaluate(self) -> Evaluation:
        read = open_traces(self.file)
        if read == [] and self.file.skipped:  # no line is left
            raise self.file.skipped[0]
        traces = self.prepare(read)
        found = self._find_origin()
        if found and not found.is_of(self.file.path) and not self.is_store_named and not self.overwrite:
            raise StoreError(_explain_other_file(self, found))
        adds = self._adds_to(found)
        try:
            with progress_bar(quiet=self.quiet) as show:
                evaluation = evaluate(
                    traces,
                    measures=self.measures,
                    models=self.models,
                    store=self.store,
                    resume=self.resume or (adds and not self.overwrite),
                    overwrite=self.overwrite,
                    engine=self.engine,
                    workers=self.workers,
                    progress=show,
                    cache=self.cache,
                    deadline_s=self.deadline_s,
                    redact=self.redaction or False,
                    longest_text=self.longest_text,
                    origin=found if self.resume and found and not adds else Origin(self.command, self.file.path.name),
                )
        except KeyboardInterrupt:
            warn(_explain_interruption(self.store), style="red")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        if self.redaction:
            self.file.skipped[:] = map(redact_problem, self.file.skipped)
        warn_skipped_traces(self.file)
        return evaluation

    def _find_origin(self) -> Origin | None:
        """Return what the store says of its origin, where there is a store that can be read."""
        if self.store is None or not self.store.is_file() or not is_store(self.store):
            return None
        with Store.open(self.store, create=False) as store:
            return Origin.read(store.meta.get("evaluation"))

    def _adds_to(self, found: Origin | None) -> bool:
        """Tell whether the store only saves another command from measuring this file twice: that is gone on with unasked."""
        return found is not None and found.command in _REUSING and found.is_of(self.file.path)


def open_or_evaluate(run: EvaluationRun) -> Evaluation:
    """Open the evaluation that a store or a folder of parts holds; evaluate a file of traces."""
    path = run.file.path
    if path.is_dir():
        return Evaluation.open(path)
    if not is_store(path):
        return run.evaluate()
    with Store.open(path, create=False) as store:
        if not store.finished:
            line = f"{path} holds an unfinished evaluation: {len(store):,} of its traces are used."
            warn(line)
    return Evaluation.open(path)


def refuse_other_units(nuggets: Path | None, *, given: Mapping[str, object]) -> None:
    """Refuse options that say where sub-questions come from beside ``--nuggets``, in whose place none are used.

    Raises:
        BadParameter: one of ``given``, option to value, is given too.
    """
    if nuggets is not None and (other := next((option for option, value in given.items() if value is not None), None)):
        message = f"with nuggets no sub-questions are used; leave --nuggets or {other} out"
        raise typer.BadParameter(message, param_hint=other)


def measures_of(names: Sequence[str] | None, threshold: float | None) -> Sequence[str | Measure] | None:
    """Choose the measures; a threshold is for coverage.

    >>> measures_of(["groundedness"], None), measures_of(None, None)
    (['groundedness'], None)
    """
    if threshold is None:
        return list(names) if names else None
    chosen = select_measures(names or None)
    if not any(measure.name == "coverage" for measure in chosen):
        message = "a threshold is for the measure 'coverage', which is not among the measures asked for"
        raise typer.BadParameter(message, param_hint="--threshold")
    return type(chosen)(CoverageMeasure(threshold=threshold) if each.name == "coverage" else each for each in chosen)


def writer_of(generator: str | None) -> str | None:
    """Return the model that writes claims: the one that splits questions, None where rules do.

    >>> writer_of("openai:gpt-4.1-mini"), writer_of("rules")
    ('openai:gpt-4.1-mini', None)
    """
    return None if generator == "rules" else generator


def warn_skipped_traces(file: TraceFile) -> None:
    """Print on stderr how many traces could not be read, and why the first could not."""
    if skipped := file.skipped:
        count = "1 trace was" if len(skipped) == 1 else f"{len(skipped):,} traces were"
        line = f"{count} left out, the first because: {skipped[0]}"
        warn(line)


def print_output_paths(run: EvaluationRun, summary: Summary, page: Path | None) -> None:
    """Print where results and report are, and how to go on where something failed."""
    for what, path in (("Results", run.store), ("Report", page)):
        if path:
            say(f"{what}: {path}", quiet=run.quiet)
    if run.store and (failed := summary.failed):
        what = "1 measurement" if failed == 1 else f"{failed:,} measurements"
        say(f"{what} failed; the same command with --resume tries again, and keeps the rest.", quiet=run.quiet)


def run_document(run: EvaluationRun, summary: Summary, page: Path | None, results: Sequence[GateResult]) -> dict[str, Any]:
    """Write as JSON data what a command measured, what its gates say, and where it put the rest."""
    gates = [
        {"option": result.gate.option, "value": result.value, "passed": result.problem is None, "problem": result.problem}
        for result in results
    ]
    return {
        "summary": summary_document(summary),
        "skipped": [str(error) for error in run.file.skipped],
        "gates": gates,
        "store": str(run.store) if run.store else None,
        "report": str(page) if page else None,
    }


def store_for(traces: Path, measured: str = "coverage") -> Path:
    """Name the store that an evaluation of this file is kept in, in the current directory.

    >>> store_for(Path("runs/traces.jsonl")).as_posix()
    'traces-coverage.sqlite'
    """
    return Path(f"{output_name(traces)}-{measured}.sqlite")


def report_for(traces: Path, measured: str = "coverage") -> Path:
    """Name the report of an evaluation of this file, in the current directory."""
    return Path(f"{output_name(traces)}-{measured}.html")


def _explain_other_file(run: EvaluationRun, found: Origin) -> str:
    """Say that two files of one name and different endings share a store, and how to keep them apart."""
    file = run.file.path
    name = file.name.removesuffix(".gz").replace(".", "-")
    measuring = _REUSING.get(run.command, run.command)
    apart = f"--store {name}.sqlite --report {name}.html"
    remedy = (
        f"keep those of {file} in another one with '{measuring} {file} {apart}', and give that store to '{run.command}'"
        if run.command in _REUSING
        else f"keep those of {file} in another one with {apart}, or replace what is there with --force"
    )
    return f"{run.store} holds results {found}; {remedy}"


def _explain_interruption(path: Path | None) -> str:
    if path is None or not path.exists():
        return "Interrupted. Nothing was kept."
    with Store.open(path, create=False) as store:
        kept = "1 trace is" if len(store) == 1 else f"{len(store):,} traces are"
    return f"Interrupted. {kept} kept in {path}; run the same command with --resume to go on."
