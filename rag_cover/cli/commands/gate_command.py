"""``rag-cover gate``: a candidate held against a baseline, so that a build fails where answers became worse."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.console import print_json, say, screen, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.gate_causes import find_cause
from rag_cover.cli.gate_outcome import SHOWN, GateOutcome, GateRow
from rag_cover.cli.gates import read_gates
from rag_cover.cli.json_output import labels_document, write_page
from rag_cover.cli.option_groups import FileOptions, GateOptions, ScreenOptions
from rag_cover.cli.options import INPUT, OUTPUT, FailIfWorse, Force, Judge, Labels, NoCache, Report, Workers
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.cli.run import EvaluationRun, open_or_evaluate
from rag_cover.cli.worse_gates import WorseGate, check_worse_gates, read_worse_gates
from rag_cover.errors import IncomparableError
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.comparison import compare
from rag_cover.importers import read_labels
from rag_cover.question_keys import question_key
from rag_cover.registry import Models
from rag_cover.reports import comparison_table, write_comparison
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.text import format_count
from rag_cover.stores.files import replacing
from rag_cover.summaries import Comparison

__all__ = ["GateCommandOptions", "hold_gate"]

_DEFAULT = ("core_coverage", "groundedness")
"""What must not be worse, where no gate is named; what was not measured on both sides is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCommandOptions:
    """The options of ``rag-cover gate``."""

    baseline: Annotated[
        Path,
        typer.Option(
            help="The baseline: a trace file, or the store of an evaluation.",
            metavar="FILE",
            rich_help_panel=INPUT,
            show_default=False,
        ),
    ]
    candidate: Annotated[
        Path,
        typer.Option(
            help="The run to check: a trace file, or the store of an evaluation.",
            metavar="FILE",
            rich_help_panel=INPUT,
            show_default=False,
        ),
    ]
    repeat: Annotated[
        Path | None,
        typer.Option(
            help="A second run of the baseline. A gate fails only if it also fails without the questions on which "
            "the two baseline runs differ.",
            metavar="FILE",
            rich_help_panel=INPUT,
            show_default="none",
        ),
    ] = None
    file: FileOptions
    judge: Judge = "embedded"
    labels: Labels = None
    workers: Workers = None
    no_cache: NoCache = False
    fail_if_worse: FailIfWorse = None
    gates: GateOptions
    junit: Annotated[
        Path | None,
        typer.Option(help="Also write JUnit XML to this file.", metavar="FILE", rich_help_panel=OUTPUT, show_default="none"),
    ] = None
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Also write a comment for a pull request to this file: Markdown of at most 40 lines.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="none",
        ),
    ] = None
    report: Report = None
    force: Force = False
    screen: ScreenOptions

    def open(self, path: Path) -> Evaluation:
        """Open an evaluation that is kept, or evaluate a file of traces."""
        labels = read_labels(self.labels) if self.labels else ()
        run = EvaluationRun(
            self.file.trace_file(path),
            None,  # in memory: a gate leaves no files, and two files of one name are two evaluations
            models=Models(judge=self.judge),
            workers=self.workers,
            quiet=self.screen.is_silent,
            cache=not self.no_cache,
        )
        return open_or_evaluate(run).with_labels(labels)


@expand_options
def hold_gate(options: GateCommandOptions) -> None:
    """Compare a candidate with a baseline on the questions that they share, and exit with 1 if it is worse.

    If no option names a gate, core_coverage and groundedness must not be worse. The first line says which gate failed, and
    at which stage most of the additional sub-questions were lost.

    [bold]Examples[/bold]

      rag-cover gate --baseline main.sqlite --candidate pr.sqlite

      rag-cover gate --baseline main.sqlite --candidate pr.sqlite --fail-if-worse rating=0.03 --fail-under core_use=0.6

      rag-cover gate --baseline main.sqlite --candidate pr.sqlite --repeat again.sqlite --junit gate.xml --markdown comment.md
    """
    worse, floors = read_worse_gates(options.fail_if_worse), read_gates(options.gates)
    inputs = [options.baseline, options.candidate, options.repeat]
    refuse_existing(options.junit, options.markdown, options.report, force=options.force, inputs=inputs)
    before, after = options.open(options.baseline), options.open(options.candidate)
    flaky = _flaky_questions(before, options.open(options.repeat)) if options.repeat else {}
    comparison = replace(compare(before, after), name_a="baseline", name_b="candidate")
    if not worse and not floors:
        worse = [WorseGate(name, None) for name in _DEFAULT if _is_defined_before(comparison, name)]
    held = check_worse_gates(worse, comparison, _compare_without(before, after, flaky.keys()))
    summary = after.summary()
    rows = [
        *(
            GateRow(
                each.gate.option,
                each.problem,
                each.note,
                weak=each.needed is not None,
                excused=each.excused is not None,
                warning=each.warning,
            )
            for each in held
        ),
        *(GateRow(each.gate.option, each.problem) for each in (gate.check(summary) for gate in floors)),
    ]
    if before.judge != after.judge:
        rows.insert(0, GateRow("judge", f"{before.judge} judged the baseline and {after.judge} the candidate: use one judge"))
    if silent := _without_answer(before, after):
        rows.append(GateRow("answers", f"{silent} of the baseline's answers are missing in the candidate"))
    if not rows:
        rows = [GateRow("core_coverage", "neither core_coverage nor groundedness is defined in the baseline: name a gate")]
    by_losses = before.judge == after.judge and any(each.is_lost for each in held)
    cause = find_cause(comparison, before.summary().answers, summary.answers) if by_losses else None
    _end(GateOutcome(tuple(rows), comparison, cause, tuple(flaky.values())), options)


def _end(outcome: GateOutcome, options: GateCommandOptions) -> None:
    """Write what is asked for, and exit with 1 where a gate failed."""
    if options.report:
        write_page(options.report, partial(write_comparison, options.report, outcome.comparison))
    for path, text in ((options.junit, outcome.to_junit), (options.markdown, outcome.to_markdown)):
        if path:
            with replacing(path) as file:
                file.write(text().encode())
    if options.screen.as_json:
        print_json(outcome.to_dict() | labels_document(outcome.comparison))
    else:
        _show(outcome, quiet=options.screen.quiet)
    if not outcome.passed:
        raise typer.Exit(ExitCode.GATE_FAILED)


def _show(outcome: GateOutcome, *, quiet: bool) -> None:
    if outcome.passed:
        say(outcome.headline, quiet=quiet)
    else:
        warn(outcome.headline, style="red")
    for row in outcome.rows:
        say(f"  {'failed' if row.problem else 'passed'}  {row.option}: {row.problem or row.note or 'holds'}", quiet=quiet)
    for changed in outcome.worse[:SHOWN]:
        say(f"  less is answered of: {one_line(changed.question)}", quiet=quiet)
    if len(outcome.worse) > SHOWN:
        say(f"  and of {format_count(len(outcome.worse) - SHOWN, 'more question')}", quiet=quiet)
    if outcome.flaky:
        say(f"  {format_count(len(outcome.flaky), 'question')} differ between two runs of the baseline:", quiet=quiet)
        for question in outcome.flaky[:SHOWN]:
            say(f"    {one_line(question)}", quiet=quiet)
        if len(outcome.flaky) > SHOWN:
            say(f"    and {format_count(len(outcome.flaky) - SHOWN, 'more question')}", quiet=quiet)
    screen(quiet=quiet).print(comparison_table(outcome.comparison))


def _flaky_questions(one: Evaluation, other: Evaluation) -> dict[str, str]:
    """Return the questions whose core sub-questions fare differently in two runs of one pipeline, by their keys."""
    return {each.key: each.question for each in compare(one, other).changed}


def _compare_without(before: Evaluation, after: Evaluation, keys: Collection[str]) -> Comparison | None:
    """Compare without some questions; None where there are none, or no others."""
    if not keys:
        return None
    sides = [
        replace(side, results=[each for each in side.results if question_key(each.trace.question) not in keys])
        for side in (before, after)
    ]
    try:
        return compare(*sides)
    except IncomparableError:  # every shared question is flaky: all count
        return None


def _without_answer(before: Evaluation, after: Evaluation) -> int:
    """Count the questions that the baseline answers and that have no answer, or a blank one, in the candidate."""
    answered, kept = (
        {question_key(each.trace.question) for each in side.results if (each.trace.answer or "").strip()}
        for side in (before, after)
    )
    return len(answered & {question_key(each.trace.question) for each in after.results} - kept)


def _is_defined_before(comparison: Comparison, name: str) -> bool:
    """Return whether the baseline defines a metric: a candidate that does not define it, too, fails its gate."""
    found = comparison.metrics.get(name)
    return found is not None and found.a is not None
