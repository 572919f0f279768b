"""Utility against the length of the prompt, as a drawing: every setting a point, those that none beats joined by a line.

Positions are in pixels of a drawing of `WIDTH` by `HEIGHT`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, takewhile

from rag_cover.reports.text import SIGNED
from rag_cover.studies import SettingFigures, Study

__all__ = ["HEIGHT", "WIDTH", "Plot", "Point", "Tick", "plot_of", "ticks_between"]

WIDTH = 720
HEIGHT = 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 24, 16, 44
_TICKS = 5
_NICE = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Point:
    """One setting, by its number in the table, with the interval of its utility."""

    number: int
    name: str
    x: float
    y: float
    low: float
    high: float
    on_frontier: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """One labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """The drawing, and in one sentence what it shows."""

    words: str
    points: tuple[Point, ...]
    line: str
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    zero: float | None
    axis: str


def plot_of(study: Study) -> Plot:
    """Draw a study."""
    bounds = [(_low(figures), _high(figures)) for figures in study.settings]
    lowest, highest = min(0.0, *(low for low, _ in bounds)), max(0.0, *(high for _, high in bounds))
    longest = max(figures.length.estimate for figures in study.settings)
    across, up = ticks_between(0.0, longest or 1.0), ticks_between(lowest, highest if highest > lowest else 1.0)
    x = _scale(across[0], across[-1], _LEFT, WIDTH - _RIGHT)
    y = _scale(up[0], up[-1], HEIGHT - _BOTTOM, _TOP)
    points = tuple(
        Point(
            number=number,
            name=figures.setting.name,
            x=x(figures.length.estimate),
            y=y(figures.utility.estimate),
            low=y(low),
            high=y(high),
            on_frontier=figures.on_frontier,
        )
        for number, (figures, (low, high)) in enumerate(zip(study.settings, bounds, strict=True), 1)
    )
    best = sorted((point for point in points if point.on_frontier), key=lambda point: point.x)
    return Plot(
        words="; ".join(_words(figures, study.unit) for figures in study.settings),
        points=points,
        line=" ".join(f"{point.x},{point.y}" for point in best),
        across=tuple(Tick(x(value), f"{value:,.6g}") for value in across),
        up=tuple(Tick(y(value), SIGNED.text(value)) for value in up),
        zero=y(0.0) if lowest < 0 else None,
        axis=f"{study.unit} in the prompt",
    )


def ticks_between(low: float, high: float) -> list[float]:
    """List round values from at most ``low`` to at least ``high``, which lies above it: about five steps.

    >>> ticks_between(0, 870)
    [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]
    """
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(nice * power for nice in _NICE if nice * power >= rough * (1 - 1e-9))
    first = math.floor(low / step + 1e-9)
    inner = takewhile(lambda number: number * step < high * (1 - 1e-9), count(first))
    values = [round(number * step, 10) for number in inner]
    return [*values, round((first + len(values)) * step, 10)]


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    return lambda value: round(start + (end - start) * (value - low) / (high - low), 1)


def _low(figures: SettingFigures) -> float:
    utility = figures.utility
    return utility.estimate if utility.lower is None else utility.lower


def _high(figures: SettingFigures) -> float:
    utility = figures.utility
    return utility.estimate if utility.upper is None else utility.upper


def _words(figures: SettingFigures, unit: str) -> str:
    place = ", on the frontier" if figures.on_frontier else ""
    return f"{figures.setting.name}: {SIGNED.text(figures.utility.estimate)} at {figures.length.estimate:,.0f} {unit}{place}"
