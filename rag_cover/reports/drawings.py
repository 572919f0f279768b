"""Drawings for a notebook: inline SVG that needs no plotting library, or the sentence that says why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import escape

from rag_cover.belief import BINS
from rag_cover.reports.sanitise import one_line, visible
from rag_cover.reports.text import SIGNED, format_count, scale_of
from rag_cover.summaries import Comparison, MetricComparison, Summary

__all__ = ["Drawing", "draw_comparison", "draw_losses", "draw_utility"]

_WIDTH, _ROW, _LEFT, _RIGHT = 720, 26, 250, 120
_LABEL = 32  # characters that have room to the left of a row
_SPAN = _WIDTH - _LEFT - _RIGHT
_BLUE, _ORANGE, _RED, _GREY = "#3b82c4", "#d9822b", "#cf4a4a", "#8a8f98"  # each at least 3:1 on white and on near-black
_STANDALONE = "<style>:root{color:#222}@media (prefers-color-scheme:dark){:root{color:#eee}}</style>"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing with the words that it shows; where there is nothing to draw, ``body`` is empty and ``words`` say why."""

    title: str
    words: str
    body: str = ""
    height: int = 0

    def __str__(self) -> str:
        """Write the drawing as SVG, or the sentence that says why there is none."""
        return self._svg() if self.body else f"{self.title}: {self.words}"

    def __repr__(self) -> str:
        """Return a short form: the title and the first of the words."""
        return f"Drawing({self.title!r}, {one_line(self.words, limit=200)!r})"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return self._svg() if self.body else f"<p>{escape(self.title)}: {escape(self.words)}</p>"

    def _repr_svg_(self) -> str | None:
        """Return a picture of its own, which brings its colour of text; None where there is nothing to draw."""
        return self._svg(_STANDALONE) if self.body else None

    def _svg(self, style: str = "") -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {self.height}" width="100%" '
            f'style="max-width:{_WIDTH}px" role="img" font-family="sans-serif" font-size="13" fill="currentColor">'
            f"<title>{escape(self.title)}</title><desc>{escape(self.words)}</desc>{style}{self.body}</svg>"
        )


def draw_losses(summary: Summary) -> Drawing:
    """Draw a bar for each place where core sub-questions were lost."""
    title = "Where core sub-questions were lost"
    counts = {str(loss): count for loss, count in summary.losses.items() if count}
    if summary.unclear_losses:
        counts["unclear"] = summary.unclear_losses
    if not counts:
        measured = summary.metrics.get("core_coverage") and _has_coverage(summary)
        why = "no core sub-question is known to be lost." if measured else "coverage was not measured, so no loss is known."
        return Drawing(title, why)
    most = max(counts.values())
    bars = [
        _label(row, name) + _bar(row, _LEFT, _SPAN * count / most, _ORANGE) + _value(row, f"{count:,}")
        for row, (name, count) in enumerate(counts.items())
    ]
    words = ", ".join(f"{name}: {count:,}" for name, count in counts.items())
    return Drawing(title, words, "".join(bars), _ROW * len(bars) + 8)


def _has_coverage(summary: Summary) -> bool:
    return summary.metrics["core_coverage"].interval is not None


def draw_utility(summary: Summary) -> Drawing:
    """Draw how many traces have which utility (ΔSePer), from -1 to 1."""
    title = "What retrieval was worth (ΔSePer)"
    utility = summary.utility
    if utility is None or not any(utility.distribution):
        return Drawing(title, "utility was not measured; it needs a receiver, or samples in the traces (measures=['utility']).")
    most, filled = max(utility.distribution), [(n, count) for n, count in enumerate(utility.distribution) if count]
    rows = [
        (f"{SIGNED.text(2 * n / BINS - 1)} to {SIGNED.text(2 * (n + 1) / BINS - 1)}", count, _RED if n < BINS // 2 else _BLUE)
        for n, count in filled
    ]
    bars = [
        _label(row, name) + _bar(row, _LEFT, _SPAN * count / most, colour) + _value(row, f"{count:,}")
        for row, (name, count, colour) in enumerate(rows)
    ]
    words = ", ".join(f"{name}: {format_count(count, 'trace')}" for name, count, _ in rows)
    return Drawing(title, words, "".join(bars), _ROW * len(bars) + 8)


def draw_comparison(comparison: Comparison) -> Drawing:
    """Draw both sides of every bounded metric that both have, with their 95% intervals."""
    name_a, name_b = (one_line(name, limit=40) for name in (comparison.name_a, comparison.name_b))
    title = f"{name_a} and {name_b} on {format_count(comparison.questions, 'question')}"
    drawn = [each for each in comparison.metrics.values() if each.a and each.b and scale_of(each).is_bounded]
    if not drawn:
        return Drawing(title, "no metric is defined on both sides, so there is nothing to draw.")
    legend = (
        f'<circle cx="{_LEFT}" cy="14" r="5" fill="{_BLUE}"/><text x="{_LEFT + 10}" y="18">{_escaped(name_a)}</text>'
        f'<rect x="{_LEFT + _SPAN // 2}" y="9" width="10" height="10" fill="{_ORANGE}"/>'
        f'<text x="{_LEFT + _SPAN // 2 + 15}" y="18">{_escaped(name_b)}</text>'
    )
    body = legend + "".join(_pair(row, each) for row, each in enumerate(drawn, 1))
    return Drawing(title, _words(drawn, name_a, name_b), body, _ROW * (len(drawn) + 1) + 8)


def _words(drawn: Sequence[MetricComparison], name_a: str, name_b: str) -> str:
    return "; ".join(
        f"{each.label}: {name_a} {scale_of(each).text(each.a.estimate)}, {name_b} {scale_of(each).text(each.b.estimate)}"
        for each in drawn
        if each.a and each.b
    )


def _pair(row: int, metric: MetricComparison) -> str:
    scale, middle = scale_of(metric), row * _ROW + _ROW // 2
    parts = [_label(row, metric.label), f'<path d="M{_LEFT} {middle}H{_LEFT + _SPAN}" stroke="{_GREY}" stroke-opacity=".4"/>']
    for side, y, colour in ((metric.a, middle - 5, _BLUE), (metric.b, middle + 5, _ORANGE)):
        if side is None:
            continue
        at = _LEFT + _SPAN * scale.at(side.estimate)
        if side.lower is not None and side.upper is not None:
            low, high = (_LEFT + _SPAN * scale.at(end) for end in (side.lower, side.upper))
            parts.append(f'<path d="M{low:.1f} {y}H{high:.1f}" stroke="{colour}" stroke-width="2"/>')
        shape = (
            f'<circle cx="{at:.1f}" cy="{y}" r="4" fill="{colour}"/>'
            if side is metric.a and colour == _BLUE
            else f'<rect x="{at - 4:.1f}" y="{y - 4}" width="8" height="8" fill="{colour}"/>'
        )
        parts.append(shape)
    values = [scale.text(side.estimate) for side in (metric.a, metric.b) if side]
    return "".join([*parts, _value(row, " · ".join(values))])


def _label(row: int, text: str) -> str:
    shown = text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"
    at = f'x="{_LEFT - 10}" y="{row * _ROW + 18}"'
    return f'<text {at} text-anchor="end"><title>{_escaped(one_line(text))}</title>{_escaped(one_line(shown))}</text>'


def _bar(row: int, x: float, width: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{row * _ROW + 5}" width="{max(width, 1):.1f}" height="{_ROW - 8}" fill="{colour}"/>'


def _value(row: int, text: str) -> str:
    return f'<text x="{_WIDTH - _RIGHT + 8}" y="{row * _ROW + 18}">{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    return str(escape(visible(text)))
