"""Figures of several evaluations as drawings over time: one small chart for each metric, a line for each pipeline.

Evaluations stand side by side in order of time. A line joins two of them only where both were judged alike. Positions are in
pixels of a drawing of `TREND_WIDTH` by `TREND_HEIGHT`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_cover.reports.figures import FEW
from rag_cover.reports.frontiers import Tick, ticks_between
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.text import Scale, interval_text
from rag_cover.stats.intervals import Interval

__all__ = ["TREND_HEIGHT", "TREND_WIDTH", "TrendChart", "TrendPoint", "TrendRow", "TrendValue", "draw_trend"]

TREND_WIDTH = 340
TREND_HEIGHT = 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 10, 24
_ASIDE = 4.0


@dataclass(frozen=True, slots=True)
class TrendValue:
    """One figure of one series: ``place`` is that of its evaluation in order of time, ``basis`` how it was judged."""

    place: int
    when: str
    basis: object
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One figure in a drawing; ``low`` and ``high`` are equal without an interval. A ``few`` one rests on few questions."""

    x: float
    y: float
    low: float
    high: float
    few: bool


@dataclass(frozen=True, slots=True)
class TrendRow:
    """One figure in words; an undefined one is a dash."""

    when: str
    series: str
    value: str
    interval: str
    n: str
    few: bool


@dataclass(frozen=True, slots=True)
class TrendLine:
    """The figures of one series: ``number`` from 1 names its colour, ``lines`` are the points of what is joined."""

    number: int
    name: str
    lines: tuple[str, ...]
    points: tuple[TrendPoint, ...]


@dataclass(frozen=True, slots=True)
class TrendChart:
    """One metric over time, and in one sentence what the drawing shows."""

    name: str
    label: str
    words: str
    series: tuple[TrendLine, ...]
    up: tuple[Tick, ...]
    first: str
    last: str
    rows: tuple[TrendRow, ...]


def draw_trend(
    name: str, label: str, series: Mapping[str, Sequence[TrendValue]], scale: Scale, *, whens: Sequence[str]
) -> TrendChart | None:
    """Draw a metric; None where it is defined nowhere.

    Args:
        name: of the metric.
        label: what the chart is called.
        series: by their names, which figures they have.
        scale: on which the metric is drawn; one without bounds is drawn between its own values.
        whens: the times of all evaluations, in order.
    """
    known = [each.interval for several in series.values() for each in several if each.interval is not None]
    if not known:
        return None
    ticks = _ticks(known, scale)
    low, high = ticks[0], ticks[-1]

    step = (TREND_WIDTH - _LEFT - _RIGHT) / len(whens)
    aside = min(_ASIDE, step / (len(series) + 1))  # so that intervals of one time do not hide each other

    def x_of(place: int, number: int) -> float:
        return round(_LEFT + step * (place + 0.5) + aside * (number - (len(series) + 1) / 2), 1)

    def y_of(value: float) -> float:
        share = min(1.0, max(0.0, (value - low) / (high - low)))
        return round(TREND_HEIGHT - _BOTTOM - (TREND_HEIGHT - _TOP - _BOTTOM) * share, 1)

    def point_of(value: TrendValue, interval: Interval, number: int) -> TrendPoint:
        lower = interval.estimate if interval.lower is None else interval.lower
        upper = interval.estimate if interval.upper is None else interval.upper
        return TrendPoint(x_of(value.place, number), y_of(interval.estimate), y_of(lower), y_of(upper), interval.n < FEW)

    lines = []
    for number, (called, several) in enumerate(series.items(), 1):
        drawn = [(each, point_of(each, each.interval, number)) for each in several if each.interval is not None]
        lines.append(TrendLine(number, called, _join(drawn), tuple(point for _, point in drawn)))
    rows = [_row(called, each, scale) for called, several in series.items() for each in several]
    return TrendChart(
        name=name,
        label=label,
        words=f"{label}: {'; '.join(_tell(called, several, scale) for called, several in series.items())}",
        series=tuple(lines),
        up=tuple(Tick(y_of(value), scale.text(value)) for value in ticks),
        first=whens[0],
        last=whens[-1] if len(whens) > 1 else "",
        rows=tuple(rows),
    )


def _ticks(known: Sequence[Interval], scale: Scale) -> list[float]:
    if scale.is_bounded:
        return [scale.low, 0.0 if scale.low < 0 < scale.high else (scale.low + scale.high) / 2, scale.high]
    low = min(each.estimate if each.lower is None else each.lower for each in known)
    high = max(each.estimate if each.upper is None else each.upper for each in known)
    found = ticks_between(min(0.0, low), high if high > min(0.0, low) else min(0.0, low) + 1.0)
    return found if len(found) <= 4 else [found[0], found[len(found) // 2], found[-1]]  # noqa: PLR2004 - what has room


def _join(drawn: Sequence[tuple[TrendValue, TrendPoint]]) -> tuple[str, ...]:
    """Join figures that rest on enough questions, as far as they were judged alike."""
    lines: list[list[str]] = []
    last: object = None
    for value, point in drawn:
        if point.few:
            continue
        if not lines or value.basis != last:
            lines.append([])
        lines[-1].append(f"{point.x},{point.y}")
        last = value.basis
    return tuple(" ".join(line) for line in lines if len(line) > 1)


def _row(series: str, value: TrendValue, scale: Scale) -> TrendRow:
    if (interval := value.interval) is None:
        return TrendRow(value.when, series, "–", "undefined", "–", few=False)
    text = scale.text(interval.estimate)
    return TrendRow(value.when, series, text, interval_text(interval, scale), f"{interval.n:,}", interval.n < FEW)


def _tell(series: str, several: Sequence[TrendValue], scale: Scale) -> str:
    known = [each.interval for each in several if each.interval is not None]
    name = one_line(series, limit=40)
    if not known:
        return f"{name} undefined"
    first, last = scale.text(known[0].estimate), scale.text(known[-1].estimate)
    return f"{name} {last}" if len(known) == 1 else f"{name} from {first} to {last} over {len(known)} evaluations"
