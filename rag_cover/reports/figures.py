"""The numbers of the page as drawings: positions in percent for inline SVG, and the words beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rag_cover.coverage import Loss
from rag_cover.coverage.metrics import Scenarios
from rag_cover.questions import Role
from rag_cover.reports.loss_text import losses_listed
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.sub_question_state import State
from rag_cover.reports.text import (
    Scale,
    interval_text,
    p_value_text,
    percent,
    scale_of,
    verdict_on,
)
from rag_cover.short_forms import capitalise
from rag_cover.stats.intervals import Interval
from rag_cover.summaries import MetricComparison, MetricValue

__all__ = [
    "FEW",
    "Bar",
    "ComparisonRow",
    "MetricRow",
    "Segment",
    "Track",
    "comparison_row",
    "draw_stacked_bar",
    "loss_bar",
    "metric_row",
    "scenario_bar",
    "track_of",
]

FEW = 5
"""The number of questions below which a figure is folded away: a single one more would move it far."""
_WIDE_ENOUGH = 0.09  # of a bar, to write a number into
_LOSS_STATES: Mapping[Loss, State] = {
    Loss.NOT_IN_CORPUS: State.ABSENT,
    Loss.FAILED: State.FAILED,
    Loss.NOT_RETRIEVED: State.MISSING,
    Loss.DROPPED: State.DROPPED,
    Loss.SUB_ANSWER: State.SUB_ANSWER,
    Loss.UNUSED: State.UNUSED,
}


@dataclass(frozen=True, slots=True)
class Track:
    """An interval on its scale; all in percent of the width. ``zero`` is where 0 lies, if inside."""

    at: str
    low: str
    width: str
    zero: str


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar."""

    css: str
    label: str
    text: str
    x: str
    width: str
    has_room: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """A stacked bar, and in one sentence what it shows."""

    name: str
    words: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric in words and as a drawing; ``reason`` says why it is undefined. Unbounded scales have no ``track``."""

    name: str
    label: str
    known_as: str
    explanation: str
    formula: str
    value: str
    interval: str
    n: int | None
    reason: str
    track: Track | None

    @property
    def is_firm(self) -> bool:
        """Tell whether it rests on enough questions to be shown at first sight."""
        return self.n is not None and self.n >= FEW


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One metric of two pipelines."""

    label: str
    a: str
    b: str
    interval_a: str
    interval_b: str
    track_a: Track | None
    track_b: Track | None
    difference: str
    p_value: str
    verdict: str


def metric_row(metric: MetricValue) -> MetricRow:
    """Show one metric; what is undefined gets a dash and its reason, never a number."""
    scale, interval = scale_of(metric), metric.interval
    return MetricRow(
        name=metric.name,
        label=capitalise(one_line(metric.label)),
        known_as=metric.known_as,
        explanation=metric.plain_words or metric.explanation,
        formula=metric.explanation,
        value=scale.text(interval.estimate) if interval else "–",
        interval=interval_text(interval, scale) if interval else "",
        n=interval.n if interval else None,
        reason="" if interval else metric.undefined_because or "no reason was given",
        track=track_of(interval, scale),
    )


def comparison_row(metric: MetricComparison) -> ComparisonRow:
    """Show one metric of both sides, their difference, and whether it is clear."""
    scale = scale_of(metric)
    return ComparisonRow(
        label=capitalise(one_line(metric.label)),
        a=scale.text(metric.a.estimate) if metric.a else "–",
        b=scale.text(metric.b.estimate) if metric.b else "–",
        interval_a=interval_text(metric.a, scale) if metric.a else "undefined",
        interval_b=interval_text(metric.b, scale) if metric.b else "undefined",
        track_a=track_of(metric.a, scale),
        track_b=track_of(metric.b, scale),
        difference=difference_text(metric.difference, scale),
        p_value=p_value_text(metric.p_value),
        verdict=verdict_on(metric),
    )


def difference_text(difference: float | None, scale: Scale) -> str:
    """Write a difference: of shares in percentage points, of anything else as it is."""
    if difference is None:
        return "undefined"
    if not scale.is_share:
        return scale.text(difference)
    points = round(100 * difference, 1)
    sign = "+" if points > 0 else "\N{MINUS SIGN}" if points < 0 else ""
    return f"{sign}{abs(points):.1f} points"


def scenario_bar(role: Role, cells: Scenarios) -> Bar:
    """Draw how the sub-questions of one role fare."""
    shares = [
        ("answered", "answered, and retrieved", cells.answered_retrieved),
        ("memory", "answered, though not retrieved", cells.answered_only),
        ("unused", "retrieved, but not answered", cells.retrieved_only),
        ("missing", "neither", cells.neither),
    ]
    return draw_stacked_bar(role, [(css, label, percent(share), share) for css, label, share in shares])


def loss_bar(losses: Mapping[Loss, int], unclear: int = 0, listed: Sequence[Loss] = ()) -> Bar | None:
    """Draw where uncovered core sub-questions were lost; None where none was. ``listed`` are the losses of bars to compare."""
    total = sum(losses.values()) + unclear
    parts = [
        (_LOSS_STATES[loss].css, str(loss), f"{losses.get(loss, 0):,}", losses.get(loss, 0) / (total or 1))
        for loss in listed or losses_listed(losses)
    ]
    parts += [(State.UNCLEAR.css, "unclear", f"{unclear:,}", unclear / total)] if unclear else []
    return draw_stacked_bar("core", parts) if total else None


def draw_stacked_bar(name: str, parts: Sequence[tuple[str, str, str, float]]) -> Bar:
    """Draw parts beside each other, each a style class, what it is, its number as text and its share of the whole."""
    starts = accumulate((share for *_, share in parts), initial=0.0)
    segments = tuple(
        Segment(css, label, text, _percentage(x), _percentage(share), share >= _WIDE_ENOUGH)
        for x, (css, label, text, share) in zip(starts, parts, strict=False)
    )
    return Bar(name, f"{name}: {', '.join(f'{segment.text} {segment.label}' for segment in segments)}", segments)


def track_of(interval: Interval | None, scale: Scale) -> Track | None:
    """Draw an interval on its scale; None where there is none."""
    if interval is None or not scale.is_bounded:
        return None
    low = scale.at(interval.estimate if interval.lower is None else interval.lower)
    high = scale.at(interval.estimate if interval.upper is None else interval.upper)
    zero = _percentage(scale.at(0.0)) if scale.low < 0 else ""
    return Track(_percentage(scale.at(interval.estimate)), _percentage(low), _percentage(high - low), zero)


def _percentage(share: float) -> str:
    return f"{100 * share:.2f}%"
