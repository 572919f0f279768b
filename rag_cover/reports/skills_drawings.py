"""The drawings of a skill report: questions on a map of what makes them hard, and quality against cost.

Positions are in pixels of a drawing of `WIDTH` by `HEIGHT`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_cover.reports.frontiers import HEIGHT, WIDTH, Tick, ticks_between
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.text import format_count, percent
from rag_cover.routing import Frontier, PolicyPoint, SkillDescription
from rag_cover.stats.intervals import Interval

__all__ = ["ChartMark", "Dot", "SkillMap", "SkillPlot", "map_of", "skill_plot"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 24, 16, 44
_DOTS = 1500
_COLOURS = 5


@dataclass(frozen=True, slots=True)
class Dot:
    """One question: its place, the number of its group's colour, whether most agents fail on it, its text."""

    x: float
    y: float
    colour: int
    is_hard: bool
    title: str


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A numbered place, such as a group's centre or an agent; ``low`` and ``high`` end its interval."""

    number: str
    x: float
    y: float
    low: float
    high: float
    title: str
    colour: int = 0


@dataclass(frozen=True, slots=True)
class SkillMap:
    """Questions by their effective difficulty, with the centres of their groups, and in words what it shows."""

    words: str
    dots: tuple[Dot, ...]
    centres: tuple[ChartMark, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    x_axis: str
    y_axis: str
    left_out: int


@dataclass(frozen=True, slots=True)
class SkillPlot:
    """Quality against cost: the router's line, the best mixtures' line, agents and the oracle, and in words what it shows."""

    words: str
    router: str
    router_marks: tuple[ChartMark, ...]
    mixtures: str
    agents: tuple[ChartMark, ...]
    oracle: ChartMark
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def map_of(description: SkillDescription) -> SkillMap:
    """Draw where questions lie; of more than 1,500, evenly chosen ones."""
    points = description.points
    every = max(1, -(-len(points) // _DOTS))
    shown = points[::every]
    across, x = _axis([point.x for point in points], _LEFT, WIDTH - _RIGHT)
    up, y = _axis([point.y for point in points], HEIGHT - _BOTTOM, _TOP)
    places = [axis - 1 for axis in description.axes]
    flat = len(places) == 1
    centres = [] if flat else [(cluster, [cluster.centre[place] for place in places]) for cluster in description.clusters]
    questions, groups = format_count(len(points), "question"), format_count(len(description.clusters), "group")
    return SkillMap(
        words=f"{questions} in {groups}, by what makes them hard",
        dots=tuple(
            Dot(x(each.x), y(each.y), _colour(each.cluster), each.success < 0.5, _dot_title(each.question, each.success))  # noqa: PLR2004 - most
            for each in shown
        ),
        centres=tuple(
            ChartMark(
                str(cluster.number), x(at[0]), y(at[1]), 0, 0, f"centre of group {cluster.number}", _colour(cluster.number)
            )
            for cluster, at in centres
        ),
        across=tuple(Tick(x(value), f"{value:.3g}") for value in across),
        up=tuple(Tick(y(value), percent(value) if flat else f"{value:.3g}") for value in up),
        x_axis=f"difficulty in dimension {description.axes[0]}",
        y_axis="share of agents that fail" if flat else f"difficulty in dimension {description.axes[1]}",
        left_out=len(points) - len(shown),
    )


def skill_plot(frontier: Frontier) -> SkillPlot:
    """Draw what quality costs."""
    everything = [*frontier.points, *frontier.always, frontier.oracle]
    lows, highs = [_low(point.quality) for point in everything], [_high(point.quality) for point in everything]
    across, x = _axis([0.0, *(point.cost.estimate for point in everything)], _LEFT, WIDTH - _RIGHT)
    up, y = _axis([min(lows), max(highs)], HEIGHT - _BOTTOM, _TOP)

    def mark(number: str, point: PolicyPoint) -> ChartMark:
        interval = point.quality
        return ChartMark(
            number, x(point.cost.estimate), y(interval.estimate), y(_low(interval)), y(_high(interval)), _title(point)
        )

    return SkillPlot(
        words="; ".join(_title(point) for point in (*frontier.always, frontier.oracle, *frontier.points)),
        router=_line([(x(point.cost.estimate), y(point.quality.estimate)) for point in frontier.points]),
        router_marks=tuple(mark("", point) for point in frontier.points),
        mixtures=_line([(x(cost), y(quality)) for cost, quality in frontier.mixtures]),
        agents=tuple(mark(str(number), point) for number, point in enumerate(frontier.always, 1)),
        oracle=mark("", frontier.oracle),
        across=tuple(Tick(x(value), f"{value:,.6g}") for value in across),
        up=tuple(Tick(y(value), percent(value)) for value in up),
    )


def _axis(values: Sequence[float], start: float, end: float) -> tuple[list[float], Callable[[float], float]]:
    low, high = min(values), max(values)
    ticks = ticks_between(low, high if high - low > 1e-9 else low + 1.0)  # noqa: PLR2004 - equal but for rounding
    return ticks, lambda value: round(start + (end - start) * (value - ticks[0]) / (ticks[-1] - ticks[0]), 1)


def _line(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)


def _colour(number: int) -> int:
    return (number - 1) % _COLOURS + 1


def _dot_title(question: str, success: float) -> str:
    share = "" if success != success else f" ({percent(success)} of agents succeed)"  # noqa: PLR0124 - NaN: nobody was asked
    return f"{one_line(question, limit=160)}{share}"


def _title(point: PolicyPoint) -> str:
    name = point.name if point.setting is None else "router"
    return f"{one_line(name, limit=60)}: {percent(point.quality.estimate)} at a cost of {point.cost.estimate:.4g}"


def _low(interval: Interval) -> float:
    return interval.estimate if interval.lower is None else interval.lower


def _high(interval: Interval) -> float:
    return interval.estimate if interval.upper is None else interval.upper
