"""How hard questions are for what was retrieved, for the terminal: where all of them stand, by kind, and the hardest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rag_cover.complexity import ComplexitySummary
from rag_cover.complexity.question_types import kinds_of
from rag_cover.complexity.standing import Standing, standing_of
from rag_cover.measures import TraceResult
from rag_cover.reports.complexity_text import complexity_headline, hardest, standings_sentence
from rag_cover.reports.figures import metric_row
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import SHARE, format_count, interval_text, percent
from rag_cover.summaries import Summary

__all__ = ["complexity_panel", "hardest_table"]

_STYLES: Mapping[Standing, str] = {
    Standing.ANSWERABLE: "green",
    Standing.COMPLEX: "yellow",
    Standing.UNANSWERABLE: "red",
}
_GLYPHS: Mapping[Standing, str] = {Standing.ANSWERABLE: "█", Standing.COMPLEX: "▒", Standing.UNANSWERABLE: "░"}
_BAR = 32


def complexity_panel(summary: Summary) -> RenderableType:
    """Show how hard the questions of a data set are, by kind too, and what was not measured."""
    parts: list[RenderableType] = [Text(complexity_headline(summary).text, style="bold")]
    if summary.complexity is not None:
        parts += _describe_summary(summary, summary.complexity)
    counts = summary.outcomes.get("complexity")
    parts += [
        Text(f"Not measured: {format_count(count, 'question')}, {one_line(reason, limit=300)}", style="yellow")
        for reason, count in (counts.reasons.items() if counts else ())
    ]
    return Encodable(Panel(Group(*parts), title="rag_cover complexity", title_align="left", box=ROUNDED, padding=(0, 1)))


def hardest_table(results: Sequence[TraceResult], *, limit: int = 10, only: Standing | None = None) -> RenderableType:
    """List the questions that are hardest for what was retrieved, with how likely the best passage answers each.

    ``only`` keeps those that stand there.
    """
    table = plain_table(("Best answers", "right"), ("Complete", "right"), ("Hardest questions", "left"))
    for result in hardest(_standing(results, only), limit=limit):
        if (found := result.complexity) is not None:
            standing = standing_of(found)
            kinds = ", ".join(kinds_of(result.trace.question.text))
            words = Text.assemble((standing, _STYLES[standing]), (f" {kinds}" if kinds else "", "dim"))
            best, complete = (
                "–" if value is None else f"{value:.2f}" for value in (found.max_answer_probability, found.completeness)
            )
            table.add_row(best, complete, Group(Text(one_line(result.trace.question.text, limit=200)), words))
    return Encodable(table if table.row_count else Text(f"No question is {only}."))


def _standing(results: Sequence[TraceResult], only: Standing | None) -> Iterator[TraceResult]:
    for result in results:
        if only is None or (result.complexity and standing_of(result.complexity) == only):
            yield result


def _describe_summary(summary: Summary, found: ComplexitySummary) -> list[RenderableType]:
    noun = "question" if found.traces == found.questions else "trace"
    kinds: list[RenderableType] = (
        [Text("\nBy kind, as far as the wording tells", style="bold"), _kinds(found)] if len(found.by_kind) > 1 else []
    )
    about = f"{format_count(found.traces, noun)} · judge {one_line(summary.judge, limit=100)}"
    return [
        Text(about, style="dim"),
        _bar(found.standings),
        Text(standings_sentence(found.standings, noun)),
        _metrics(summary),
        *kinds,
        *(Text(f"· {one_line(note, limit=400)}", style="dim") for note in found.notes),
    ]


def _bar(standings: Mapping[Standing, int]) -> Text:
    """Draw the shares of answerable, complex and unanswerable questions as one bar, then say which is which."""
    total = sum(standings.values())
    bar = Text.assemble(*((glyph * round(_BAR * standings[each] / total), _STYLES[each]) for each, glyph in _GLYPHS.items()))
    for each, glyph in _GLYPHS.items():
        bar.append(f"  {glyph} ", style=_STYLES[each]).append(str(each))
    return bar


def _metrics(summary: Summary) -> Table:
    table = plain_table(("Metric", "left"), ("Value", "right"), ("95% interval", "right"), ("n", "right"))
    for name in ("complex_questions", "answerable_questions", "completeness"):
        if (metric := summary.metrics.get(name)) and metric.interval:
            row = metric_row(metric)
            table.add_row(Text(row.label), Text(row.value, style="bold"), row.interval, f"{row.n:,}")
    return table


def _kinds(found: ComplexitySummary) -> Table:
    table = plain_table(
        ("Kind", "left"), ("Complex", "right"), ("95% interval", "right"), ("Answerable", "right"), ("n", "right")
    )
    for group in found.by_kind:
        complex_ = group.is_complex
        table.add_row(
            group.name,
            Text(percent(complex_.estimate), style="bold"),
            interval_text(complex_, SHARE),
            percent(group.answerable.estimate),
            f"{group.n:,}",
        )
    return table
