"""Gates of a comparison: a build fails where a metric of B is worse than that of A."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from rag_cover.cli.console import say, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.coverage import Loss
from rag_cover.errors import nearest
from rag_cover.reports.text import p_value_text
from rag_cover.stats.intervals import SIGNIFICANT
from rag_cover.summaries import Comparison, MetricComparison, OwnedMetric, metrics_of_installed

__all__ = ["METRICS_OF_LOSSES", "WorseGate", "WorseGateResult", "end_with_gates", "gates_document", "read_worse_gates"]

_HINT = "--fail-if-worse"
METRICS_OF_LOSSES = ("core_coverage", "core_retrieved", "core_use", "retrieval_headroom", "rating")
"""Metrics whose cause is a loss of core sub-questions."""


@dataclass(frozen=True, slots=True)
class WorseGateResult:
    """How one gate fared: ``problem`` is None where it holds, ``visible`` the difference that as many questions can show."""

    gate: WorseGate
    problem: str | None
    visible: float | None


@dataclass(frozen=True, slots=True)
class WorseGate:
    """A metric of B that must not be worse than that of A.

    Without a ``margin`` it fails where B is worse and that is hardly chance (paired permutation test, p < 0.05); with one it
    fails unless B is shown to be no more than that worse: the 95% interval of the difference lies within it (non-inferiority).
    """

    metric: str
    margin: float | None

    @property
    def option(self) -> str:
        """Return the option that set it."""
        return f"{_HINT} {self.metric}" + ("" if self.margin is None else f"={self.margin:g}")

    def check(self, comparison: Comparison) -> WorseGateResult:
        """Hold B against A; a metric that is undefined on a side fails."""
        found = comparison.metrics.get(self.metric)
        if found is None or found.a is None or found.b is None or found.difference is None:
            return WorseGateResult(
                self, f"{self.metric} is undefined on a side: it was not measured, or nothing counts in it", None
            )
        worst = _worst(found)
        visible = None if worst is None else abs(worst - _worse_by(found))
        if self.margin is None:
            failed = _worse_by(found) > 0 and found.p_value is not None and found.p_value < SIGNIFICANT
        else:
            failed = worst is None or worst > self.margin
        return WorseGateResult(self, _explain(found, self.margin, comparison) if failed else None, visible)


def read_worse_gates(options: Iterable[str] | None) -> list[WorseGate]:
    """Read ``--fail-if-worse`` options: ``core_coverage``, or ``core_coverage=0.05``.

    Raises:
        BadParameter: there is no such metric, nothing about it is better or worse, or its margin is no number from 0 on.
    """
    known = metrics_of_installed() if options else {}
    return [_gate(option, known) for option in options or ()]


def end_with_gates(results: Sequence[WorseGateResult], *, quiet: bool) -> None:
    """Tell how the gates fared, the failed ones on stderr, and exit with 1 where one failed.

    Raises:
        Exit: one failed.
    """
    for result in results:
        if result.problem is not None:
            line = f"Gate failed: {result.problem} ({result.gate.option})."
            warn(line, style="red")
        else:
            seen = "" if result.visible is None else f"; a difference of {result.visible:.2g} would show on as many questions"
            say(f"Gate passed: {result.gate.option}{seen}.", quiet=quiet)
    if any(result.problem for result in results):
        raise typer.Exit(ExitCode.GATE_FAILED)


def gates_document(results: Sequence[WorseGateResult]) -> list[dict[str, Any]]:
    """Write the gates as JSON data."""
    return [
        {"option": each.gate.option, "passed": each.problem is None, "problem": each.problem, "visible": each.visible}
        for each in results
    ]


def _worse_by(found: MetricComparison) -> float:
    """Return by how much B is worse; below 0 where it is better."""
    difference = found.difference or 0.0
    return -difference if found.higher_is_better else difference


def _worst(found: MetricComparison) -> float | None:
    """Return by how much B may be worse, by the end of the interval; None where there is none."""
    interval = found.interval
    if interval is None or interval.lower is None or interval.upper is None:
        return None
    return -interval.lower if found.higher_is_better else interval.upper


def _explain(found: MetricComparison, margin: float | None, comparison: Comparison) -> str:
    a, b = (side.estimate if side else math.nan for side in (found.a, found.b))
    why = p_value_text(found.p_value) if margin is None and found.p_value is not None else _within(found, margin)
    said = f"{found.name} went from {a:.3g} to {b:.3g} ({b - a:+.2g}, {why}, {found.questions:,} questions)"
    return f"{said}{_cause(comparison)}" if found.name in METRICS_OF_LOSSES else said


def _within(found: MetricComparison, margin: float | None) -> str:
    worst = _worst(found)
    if worst is None:
        return "one question alone leaves open how much worse"
    return f"it may be {worst:.2g} worse, which is more than {margin:g}"


def _cause(comparison: Comparison) -> str:
    """Name the loss that there are most more of."""
    more = {loss: comparison.losses_b.get(loss, 0) - comparison.losses_a.get(loss, 0) for loss in Loss}
    loss = max(more, key=more.__getitem__)
    return f"; {loss}: {more[loss]:+d}" if more[loss] > 0 else ""


def _gate(option: str, known: Mapping[str, OwnedMetric]) -> WorseGate:
    name, is_given, text = option.partition("=")
    if name not in known:
        message = f"no metric is called {name!r}.{nearest(name, known)} There are: {', '.join(known)}."
        raise typer.BadParameter(message, param_hint=_HINT)
    if known[name].metric.higher_is_better is None:
        message = f"{name} describes, and neither more nor less of it is better"
        raise typer.BadParameter(message, param_hint=_HINT)
    try:
        margin = float(text) if is_given else None
    except ValueError:
        margin = math.nan
    if margin is not None and not 0 <= margin < math.inf:
        message = f"{option!r} is not METRIC or METRIC=MARGIN, such as {name}=0.05"
        raise typer.BadParameter(message, param_hint=_HINT)
    return WorseGate(name, margin)
