"""Gates: figures that must reach a minimum, so that a build can fail when answers get worse."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import typer

from rag_cover.cli.console import warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.option_groups import GateOptions
from rag_cover.errors import nearest
from rag_cover.summaries import MetricValue, Summary, metrics_of_installed

__all__ = ["Gate", "GateResult", "exit_code_for", "gates_of", "print_failed_gates", "read_gates"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """How one gate fared: ``value`` is None where the figure is undefined, and ``problem`` is None where the gate holds."""

    gate: Gate
    value: float | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Gate:
    """A minimum for one metric's estimate, or (``lower``) for the lower end of its 95% interval."""

    metric: str
    minimum: float
    lower: bool

    @property
    def option(self) -> str:
        """Return the option that set it."""
        return f"{'--fail-under-lower' if self.lower else '--fail-under'} {self.metric}={self.minimum:g}"

    def check(self, summary: Summary) -> GateResult:
        """Hold the figure against the minimum; an undefined one fails."""
        metric = summary.metrics.get(self.metric)
        value, undefined = self._value(metric) if metric else (None, "is undefined: it was not measured")
        if value is None:
            return GateResult(self, None, f"{self.metric} {undefined}")
        what = f"the lower end of {self.metric}'s 95% interval" if self.lower else self.metric
        below = f"{what} is {value:.3g}, which is {self.minimum - value:.2g} below {self.minimum:g}"
        return GateResult(self, value, below if value < self.minimum else None)

    def _value(self, metric: MetricValue) -> tuple[float | None, str]:
        if metric.interval is None:
            return None, f"is undefined: {metric.undefined_because}"
        if not self.lower:
            return metric.interval.estimate, ""
        return metric.interval.lower, "has no interval: one question alone leaves nothing to resample"


def gates_of(options: Iterable[str] | None, *, lower: bool, known: Collection[str]) -> list[Gate]:
    """Read ``--fail-under`` or ``--fail-under-lower`` options.

    >>> gates_of(["rating=0.5"], lower=False, known=["rating"])
    [Gate(metric='rating', minimum=0.5, lower=False)]
    """
    hint = "--fail-under-lower" if lower else "--fail-under"
    return [_gate(option, lower=lower, known=known, hint=hint) for option in options or ()]


def read_gates(options: GateOptions) -> list[Gate]:
    """Read the gates that a command is given.

    Raises:
        BadParameter: there is no such metric, or its minimum is no number or more than it can reach.
    """
    if not options.fail_under and not options.fail_under_lower:
        return []  # without loading the measures that plugins bring
    known = metrics_of_installed()
    gates = [
        *gates_of(options.fail_under, lower=False, known=known),
        *gates_of(options.fail_under_lower, lower=True, known=known),
    ]
    for gate in gates:
        if gate.minimum > (high := known[gate.metric].metric.high):
            message = (
                f"{gate.metric} is never above {high:g}, so {gate.metric}={gate.minimum:g} always fails; give a lower minimum"
            )
            raise typer.BadParameter(message, param_hint=gate.option.partition(" ")[0])
    return gates


def print_failed_gates(results: Iterable[GateResult]) -> None:
    """Print on stderr which gates failed, and by how much."""
    for result in results:
        if result.problem:
            line = f"Gate failed: {result.problem} ({result.gate.option})."
            warn(line, style="red")


def exit_code_for(summary: Summary, results: Sequence[GateResult], *, strict: bool) -> ExitCode:
    """Return the exit code of a command that measured: by its gates, then (``strict``) by failures."""
    if any(result.problem for result in results):
        return ExitCode.GATE_FAILED
    return ExitCode.FAILURES if strict and summary.failed else ExitCode.OK


def _gate(option: str, *, lower: bool, known: Collection[str], hint: str) -> Gate:
    metric, _, text = option.partition("=")
    if metric not in known:
        message = f"no metric is called {metric!r}.{nearest(metric, known)} There are: {', '.join(known)}."
        raise typer.BadParameter(message, param_hint=hint)
    try:
        minimum = float(text)
    except ValueError:
        minimum = math.nan
    if not math.isfinite(minimum):
        message = f"{option!r} is not METRIC=NUMBER, such as {metric}=0.6"
        raise typer.BadParameter(message, param_hint=hint)
    return Gate(metric, minimum, lower)
