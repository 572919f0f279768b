"""Gates of a comparison: a build fails where a metric of B is worse than that of A."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import typer

from rag_cover.cli.console import say, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.gate_causes import METRICS_OF_LOSSES
from rag_cover.cli.gates import hint_to_measure, share_of_percent
from rag_cover.errors import nearest
from rag_cover.reports.text import p_value_text
from rag_cover.stats.intervals import SIGNIFICANT
from rag_cover.summaries import Comparison, MetricComparison, OwnedMetric, metrics_of_installed

__all__ = [
    "WorseGate",
    "WorseGateResult",
    "check_worse_gates",
    "end_with_gates",
    "gates_document",
    "read_worse_gates",
]

_HINT = "--fail-if-worse"
_NEAR = 2 * SIGNIFICANT
"""The p-value below which a gate that holds is told in the first line: one in twenty builds without a change."""


@dataclass(frozen=True, slots=True)
class WorseGateResult:
    """How one gate fared.

    ``problem`` is None where it holds; ``visible`` is the difference that as many questions can show; ``near`` says how near to
    failing it came. ``warning`` says by how much B is worse where a gate holds by little (p < 0.1). ``needed`` is how many
    questions a failure takes at least, None where there are as many. ``excused`` is the problem with all questions, where the
    gate holds without those that differ between two runs of the baseline.
    """

    gate: WorseGate
    problem: str | None
    visible: float | None
    needed: int | None = None
    excused: str | None = None
    near: str = ""
    warning: str = ""

    @property
    def is_lost(self) -> bool:
        """Return whether it failed on a metric whose cause is a loss of core sub-questions."""
        return self.problem is not None and self.gate.metric in METRICS_OF_LOSSES

    @property
    def note(self) -> str:
        """Return what a reader should know of a gate that holds; empty where there is nothing to say."""
        if self.needed is not None:
            return f"too few questions to fail it: {self.needed} or more can"
        if self.excused is not None:
            return f"holds without the flaky questions; with all, {self.excused}"
        if self.near or not self.visible:
            return self.near
        return f"a difference of about {self.visible:.2g} would show on as many questions"


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

    def check(self, comparison: Comparison, level: float = SIGNIFICANT) -> WorseGateResult:
        """Hold B against A; a metric that is undefined on a side fails. The p-value must be below ``level``, from 0 to 1."""
        found = comparison.metrics.get(self.metric)
        if found is None or found.a is None or found.b is None or found.difference is None:
            hint = hint_to_measure(self.metric, measured=())
            return WorseGateResult(
                self, f"{self.metric} is undefined on a side: it was not measured, or nothing counts in it{hint}", None
            )
        worst = _worst(found)
        visible = None if worst is None else abs(worst - _worse_by(found)) * _widening(level)
        failed = self.p_value(comparison) < level if self.margin is None else worst is None or worst > self.margin
        needed = _fewest_questions(level)
        return WorseGateResult(
            self,
            _explain(found, self.margin) if failed else None,
            visible,
            needed if self.margin is None and found.questions < needed else None,
            near="" if failed else self._nearness(found, worst, level),
            warning="" if failed else self._warning(found, level),
        )

    def _warning(self, found: MetricComparison, level: float) -> str:
        """Say how much worse B is where a test that holds came near to failing; empty where it did not."""
        worse = _worse_by(found)
        if self.margin is not None or found.p_value is None or worse <= 0 or found.p_value >= _NEAR:
            return ""
        moved = "fell" if found.higher_is_better else "rose"
        points = (found.low, found.high) == (0.0, 1.0)
        by = f"{100 * worse:.0f} points" if points else f"{worse:.2g}"
        return f"{found.name} {moved} by {by} ({p_value_text(found.p_value)}; fails below {level:.2g})"

    def _nearness(self, found: MetricComparison, worst: float | None, level: float) -> str:
        """Say how near to failing a gate that holds came; empty where B is not worse."""
        if self.margin is not None and worst is not None:
            return f"no more than {max(0.0, worst):.2g} worse by the 95% interval"
        if self.margin is not None or found.p_value is None or _worse_by(found) <= 0:
            return ""
        return f"{_worse_by(found):.2g} worse, {p_value_text(found.p_value)}: to fail, below {level:.2g}"

    def p_value(self, comparison: Comparison) -> float:
        """Return the two-sided p-value of B being worse, from 0 to 1; 1 where it is not worse, or nothing is tested."""
        found = comparison.metrics.get(self.metric)
        if found is None or self.margin is not None or found.p_value is None or _worse_by(found) <= 0:
            return 1.0
        return found.p_value


def check_worse_gates(
    gates: Sequence[WorseGate], comparison: Comparison, without_flaky: Comparison | None = None
) -> list[WorseGateResult]:
    """Hold B against A by all gates; those without a margin share the level of 5% (Holm 1979, Scand. J. Statist. 6:65-70).

    Args:
        gates: the gates.
        comparison: B against A on all questions.
        without_flaky: the same without questions that differ between two runs of A, where such are known. A gate that fails
            there, or is undefined there, fails if it fails on all questions; one that holds there is excused.
    """
    held = _check_by_holm(gates, comparison)
    if without_flaky is None:
        return held
    again = _check_by_holm(gates, without_flaky)
    return [
        replace(one, problem=None, excused=one.problem) if one.problem and not other.problem and other.needed is None else one
        for one, other in zip(held, again, strict=True)
    ]


def _check_by_holm(gates: Sequence[WorseGate], comparison: Comparison) -> list[WorseGateResult]:
    """Check gates from the smallest p-value on: the level is 5% over the tests left, until the first that holds."""
    tested = [each for each in gates if each.margin is None]
    levels: dict[WorseGate, float] = {}
    left = len(tested)
    for gate in sorted(tested, key=lambda each: each.p_value(comparison)):
        levels[gate] = SIGNIFICANT / left
        if gate.p_value(comparison) < levels[gate]:
            left -= 1
    return [gate.check(comparison, levels.get(gate, SIGNIFICANT)) for gate in gates]


def _widening(level: float) -> float:
    """Return by how much a 95% interval widens to one of another level, a probability of error from 0 to 1."""
    quantile = NormalDist().inv_cdf
    return quantile(1 - level / 2) / quantile(1 - SIGNIFICANT / 2)


def _fewest_questions(level: float) -> int:
    """Return how many questions a permutation test needs at least for a two-sided p-value below a level, from 0 to 1.

    >>> _fewest_questions(0.05), _fewest_questions(0.025)
    (6, 7)
    """
    return math.floor(1 - math.log2(level)) + 1


def read_worse_gates(options: Iterable[str] | None) -> list[WorseGate]:
    """Read ``--fail-if-worse`` options: ``core_coverage``, or ``core_coverage=0.05``. What is repeated is one gate.

    Raises:
        BadParameter: there is no such metric, nothing about it is better or worse, or its margin is no number from 0 on, or
            as wide as the metric's range, so that nothing fails it.
    """
    known = metrics_of_installed() if options else {}
    return list(dict.fromkeys(_gate(option, known) for option in options or ()))


def end_with_gates(results: Sequence[WorseGateResult], *, cause: str | None = None, quiet: bool) -> None:
    """Tell how the gates fared, the failed ones on stderr, with the cause where one is known; exit with 1 where one failed.

    Raises:
        Exit: one failed.
    """
    for result in results:
        if result.problem is not None:
            because = f"Cause: {cause}. " if cause and result.is_lost else ""
            warn(f"Gate failed: {because}{result.problem} ({result.gate.option}).", style="red")
        else:
            say(f"Gate passed: {result.gate.option}{'; ' if result.note else ''}{result.note}.", quiet=quiet)
    if any(result.problem for result in results):
        raise typer.Exit(ExitCode.GATE_FAILED)


def gates_document(results: Sequence[WorseGateResult]) -> list[dict[str, Any]]:
    """Write the gates as JSON data."""
    return [
        {
            "option": each.gate.option,
            "passed": each.problem is None,
            "problem": each.problem,
            "visible": each.visible,
            "needed": each.needed,
            "excused": each.excused,
        }
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


def _explain(found: MetricComparison, margin: float | None) -> str:
    a, b = (side.estimate if side else math.nan for side in (found.a, found.b))
    why = p_value_text(found.p_value) if margin is None and found.p_value is not None else _within(found, margin)
    return f"{found.name} went from {a:.3g} to {b:.3g} ({b - a:+.2g}{_interval(found)}, {why}, {found.questions:,} questions)"


def _interval(found: MetricComparison) -> str:
    interval = found.interval
    if interval is None or interval.lower is None or interval.upper is None:
        return ""
    return f", 95% interval {interval.lower:+.2g} to {interval.upper:+.2g}"


def _within(found: MetricComparison, margin: float | None) -> str:
    worst = _worst(found)
    if worst is None:
        return "one question alone leaves open how much worse"
    return f"it may be {worst:.2g} worse, which is more than {margin:g}"


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
    low, high = known[name].metric.low, known[name].metric.high
    if margin is not None and margin >= high - low:
        smaller = f"give a smaller margin{share_of_percent(margin, high)}"
        message = f"{name} lies between {low:g} and {high:g}, so a margin of {margin:g} never fails; {smaller}"
        raise typer.BadParameter(message, param_hint=_HINT)
    return WorseGate(name, margin)
