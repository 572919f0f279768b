"""Gates: figures that must reach a minimum, or stay under a maximum, so that a build can fail when answers get worse."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import typer

from rag_cover.cli.console import warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.option_groups import GateOptions
from rag_cover.errors import nearest
from rag_cover.known_measures import measure_named
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.text import CoreShare, core_share, format_count
from rag_cover.short_forms import join_words
from rag_cover.summaries import MetricValue, OwnedMetric, Summary, metrics_of_installed

__all__ = [
    "Bound",
    "Gate",
    "GateResult",
    "exit_code_for",
    "gates_of",
    "hint_to_measure",
    "print_failed_gates",
    "print_failures",
    "read_gates",
    "share_of_percent",
]


class Bound(StrEnum):
    """Which side of a number a figure must be on; the value is the option that says so."""

    UNDER = "--fail-under"
    UNDER_LOWER = "--fail-under-lower"
    OVER = "--fail-over"
    OVER_UPPER = "--fail-over-upper"

    @property
    def is_maximum(self) -> bool:
        """Return whether the number is a maximum."""
        return self in (Bound.OVER, Bound.OVER_UPPER)

    @property
    def end(self) -> str | None:
        """Return which end of the 95% interval is held against the number; None where the estimate is."""
        return {Bound.UNDER_LOWER: "lower", Bound.OVER_UPPER: "upper"}.get(self)


@dataclass(frozen=True, slots=True)
class GateResult:
    """How one gate fared: ``value`` is None where the figure is undefined, and ``problem`` is None where the gate holds."""

    gate: Gate
    value: float | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Gate:
    """A minimum or a maximum for one metric: for its estimate, or for an end of its 95% interval."""

    metric: str
    limit: float
    bound: Bound

    @property
    def option(self) -> str:
        """Return the option that set it."""
        return f"{self.bound} {self.metric}={self.limit:g}"

    def check(self, summary: Summary) -> GateResult:
        """Hold the figure against the limit, core coverage as the headline gives it; an undefined one fails."""
        metric = summary.metrics.get(self.metric)
        core = core_share(summary) if self.metric == "core_coverage" else None
        value, undefined = self._value(metric, core) if metric else (None, "is undefined: it was not measured")
        if value is None:
            return GateResult(self, None, f"{self.metric} {undefined}{hint_to_measure(self.metric, summary.outcomes)}")
        what = f"the {self.bound.end} end of {self.metric}'s 95% interval" if self.bound.end else self.metric
        beyond = value - self.limit if self.bound.is_maximum else self.limit - value
        side = "above" if self.bound.is_maximum else "below"
        by = f" {core.by}" if core and core.by else ""
        problem = f"{what}{by} is {value:.3g}, which is {beyond:.2g} {side} {self.limit:g}"
        return GateResult(self, value, problem if beyond > 0 else None)

    def _value(self, metric: MetricValue, core: CoreShare | None) -> tuple[float | None, str]:
        interval = core.interval if core else metric.interval
        if interval is None:
            return None, f"is undefined: {metric.undefined_because}"
        ends = {None: interval.estimate, "lower": interval.lower, "upper": interval.upper}
        return ends[self.bound.end], "has no interval: there are too few questions to resample"


def hint_to_measure(metric: str, measured: Collection[str]) -> str:
    """Say what brings a metric whose measure is not among those measured; empty where it is, or nobody knows it.

    >>> hint_to_measure("claim_recall", ["coverage", "groundedness"])
    "; 'rag-cover evaluate --measure claims' measures it, where traces have a gold answer (references) and retrieval steps"
    >>> hint_to_measure("core_coverage", ["coverage"])
    ''
    """
    owned = metrics_of_installed().get(metric)
    if owned is None or owned.measure in measured:
        return ""
    measure = measure_named(owned.measure)
    receiver = " --receiver NAME" if "receiver" in measure.required_models else ""
    inputs = owned.metric.required_inputs or measure.required_inputs
    where = f", where traces have {join_words(inputs)}" if inputs else ""
    return f"; 'rag-cover evaluate --measure {owned.measure}{receiver}' measures it{where}"


def gates_of(options: Iterable[str] | None, bound: Bound, *, known: Collection[str]) -> list[Gate]:
    """Read the options that set one kind of gate.

    >>> gates_of(["rating=0.5"], Bound.UNDER, known=["rating"])
    [Gate(metric='rating', limit=0.5, bound=<Bound.UNDER: '--fail-under'>)]
    """
    return [_gate(option, bound, known=known) for option in options or ()]


def read_gates(options: GateOptions) -> list[Gate]:
    """Read the gates that a command is given.

    Raises:
        BadParameter: there is no such metric, its limit is no number or lies where every build fails or none does, or the gate
            would fail a build whose figure got better.
    """
    given = {
        Bound.UNDER: options.fail_under,
        Bound.UNDER_LOWER: options.fail_under_lower,
        Bound.OVER: options.fail_over,
        Bound.OVER_UPPER: options.fail_over_upper,
    }
    if not any(given.values()):
        return []  # without loading the measures that plugins bring
    known = metrics_of_installed()
    gates = [gate for bound, texts in given.items() for gate in gates_of(texts, bound, known=known)]
    for gate in gates:
        if problem := _problem_of(gate, known[gate.metric]):
            raise typer.BadParameter(problem, param_hint=gate.bound)
    return gates


def _problem_of(gate: Gate, owned: OwnedMetric) -> str | None:
    """Return why a gate can be no gate; None where it can."""
    metric, name, is_maximum = owned.metric, f"{gate.metric}={gate.limit:g}", gate.bound.is_maximum
    if metric.higher_is_better is not None and metric.higher_is_better == is_maximum:
        better, other = ("more", Bound.UNDER) if is_maximum else ("less", Bound.OVER)
        return f"{better} of {gate.metric} is better, so this fails a build that got better; give {other} {name}"
    if is_maximum:
        never, always, word = gate.limit >= metric.high, gate.limit < metric.low, "maximum"
    else:
        never, always, word = gate.limit <= metric.low, gate.limit > metric.high, "minimum"
    if not (never or always):
        return None
    how_often = "never" if never else "always"
    if gate.limit >= metric.high:
        lower = f"give a lower {word}{share_of_percent(gate.limit, metric.high)}"
        return f"{gate.metric} is never above {metric.high:g}, so {name} {how_often} fails; {lower}"
    return f"{gate.metric} is never below {metric.low:g}, so {name} {how_often} fails; give a higher {word}"


def share_of_percent(number: float, high: float) -> str:
    """Say which share a number may have been meant as, where it reads as percent of a metric of at most 1; else nothing.

    >>> share_of_percent(5, 1.0), share_of_percent(5, 2.0), share_of_percent(500, 1.0)
    (', such as 0.05 for 5%', '', '')
    """
    return f", such as {number / 100:g} for {number:g}%" if high == 1 and 1 <= number < 100 else ""  # noqa: PLR2004 - percent


def print_failed_gates(results: Iterable[GateResult]) -> None:
    """Print on stderr which gates failed, and by how much."""
    for result in results:
        if result.problem:
            line = f"Gate failed: {result.problem} ({result.gate.option})."
            warn(line, style="red")


def exit_code_for(summary: Summary, results: Sequence[GateResult], *, strict: bool) -> ExitCode:
    """Return the exit code of a command that measured: by its gates, then by failures.

    Where a measure failed on every trace that it can measure, nothing was measured: that is a failure without ``strict``, too.
    """
    if any(result.problem for result in results):
        return ExitCode.GATE_FAILED
    return ExitCode.FAILURES if summary.unmeasured or (strict and summary.failed) else ExitCode.OK


def print_failures(summary: Summary, *, strict: bool) -> None:
    """Print on stderr what failed, where the command ends with an exit code that says so."""
    if unmeasured := summary.unmeasured:
        reasons = sum((Counter(summary.outcomes[name].reasons) for name in unmeasured), Counter[str]())
        ((reason, _),) = reasons.most_common(1)
        warn(f"Error: nothing was measured for {join_words(unmeasured)}: {one_line(reason, limit=200)}", style="red")
    elif strict and summary.failed:
        warn(f"Error: {format_count(summary.failed, 'measurement')} failed; --resume repeats them.", style="red")


def _gate(option: str, bound: Bound, *, known: Collection[str]) -> Gate:
    metric, _, text = option.partition("=")
    if metric not in known:
        message = f"no metric is called {metric!r}.{nearest(metric, known)} There are: {', '.join(known)}."
        raise typer.BadParameter(message, param_hint=bound)
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        message = f"{option!r} is not METRIC=NUMBER, such as {metric}=0.6"
        raise typer.BadParameter(message, param_hint=bound)
    return Gate(metric, limit, bound)
